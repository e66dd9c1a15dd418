/* SPDX-License-Identifier: BSD-3-Clause */
/* The side from which a frame of a two-way capture came: frames written out byte by byte. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "offline/intake.h"
#include "runner/group.h"

#define MACS 2, 0, 0, 0, 0, 0x0b, 2, 0, 0, 0, 0, 0x0a
#define IPV4(protocol, fragment)                                                                   \
	0x45, 0, 0, 40, 0, 0, (fragment) >> 8, (fragment)&0xff, 64, protocol, 0, 0, 10, 77, 0, 1,  \
	        10, 77, 0, 2
#define IPV6(next)                                                                                 \
	0x60, 0, 0, 0, 0, 40, next, 64, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,   \
	        0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2
#define PORTS 0x14, 0x51, 0x00, 0x50, 0, 0, 0, 0 /* 5201 -> 80 */

static const uint8_t tcp[] = {MACS, 8, 0, IPV4(6, 0), PORTS};
static const uint8_t tcp_options[] = {MACS, 8,  0,  0x46, 0, 0,  44, 0, 0, 0, 0, 64, 6, 0,
                                      0,    10, 77, 0,    1, 10, 77, 0, 2, 1, 1, 1,  1, PORTS};
static const uint8_t udp_vlan[] = {MACS, 0x81, 0, 0, 5, 8, 0, IPV4(17, 0), PORTS};
static const uint8_t udp_qinq[] = {MACS, 0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0, IPV4(17, 0), PORTS};
static const uint8_t first_fragment[] = {MACS, 8, 0, IPV4(17, 0x2000), PORTS};
static const uint8_t later_fragment[] = {MACS, 8, 0, IPV4(17, 0x00b9), PORTS};
static const uint8_t icmp[] = {MACS, 8, 0, IPV4(1, 0), PORTS};
static const uint8_t arp[] = {MACS, 8,  6,  0, 1, 8, 0, 6, 4, 0, 1, 2,  0,  0, 0, 0,
                              0x0a, 10, 77, 0, 1, 0, 0, 0, 0, 0, 0, 10, 77, 0, 2};
static const uint8_t tcp6[] = {MACS, 0x86, 0xdd, IPV6(6), PORTS};
static const uint8_t tcp6_hop[] = {MACS, 0x86, 0xdd, IPV6(0), 6, 0, 1, 4, 0, 0, 0, 0, PORTS};
static const uint8_t udp6_fragment[] = {MACS, 0x86, 0xdd, IPV6(44), 17, 0, 0, 8, 0, 0, 0, 1, PORTS};

#define FRAME(name) #name, name, sizeof(name)

