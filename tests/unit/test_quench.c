/* SPDX-License-Identifier: BSD-3-Clause */
/* Which frames a Linux host accepts as a source quench, and what it reads from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "quench.h"
#include "runner/group.h"

#define ETHER 14
#define IP    ETHER
#define ICMP  (IP + 20)
#define INNER (ICMP + 8)
#define TCP   (INNER + 20)
#define END   (TCP + 8)

#define ICMP6  (IP + 40)
#define INNER6 (ICMP6 + 8)
#define TCP6   (INNER6 + 40)
#define END6   (TCP6 + 8)

struct frame {
	uint8_t bytes[2048];
	size_t n;
};

static void put16(uint8_t *p, uint32_t value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

/* RFC 1071, implemented again in another way, for the frames of these tests. */
static uint32_t sum16(const uint8_t *p, size_t n, uint32_t sum)
{
	for (size_t i = 0; i < n; i++)
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
	while (sum > 0xffff)
		sum = (sum >> 16) + (sum & 0xffff);
	return sum;
}

static void right(struct frame *f)
{
	uint8_t *ip = f->bytes + IP;

	if (ip[0] >> 4 == 4) {
		size_t header = (size_t)(ip[0] & 15) * 4, total = (size_t)ip[2] << 8 | ip[3];

		put16(ip + 10, 0);
		put16(ip + 10, ~sum16(ip, header, 0) & 0xffff);
		put16(ip + header + 2, 0);
		put16(ip + header + 2, ~sum16(ip + header, total - header, 0) & 0xffff);
	} else {
		uint32_t bytes = (uint32_t)ip[4] << 8 | ip[5];

		put16(ip + 42, 0);
		put16(ip + 42, ~sum16(ip + 40, bytes, sum16(ip + 8, 32, bytes + 58)) & 0xffff);
	}
}

/* A quench from 192.0.2.1 to 10.9.0.1: the segment 0x01020304 from its port 40000 to port 5201 of
 * 10.9.0.2 was marked. */
static void make4(struct frame *f)
{
	static const uint8_t bytes[END] = {2,    0,    0,    0,    0,    1,    2,    0, 0,  0,
	                                   0,    2,    8,    0, /* */
	                                   0x45, 0,    0,    56,   0,    0,    0,    0, 64, 1,
	                                   0,    0,    192,  0,    2,    1,    10,   9, 0,  1, /* */
	                                   4,    0,    0,    0,    0x80, 0,    0,    0,        /* */
	                                   0x45, 2,    5,    0xdc, 0x12, 0x34, 0x40, 0, 63, 6,
	                                   0,    0,    10,   9,    0,    1,    10,   9, 0,  2, /* */
	                                   0x9c, 0x40, 0x14, 0x51, 1,    2,    3,    4};

	memset(f, 0, sizeof(*f));
	memcpy(f->bytes, bytes, sizeof(bytes));
	f->n = sizeof(bytes);
	right(f);
}

/* The same between 2001:db8::a and ::b, from the router 2001:db8::99. */
static void make6(struct frame *f)
{
	uint8_t *p = f->bytes;

	memset(f, 0, sizeof(*f));
	f->n = END6;
	put16(p + 12, 0x86dd);
	for (size_t at = IP; at <= INNER6; at += INNER6 - IP) {
		p[at] = 0x60;
		p[at + 7] = 64;
		put16(p + at + 8, 0x2001);
		put16(p + at + 10, 0xdb8);
		memcpy(p + at + 24, p + at + 8, 16);
	}
	put16(p + IP + 4, 56);
	p[IP + 6] = 58;
	p[IP + 23] = 0x99;
	p[IP + 39] = 0xa;
	p[ICMP6] = 200;
	put16(p + INNER6 + 4, 1000);
	p[INNER6 + 6] = 6;
	p[INNER6 + 23] = 0xa;
	p[INNER6 + 39] = 0xb;
	put16(p + TCP6, 40000);
	put16(p + TCP6 + 2, 5201);
	put16(p + TCP6 + 4, 0x0102);
	put16(p + TCP6 + 6, 0x0304);
	right(f);
}

/* Parses an exact copy, so that AddressSanitizer detects reads beyond the end. */
static enum quench_verdict parse(const struct frame *f, uint8_t bit, struct quench *quench)
{
	uint8_t *copy = test_malloc(f->n + 1);
	enum quench_verdict verdict;

	memcpy(copy, f->bytes, f->n);
	memset(quench, 0, sizeof(*quench));
	verdict = quench_parse(copy, copy + f->n, bit, quench);
	test_free(copy);
	return verdict;
}

static enum quench_verdict verdict(const struct frame *f)
{
	struct quench quench;

	return parse(f, QUENCH_BIT, &quench);
}

static void a_quench_says_which_segment_and_whether_it_was_marked(void **state)
{
	struct quench quench;
	struct frame f;

	(void)state;
	make4(&f);
	assert_int_equal(parse(&f, QUENCH_BIT, &quench), QUENCH_FOUND);
	assert_false(quench.ipv6);
	assert_true(quench.marked);
	assert_memory_equal(quench.local, ((uint8_t[]){10, 9, 0, 1}), 4);
	assert_memory_equal(quench.remote, ((uint8_t[]){10, 9, 0, 2}), 4);
	assert_memory_equal(&quench.local_port, ((uint8_t[]){0x9c, 0x40}), 2);
	assert_memory_equal(&quench.remote_port, ((uint8_t[]){0x14, 0x51}), 2);
	assert_int_equal(quench.sequence, 0x01020304);
	/* from an old router: all zero */
	f.bytes[ICMP + 4] = 0;
	right(&f);
	assert_int_equal(parse(&f, QUENCH_BIT, &quench), QUENCH_FOUND);
	assert_false(quench.marked);
	/* another bit */
	f.bytes[ICMP + 4] = 0x01;
	right(&f);
	assert_int_equal(parse(&f, QUENCH_BIT, &quench), QUENCH_FOUND);
	assert_false(quench.marked);
	assert_int_equal(parse(&f, 0x01, &quench), QUENCH_FOUND);
	assert_true(quench.marked);
}

static void ipv6_has_type_200(void **state)
{
	struct quench quench;
	struct frame f;

	(void)state;
	make6(&f);
	assert_int_equal(parse(&f, QUENCH_BIT, &quench), QUENCH_FOUND);
	assert_true(quench.ipv6);
	assert_false(quench.marked);
	assert_int_equal(((const uint8_t *)quench.local)[15], 0xa);
	assert_int_equal(((const uint8_t *)quench.remote)[15], 0xb);
	assert_int_equal(quench.sequence, 0x01020304);
	f.bytes[ICMP6 + 3] ^= 1;
	assert_int_equal(verdict(&f), QUENCH_MALFORMED);
	make6(&f);
	f.bytes[IP + 39] = 0xc;
	right(&f);
	assert_int_equal(verdict(&f), QUENCH_MALFORMED);
	make6(&f);
	f.bytes[INNER6 + 6] = 17;
	right(&f);
	assert_int_equal(verdict(&f), QUENCH_MALFORMED);
	make6(&f);
	f.bytes[ICMP6] = 129;
	assert_int_equal(verdict(&f), QUENCH_NONE);
}