static void a_rule_finds_its_frames_and_no_others(void **state)
{
	static const struct {
		const char *rule;
		const char *name;
		const uint8_t *frame;
		uint32_t bytes;
		bool matches;
	} cases[] = {
	        {"mac=02:00:00:00:00:0a", FRAME(tcp), true},
	        {"mac=02:00:00:00:00:0A", FRAME(tcp), true},
	        {"mac=02:00:00:00:00:0b", FRAME(tcp), false},
	        {"mac=02:00:00:00:00:0a", FRAME(arp), true},
	        {"ip=10.77.0.1", FRAME(tcp), true},
	        {"ip=10.77.0.2", FRAME(tcp), false},
	        {"ip=10.77.0.0/24", FRAME(tcp), true},
	        {"ip=10.77.1.0/24", FRAME(tcp), false},
	        {"ip=10.77.1.0/23", FRAME(tcp), true},
	        {"ip=0.0.0.0/0", FRAME(tcp), true},
	        {"ip=0.0.0.0/0", FRAME(tcp6), false},
	        {"ip=10.77.0.1", FRAME(udp_vlan), true},
	        {"ip=10.77.0.1", FRAME(udp_qinq), true},
	        {"ip=10.77.0.1", FRAME(arp), true},
	        {"ip=2001:db8::/32", FRAME(tcp6), true},
	        {"ip=2001:db8::1", FRAME(tcp6), true},
	        {"ip=2001:db8::1/127", FRAME(tcp6), true},
	        {"ip=2001:db8::2", FRAME(tcp6), false},
	        {"ip=2001:db8::/32", FRAME(tcp), false},
	        {"port=5201", FRAME(tcp), true},
	        {"port=80", FRAME(tcp), false},
	        {"port=5201", FRAME(tcp_options), true},
	        {"port=5201", FRAME(udp_vlan), true},
	        {"port=5201", FRAME(udp_qinq), true},
	        {"port=5201", FRAME(first_fragment), true},
	        {"port=5201", FRAME(later_fragment), false},
	        {"port=5201", FRAME(icmp), false},
	        {"port=5201", FRAME(arp), false},
	        {"port=5201", FRAME(tcp6), true},
	        {"port=5201", FRAME(tcp6_hop), true},
	        {"port=5201", FRAME(udp6_fragment), false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct split split;
		struct problem problem;

		assert_int_equal(split_parse(cases[i].rule, &split, &problem), 0);
		if (split_matches(&split, cases[i].frame, cases[i].bytes) != cases[i].matches)
			fail_msg("%s on %s: not %d", cases[i].rule, cases[i].name,
			         cases[i].matches);
	}
}

static void a_frame_that_is_cut_short_matches_nothing_it_does_not_show(void **state)
{
	static const struct {
		const char *rule;
		const uint8_t *frame;
		uint32_t needed; /* this many bytes suffice */
	} cases[] = {
	        {"mac=02:00:00:00:00:0a", tcp, 12}, {"ip=10.77.0.1", tcp, 14 + 16},
	        {"ip=2001:db8::1", tcp6, 14 + 24},  {"port=5201", tcp, 14 + 20 + 2},
	        {"port=5201", tcp6, 14 + 40 + 2},   {"port=5201", tcp6_hop, 14 + 40 + 8 + 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct split split;
		struct problem problem;

		assert_int_equal(split_parse(cases[i].rule, &split, &problem), 0);
		for (uint32_t bytes = 0; bytes < cases[i].needed; bytes++) {
			/* A copy of that length, so that a sanitizer detects reads beyond. */
			uint8_t *part = test_malloc(bytes + 1);

			memcpy(part, cases[i].frame, bytes);
			assert_false(split_matches(&split, part, bytes));
			test_free(part);
		}
		assert_true(split_matches(&split, cases[i].frame, cases[i].needed));
	}
}

static void first_is_the_source_of_the_first_frame_that_has_one(void **state)
{
	static const uint8_t back[] = {2, 0, 0, 0, 0, 0x0a, 2, 0, 0, 0, 0, 0x0b, 8, 0};
	struct split split;
	struct problem problem;

	(void)state;
	assert_int_equal(split_parse("first", &split, &problem), 0);
	assert_false(split_matches(&split, back, 5));
	assert_true(split_matches(&split, tcp, sizeof(tcp)));
	assert_false(split_matches(&split, back, sizeof(back)));
	assert_true(split_matches(&split, arp, sizeof(arp)));
}

static void a_rule_that_is_wrong_is_refused_with_what_would_be_right(void **state)
{
	static const struct {
		const char *rule, *right;
	} cases[] = {
	        {"", "mac=ADDRESS"},
	        {"udp", "mac=ADDRESS"},
	        {"mac=", "mac=02:00:00:00:00:0a"},
	        {"mac=02:00:00:00:00", "mac=02:00:00:00:00:0a"},
	        {"mac=02:00:00:00:00:0a:", "mac=02:00:00:00:00:0a"},
	        {"ip=10.77.0", "ip=10.0.0.0/24"},
	        {"ip=10.77.0.0/33", "ip=10.0.0.0/24"},
	        {"ip=10.77.0.0/", "ip=10.0.0.0/24"},
	        {"ip=2001:db8::/129", "ip=10.0.0.0/24"},
	        {"port=65536", "from 0 to 65535"},
	        {"port=http", "from 0 to 65535"},
	        {"port= 80", "from 0 to 65535"},
	        {"firsts", "or first"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct split split;
		struct problem problem;

		assert_int_equal(split_parse(cases[i].rule, &split, &problem), -EINVAL);
		if (!strstr(problem.text, cases[i].right))
			fail_msg("\"%s\": %s", cases[i].rule, problem.text);
	}
}

GROUP(split)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_rule_finds_its_frames_and_no_others),
	        cmocka_unit_test(a_frame_that_is_cut_short_matches_nothing_it_does_not_show),
	        cmocka_unit_test(first_is_the_source_of_the_first_frame_that_has_one),
	        cmocka_unit_test(a_rule_that_is_wrong_is_refused_with_what_would_be_right),
	};

	return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