/* A byte of a quench is changed, and the checksums are corrected; the verdict follows. */
static void what_a_quench_must_have(void **state)
{
	static const struct {
		const char *what;
		size_t at;
		uint8_t value;
		enum quench_verdict verdict;
	} cases[] = {
	        {"as it is", ICMP + 7, 0, QUENCH_FOUND},
	        {"another word of the reserved", ICMP + 7, 9, QUENCH_FOUND},
	        {"another type of Ethernet", 12, 9, QUENCH_NONE},
	        {"another version", IP, 0x55, QUENCH_NONE},
	        {"UDP", IP + 9, 17, QUENCH_NONE},
	        {"a later fragment", IP + 7, 1, QUENCH_NONE},
	        {"a first fragment", IP + 6, 0x20, QUENCH_MALFORMED},
	        {"a ping's answer", ICMP, 0, QUENCH_NONE},
	        {"unreachable", ICMP, 3, QUENCH_NONE},
	        {"another code", ICMP + 1, 1, QUENCH_MALFORMED},
	        {"too short by one", IP + 3, 55, QUENCH_MALFORMED},
	        {"to somebody else", IP + 19, 9, QUENCH_MALFORMED},
	        {"quotes another version", INNER, 0x65, QUENCH_MALFORMED},
	        {"quotes a header of 16 bytes", INNER, 0x44, QUENCH_MALFORMED},
	        {"quotes options that leave no port", INNER, 0x46, QUENCH_MALFORMED},
	        {"quotes UDP", INNER + 9, 17, QUENCH_MALFORMED},
	        {"quotes a later fragment", INNER + 7, 1, QUENCH_MALFORMED},
	        {"quotes another sender", INNER + 15, 9, QUENCH_MALFORMED},
	};
	struct frame f;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make4(&f);
		f.bytes[cases[i].at] = cases[i].value;
		if (f.bytes[IP] == 0x45)
			right(&f);
		if (verdict(&f) != cases[i].verdict)
			fail_msg("%s: %d, not %d", cases[i].what, verdict(&f), cases[i].verdict);
	}
}

static void each_bit_counts_for_the_checksums(void **state)
{
	struct frame f;

	(void)state;
	for (size_t bit = IP * 8; bit < END * 8; bit++) {
		make4(&f);
		f.bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		assert_int_not_equal(verdict(&f), QUENCH_FOUND);
	}
	make4(&f);
	assert_int_equal(verdict(&f), QUENCH_FOUND);
}

/* Padding of Ethernet behind the packet does not count. */
static void nothing_is_read_beyond_the_end(void **state)
{
	struct frame f;

	(void)state;
	make4(&f);
	f.n = END + 30;
	assert_int_equal(verdict(&f), QUENCH_FOUND);
	for (f.n = 0; f.n < END; f.n++)
		assert_int_not_equal(verdict(&f), QUENCH_FOUND);
	make6(&f);
	for (f.n = 0; f.n < END6; f.n++)
		assert_int_not_equal(verdict(&f), QUENCH_FOUND);
	/* lengths that exceed the frame */
	for (uint32_t total = 57; total < 2000; total++) {
		make4(&f);
		put16(f.bytes + IP + 2, total);
		assert_int_not_equal(verdict(&f), QUENCH_FOUND);
	}
}

/* RFC 1812: as much of the packet as fits into 576 bytes; with options in both headers. */
static void a_router_may_quote_more_and_headers_may_have_options(void **state)
{
	struct frame f;

	(void)state;
	for (uint32_t total = 56; total <= 600; total++) {
		make4(&f);
		for (size_t i = END; i < sizeof(f.bytes); i++)
			f.bytes[i] = (uint8_t)(i * 7);
		f.n = ETHER + total;
		put16(f.bytes + IP + 2, total);
		right(&f);
		assert_int_equal(verdict(&f), total <= 576 ? QUENCH_FOUND : QUENCH_MALFORMED);
	}
	make4(&f);
	memmove(f.bytes + ICMP + 40, f.bytes + ICMP, END - ICMP);
	memset(f.bytes + ICMP, 1, 40);
	memmove(f.bytes + TCP + 80, f.bytes + TCP + 40, 8);
	memset(f.bytes + TCP + 40, 1, 40);
	f.bytes[IP] = 0x4f;
	f.bytes[INNER + 40] = 0x4f;
	put16(f.bytes + IP + 2, 56 + 80);
	f.n = END + 80;
	right(&f);
	assert_int_equal(verdict(&f), QUENCH_FOUND);
}

GROUP(quench)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_quench_says_which_segment_and_whether_it_was_marked),
	        cmocka_unit_test(ipv6_has_type_200),
	        cmocka_unit_test(what_a_quench_must_have),
	        cmocka_unit_test(each_bit_counts_for_the_checksums),
	        cmocka_unit_test(nothing_is_read_beyond_the_end),
	        cmocka_unit_test(a_router_may_quote_more_and_headers_may_have_options),
	};

	return cmocka_run_group_tests_name("quench", tests, NULL, NULL);
}
