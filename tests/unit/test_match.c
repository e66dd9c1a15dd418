/* SPDX-License-Identifier: BSD-3-Clause */
/* Which packets match an expression: exact fields compared with libpcap, and the classifier
 * compared with a search of all rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "capture/filter.h"
#include "engine/classifier.h"
#include "frame.h"
#include "random/draw.h"
#include "rig.h"
#include "runner/group.h"

struct dice {
	struct draw_key key;
	uint64_t drawn;
};

static uint64_t roll(struct dice *dice, uint64_t sides)
{
	return draw_u64(dice->key, dice->drawn++, 0) % sides;
}

/* ---- exact expressions ---- */

static void conjunctions_of_simple_conditions_are_exact_and_nothing_else_is(void **state)
{
	static const struct {
		const char *text;
		uint32_t rows; /* 0: contradictory */
		bool filter;
	} cases[] = {
	        {"src host 10.0.0.1", 1, false},
	        {"src 10.0.0.1", 1, false},
	        {"host 10.0.0.1", 2, false},
	        {"dst net 10.0.0.0/8", 1, false},
	        {"net 2001:db8::/32", 2, false},
	        {"ip host 10.0.0.1 and udp", 2, false},
	        {"port 53", 2, false},
	        {"tcp dst port 80 && src net 10.0.0.0/8", 1, false},
	        {"host 10.0.0.1 and host 10.0.0.2", 2, false},
	        {"host 10.0.0.1 and port 53 and dst net 10.0.0.0/8", 4, false},
	        {"udp", 1, false},
	        {"ip6", 1, false},
	        {"icmp6", 1, false},
	        {"ip proto 47", 1, false},
	        {"proto 47", 1, false},
	        {"vlan", 1, false},
	        {"vlan 7 and vlan 8", 1, false},
	        {"mpls 16", 1, false},
	        {"vlan 7 and mpls 16", 1, false},
	        {"mpls and host 10.0.0.1", 0, true}, /* the address behind the labels */
	        {"mpls 16 and mpls 17", 0, true},
	        {"mpls and vlan", 0, true},
	        {"mpls and dscp 46", 0, true},
	        {"host 10.0.0.1 and mpls", 0, false},
	        {"ip and mpls", 0, false},
	        {"udp and mpls", 0, false},
	        {"port 53 and mpls 16", 0, false},
	        {"dscp 46 and udp", 1, false},
	        {"arp", 1, false},
	        {"udp and tcp", 0, false},
	        {"src 10.0.0.1 and src net 11.0.0.0/8", 0, false},
	        {"ip and src 2001:db8::1", 1, false}, /* matches nothing, which no bit reveals */
	        {"", 0, true},
	        {"10.0.0.1", 0, true},
	        {"udp or tcp", 0, true},
	        {"not udp", 0, true},
	        {"(udp)", 0, true},
	        {"net 10", 0, true},
	        {"net 10.0.0.1/8", 0, true},
	        {"host 10.0.0.0/8", 0, true},
	        {"port http", 0, true},
	        {"port 70000", 0, true},
	        {"ip proto 256", 0, true},
	        {"ip proto \\tcp", 0, true},
	        {"ip proto 44", 1, false},
	        {"ip6 proto 44", 0, true}, /* extension headers: no packet's last protocol */
	        {"proto 0", 0, true},
	        {"tcp src 10.0.0.1", 0, true},
	        {"udp and", 0, true},
	        {"and udp", 0, true},
	        {"udp udp", 0, true},
	        {"ether host 02:00:00:00:00:01", 0, true},
	        {"vlan 4096", 0, true},
	        {"dscp 64", 0, true},
	        {"dscp", 0, true},
	        {"portrange 1-2", 0, true},
	        {"less 100", 0, true},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct match match;
		bool exact = match_parse(cases[i].text, &match);

		if (exact == cases[i].filter || (exact && match.n != cases[i].rows))
			fail_msg("`%s`: exact %d, %u rows", cases[i].text, exact, match.n);
	}
}

static void a_prefix_says_how_many_addresses_it_has(void **state)
{
	static const struct {
		const char *text;
		uint32_t size; /* 0: no prefix */
	} cases[] = {
	        {"10.0.0.0/16", 65536},
	        {"10.0.3.4", 1},
	        {"10.0.3.4/32", 1},
	        {"0.0.0.0/0", UINT32_MAX},
	        {"2001:db8::/112", 65536},
	        {"::/0", UINT32_MAX},
	        {"2001:db8::1", 1},
	        {"10.0.0.1/16", 0},
	        {"10.0.0.0/33", 0},
	        {"10.0.0.0/", 0},
	        {"10.0.0", 0},
	        {"2001:db8::/129", 0},
	        {"10.0.0.0/-1", 0},
	        {"", 0},
	        {"10.0.0.0/8x", 0},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		for (int source = 0; source < 2; source++) {
			struct match_row row;
			bool prefix = match_prefix(cases[i].text, source, &row);

			assert_int_equal(prefix, cases[i].size != 0);
			if (prefix)
				assert_int_equal(match_prefix_size(&row, source), cases[i].size);
		}
	}
}

/* ---- frames ---- */

/* Makes any frame without a tag, since libpcap does not look behind tags. Returns the length. */
static uint32_t frame_any(struct dice *dice, uint8_t *frame)
{
	static const uint8_t protocols[] = {FRAME_TCP, FRAME_UDP, FRAME_ICMP, FRAME_ICMPV6};
	struct frame_shape shape = {
	        .ip = roll(dice, 2) ? 4 : 6,
	        .protocol = protocols[roll(dice, LENGTH(protocols))],
	        .host = (uint8_t)roll(dice, 4),
	        .source_port = (uint16_t)(52 + roll(dice, 3)),
	        .payload_bytes = (uint32_t)roll(dice, 30),
	};
	uint32_t bytes, kind = (uint32_t)roll(dice, 16);

	if (shape.ip == 4) {
		shape.option_words = (uint8_t)(roll(dice, 4) ? 0 : roll(dice, 3));
		shape.fragment = (uint16_t)(roll(dice, 6) ? 0 : 1 + roll(dice, 3));
	}
	bytes = frame_make(frame, &shape);
	if (kind == 0) { /* ARP */
		memset(frame + 12, 0, 64);
		memcpy(frame + 12, "\x08\x06\x00\x01\x08\x00\x06\x04\x00\x01", 10);
		memcpy(frame + 28, "\xc0\x00\x02", 3);
		frame[31] = (uint8_t)roll(dice, 4);
		memcpy(frame + 38, "\xc0\x00\x02", 3);
		frame[41] = (uint8_t)roll(dice, 4);
		bytes = 60;
	} else if (kind == 1) { /* MPLS */
		memcpy(frame + 12, "\x88\x47\x00\x01\x01\x40", 6);
		frame[16] = (uint8_t)(0x01 + 0x10 * roll(dice, 3));
	} else if (kind == 2) { /* any type */
		frame[12] = (uint8_t)roll(dice, 256);
	}
	return bytes;
}

static const char *const conditions[] = {
        "src host 192.0.2.1",
        "dst host 198.51.100.7",
        "host 192.0.2.1",
        "src net 192.0.2.0/24",
        "net 192.0.2.0/30",
        "src net 192.0.2.2/31",
        "dst net 192.0.0.0/8",
        "ip",
        "ip6",
        "arp",
        "udp",
        "tcp",
        "icmp",
        "icmp6",
        "port 53",
        "src port 53",
        "dst port 80",
        "dst port 53",
        "udp port 53",
        "tcp src port 54",
        "ip proto 17",
        "ip6 proto 6",
        "ip host 192.0.2.1",
        "ip src net 192.0.2.0/31",
        "net 2001:db8::/32",
        "src 2001:db8::1",
        "ip6 dst net 2001::/16",
        "mpls 16",
        "mpls",
        "proto 17",
};

static void exact_fields_fit_what_libpcap_fits(void **state)
{
	struct dice dice = {.key = draw_key_make(1, "match", "libpcap")};
	uint32_t fitting = 0;

	(void)state;
	for (uint32_t i = 0; i < 1500; i++) {
		pcap_t *pcap = pcap_open_dead(DLT_EN10MB, 262144);
		const char *first = conditions[roll(&dice, LENGTH(conditions))];
		const char *second = conditions[roll(&dice, LENGTH(conditions))];
		struct bpf_program program;
		struct match match;
		char text[200];

		/* `mpls` shifts the offsets that libpcap uses behind it. */
		if (strncmp(first, "mpls", 4) == 0 || strncmp(second, "mpls", 4) == 0 || i % 3 == 0)
			second = NULL;
		snprintf(text, sizeof(text), "%s%s%s", first, second ? " and " : "",
		         second ? second : "");
		assert_true(match_parse(text, &match));
		if (pcap_compile(pcap, &program, text, 1, PCAP_NETMASK_UNKNOWN) < 0) {
			/* libpcap itself detects that nothing matches: `udp and tcp` */
			assert_non_null(strstr(pcap_geterr(pcap), "rejects all"));
			pcap_close(pcap);
			continue;
		}
		for (uint32_t k = 0; k < 100; k++) {
			uint8_t frame[FRAME_BYTES_MAX] = {0};
			uint32_t bytes = frame_any(&dice, frame);
			bool libpcap = bpf_filter(program.bf_insns, frame, bytes, bytes) != 0;
			struct packet_key key;
			bool exact = false;

			packet_key_of(frame, bytes, bytes, &key);
			for (uint32_t row = 0; row < match.n; row++)
				exact |= match_row_fits(&match.rows[row], &key);
			fitting += exact;
			if (exact == libpcap)
				continue;
			for (uint32_t b = 0; b < bytes; b++)
				fprintf(stderr, "%02x%s", frame[b], b % 16 == 15 ? "\n" : " ");
			fail_msg("`%s`: exact %d, libpcap %d", text, exact, libpcap);
		}
		pcap_freecode(&program);
		pcap_close(pcap);
	}
	assert_true(fitting > 5000);
}

static struct rte_mbuf *mbuf_make(const struct rig *rig, const uint8_t *frame, uint32_t bytes)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(rig->pool);

	assert_non_null(mbuf);
	memcpy(rte_pktmbuf_append(mbuf, (uint16_t)bytes), frame, bytes);
	*packet_of(mbuf) = (struct packet){.wire_bytes = bytes};
	return mbuf;
}

/* Gives a frame another type, and inserts bytes behind it. Returns the length. */
static uint32_t insert(uint8_t *frame, uint32_t bytes, uint32_t type, const char *what, uint32_t n)
{
	memmove(frame + 14 + n, frame + 14, bytes - 14);
	memcpy(frame + 14, what, n);
	frame[12] = (uint8_t)(type >> 8);
	frame[13] = (uint8_t)type;
	return bytes + n;
}

/* Makes a frame whose IP packet lies behind none or one of the headers that move offsets. */
static uint32_t frame_inside(struct dice *dice, uint8_t *frame)
{
	struct frame_shape shape = {.ip = 4,
	                            .protocol = roll(dice, 2) ? FRAME_TCP : FRAME_UDP,
	                            .host = (uint8_t)roll(dice, 4),
	                            .source_port = (uint16_t)(52 + roll(dice, 3)),
	                            .payload_bytes = 30};
	uint8_t inner[FRAME_BYTES_MAX] = {0};
	uint32_t bytes, at;

	shape.ip = roll(dice, 3) ? 4 : 6;
	bytes = frame_make(frame, &shape);
	switch (roll(dice, 7)) {
	case 0:
		return insert(frame, bytes, 0x8847, "\x00\x01\x01\x40", 4);
	case 1:
		return insert(frame, bytes, 0x8847, "\x00\x01\x00\x40\x00\x01\x11\x40", 8);
	case 2: /* PPPoE with PPP */
		return insert(frame, bytes, 0x8864,
		              shape.ip == 4 ? "\x11\x00\x00\x07\x00\x40\x00\x21"
		                            : "\x11\x00\x00\x07\x00\x40\x00\x57",
		              8);
	case 3:
		return insert(frame, bytes, 0x8100,
		              shape.ip == 4 ? "\x00\x07\x08\x00" : "\x00\x07\x86\xdd", 4);
	case 4: /* Geneve, which carries Ethernet */
		memcpy(inner, frame, bytes);
		shape = (struct frame_shape){
		        .ip = 4, .protocol = FRAME_UDP, .host = 9, .payload_bytes = 8 + bytes};
		at = frame_transport(&shape);
		bytes = frame_make(frame, &shape);
		memcpy(frame + at + 2, "\x17\xc1", 2);
		memcpy(frame + at + 8, "\x00\x00\x65\x58\x00\x00\x07\x00", 8);
		memcpy(frame + at + 16, inner, bytes - at - 16);
		return bytes;
	default:
		return bytes;
	}
}

static void what_stands_behind_a_word_that_moves_offsets_is_about_the_packet_inside(void **state)
{
	static const char *const texts[] = {
	        "mpls",
	        "mpls and host 192.0.2.1",
	        "mpls and src net 192.0.2.0/31 and udp",
	        "mpls 16 and mpls 17 and host 192.0.2.1",
	        "mpls and mpls 17 and ip6",
	        "mpls && port 53",
	        "mpls and ip6",
	        "vlan and host 192.0.2.1",
	        "vlan 7 and udp port 53",
	        "vlan and (host 192.0.2.1 or host 192.0.2.2)",
	        "pppoes",
	        "pppoes and host 192.0.2.1",
	        "pppoes 7 and tcp",
	        "pppoes and ip6 and udp",
	        "geneve",
	        "geneve and host 192.0.2.1",
	        "geneve 7 and udp port 53",
	        "geneve and ip6",
	        "host 192.0.2.9 and geneve and tcp",
	        "udp and geneve and host 192.0.2.2",
	};
	struct dice dice = {.key = draw_key_make(4, "match", "inside")};
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	for (size_t i = 0; i < LENGTH(texts); i++) {
		pcap_t *pcap = pcap_open_dead(DLT_EN10MB, 262144);
		struct classifier_part part = {.cloud = (struct cloud *)rig};
		struct classifier *classifier;
		struct bpf_program program;
		struct problem problem;
		struct match rows;
		uint32_t fitting = 0;

		if (match_parse(texts[i], &rows))
			part.rows = &rows;
		else
			part.filter = texts[i];
		assert_int_equal(classifier_make(&part, 1, &filters, &classifier, &problem), 0);
		assert_int_equal(pcap_compile(pcap, &program, texts[i], 1, PCAP_NETMASK_UNKNOWN),
		                 0);
		for (uint32_t k = 0; k < 500; k++) {
			uint8_t frame[FRAME_BYTES_MAX] = {0};
			uint32_t bytes = frame_inside(&dice, frame);
			bool libpcap = bpf_filter(program.bf_insns, frame, bytes, bytes) != 0;
			struct cloud *got[BURST_MAX];
			struct burst burst;

			burst.mbuf[0] = mbuf_make(rig, frame, bytes);
			burst_received(&burst, 1, 0, 0, 1);
			classifier_find(classifier, &burst, got);
			if ((got[0] != NULL) != libpcap)
				fail_msg("`%s`: libpcap %d, packet %u", texts[i], libpcap, k);
			fitting += libpcap;
			rte_pktmbuf_free(burst.mbuf[0]);
		}
		if (fitting == 0)
			fail_msg("`%s`: nothing fits", texts[i]);
		classifier_free(classifier);
		pcap_freecode(&program);
		pcap_close(pcap);
	}
	rig_close(rig);
}

static void tags_are_seen_through_and_dscp_is_found_in_both_versions(void **state)
{
	(void)state;
	for (uint8_t ip = 4; ip <= 6; ip += 2) {
		for (uint8_t tags = 0; tags <= 2; tags++) {
			struct frame_shape shape = {.ip = ip,
			                            .protocol = FRAME_UDP,
			                            .n_tags = tags,
			                            .host = 3,
			                            .payload_bytes = 10};
			uint8_t frame[FRAME_BYTES_MAX] = {0};
			uint32_t bytes = frame_make(frame, &shape);
			uint8_t *at = frame + frame_network(&shape);
			struct packet_key key;
			struct match match;

			if (ip == 4) {
				at[1] = 46 << 2;
			} else {
				at[0] = 0x60 | 46 >> 2;
				at[1] = (uint8_t)((46 & 3) << 6 | (at[1] & 0x3f));
			}
			packet_key_of(frame, bytes, bytes, &key);
			assert_true(match_parse("dscp 46 and udp and src port 1000", &match));
			assert_true(match_row_fits(&match.rows[0], &key));
			assert_true(match_parse("dscp 45", &match));
			assert_false(match_row_fits(&match.rows[0], &key));
			assert_true(match_parse("vlan", &match));
			assert_int_equal(match_row_fits(&match.rows[0], &key), tags > 0);
			assert_true(match_parse("vlan 100 and vlan 101", &match));
			assert_int_equal(match_row_fits(&match.rows[0], &key), tags == 2);
			assert_true(match_parse("vlan 101", &match));
			assert_false(match_row_fits(&match.rows[0], &key));
		}
	}
}

/* ---- classifiers ---- */

#define CLOUDS 200

/* Returns the first cloud that matches, by trying each in turn. */
static struct cloud *first_that_fits(const struct classifier_part *parts, uint32_t n,
                                     struct classifier_filter *const *made, struct burst *burst,
                                     uint32_t i)
{
	struct packet_key key;

	packet_key_read(burst, i, &key);
	for (uint32_t k = 0; k < n; k++) {
		bool fits = !parts[k].rows;

		for (uint32_t r = 0; parts[k].rows && r < parts[k].rows->n; r++)
			fits |= match_row_fits(&parts[k].rows->rows[r], &key);
		if (fits && (!made[k] || filters.fits(made[k], burst, i)))
			return parts[k].cloud;
	}
	return NULL;
}

/* Makes parts of many exact branches, some filters, and perhaps a rest. Returns how many. */
static uint32_t parts_any(struct dice *dice, struct classifier_part *parts, struct cloud *clouds,
                          struct match *rows)
{
	static const char *const words[] = {"tcp[13] & 2 != 0 or arp", "len > 60", "not ip"};
	uint32_t n = 1 + (uint32_t)roll(dice, CLOUDS);
	bool rest = roll(dice, 2);

	memset(parts, 0, CLOUDS * sizeof(*parts));
	for (uint32_t k = 0; k < n; k++) {
		parts[k].cloud = &clouds[k];
		if (rest && k + 1 == n)
			break;
		if (roll(dice, 20) == 0)
			parts[k].filter = words[roll(dice, LENGTH(words))];
		if (parts[k].filter && roll(dice, 2))
			continue;
		assert_true(match_parse(conditions[roll(dice, LENGTH(conditions))], &rows[k]));
		parts[k].rows = &rows[k];
	}
	return n;
}

static void a_classifier_finds_the_first_that_fits(void **state)
{
	struct dice dice = {.key = draw_key_make(2, "match", "classifier")};
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct cloud *clouds = calloc(CLOUDS, sizeof(*clouds));
	struct match *rows = calloc(CLOUDS, sizeof(*rows));
	uint32_t found = 0, missed = 0;

	(void)state;
	assert_non_null(clouds);
	assert_non_null(rows);
	for (uint32_t i = 0; i < 100; i++) {
		struct classifier_filter *made[CLOUDS] = {NULL};
		struct classifier_part parts[CLOUDS];
		uint32_t n = parts_any(&dice, parts, clouds, rows);
		struct rte_mbuf *mbufs[BURST_MAX];
		struct cloud *got[BURST_MAX];
		struct burst value;
		struct problem problem;
		struct classifier *classifier;

		assert_int_equal(classifier_make(parts, n, &filters, &classifier, &problem), 0);
		for (uint32_t k = 0; k < n; k++) {
			if (parts[k].filter)
				assert_int_equal(filters.make(parts[k].filter, &made[k], &problem),
				                 0);
		}
		for (uint32_t m = 0; m < BURST_MAX; m++) {
			uint8_t frame[FRAME_BYTES_MAX] = {0};
			uint32_t bytes = frame_any(&dice, frame);

			mbufs[m] = mbuf_make(rig, frame, bytes);
		}
		memcpy(value.mbuf, mbufs, sizeof(mbufs));
		burst_received(&value, BURST_MAX, 0, 0, 1);
		classifier_find(classifier, &value, got);
		for (uint32_t m = 0; m < BURST_MAX; m++) {
			struct cloud *expected = first_that_fits(parts, n, made, &value, m);

			assert_ptr_equal(got[m], expected);
			found += expected != NULL;
			missed += expected == NULL;
			rte_pktmbuf_free(mbufs[m]);
		}
		for (uint32_t k = 0; k < n; k++) {
			if (made[k])
				filters.free(made[k]);
		}
		classifier_free(classifier);
	}
	/* an empty experiment would prove nothing */
	assert_true(found > 2000);
	assert_true(missed > 20);
	free(clouds);
	free(rows);
	rig_close(rig);
}

/* ---- a few conditions, about IPv4 ---- */

/* Conditions that a glance decides, conditions that no IPv4 packet matches, and conditions that
 * take more than a glance. */
static const struct {
	const char *words;
	enum { TELLS, NEVER, MORE } glance;
} glances[] = {
        {"src host 192.0.2.1", TELLS},
        {"dst net 198.51.100.0/29", TELLS},
        {"host 192.0.2.1", TELLS}, /* two rows */
        {"net 192.0.2.0/30", TELLS},
        {"ip", TELLS},
        {"udp", TELLS},
        {"dscp 11", TELLS},
        {"dscp 0 and ip proto 17", TELLS},
        {"dst net 198.51.100.0/30 and ip proto 6", TELLS},
        {"ip6", NEVER},
        {"arp", NEVER},
        {"src 2001:db8::1", NEVER},
        {"mpls 16", NEVER},
        {"dst port 53", MORE},
        {"vlan 100", MORE},
};

/* Makes an IPv4 packet of any kind; one in `other` is IPv6. */
static struct rte_mbuf *ipv4_any(struct dice *dice, const struct rig *rig, uint64_t other)
{
	struct frame_shape shape = {.ip = roll(dice, other) ? 4 : 6,
	                            .protocol = roll(dice, 2) ? FRAME_TCP : FRAME_UDP,
	                            .n_tags = roll(dice, 6) == 0,
	                            .fragment = roll(dice, 6) ? 0 : 185,
	                            .host = (uint8_t)roll(dice, 4),
	                            .payload_bytes = 20};
	uint8_t frame[FRAME_BYTES_MAX] = {0};
	uint32_t bytes, network = frame_network(&shape);

	shape.option_words = shape.ip == 4 && roll(dice, 6) == 0;
	bytes = frame_make(frame, &shape);
	if (shape.ip == 4) {
		frame[network + 1] = (uint8_t)(roll(dice, 2) ? 46 : roll(dice, 4));
		frame[network + 19] = (uint8_t)roll(dice, 10);
	}
	return mbuf_make(rig, frame, bytes);
}

static void a_few_conditions_are_told_by_a_glance_at_ipv4(void **state)
{
	struct dice dice = {.key = draw_key_make(3, "match", "glance")};
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct cloud *clouds = calloc(4, sizeof(*clouds));
	struct match rows[4];
	uint32_t found = 0, missed = 0, glanced = 0;

	(void)state;
	assert_non_null(clouds);
	for (uint32_t i = 0; i < 1000; i++) {
		struct classifier_part parts[4] = {{.cloud = NULL}};
		struct classifier_filter *made[4] = {NULL};
		struct rte_mbuf *mbufs[BURST_MAX];
		struct cloud *got[BURST_MAX];
		struct burst value;
		uint32_t n = 1 + (uint32_t)roll(&dice, 4), telling = 0;
		uint16_t burst = (uint16_t)(1 + roll(&dice, BURST_MAX));
		struct problem problem;
		struct classifier *classifier;
		bool more = false;

		for (uint32_t k = 0; k < n; k++) {
			uint32_t which = (uint32_t)roll(&dice, LENGTH(glances));

			parts[k].cloud = &clouds[k];
			if (k > 0 && k + 1 == n && roll(&dice, 2))
				break; /* takes the rest */
			assert_true(match_parse(glances[which].words, &rows[k]));
			parts[k].rows = &rows[k];
			telling += glances[which].glance == TELLS ? rows[k].n : 0;
			more |= glances[which].glance == MORE;
		}
		assert_int_equal(classifier_make(parts, n, NULL, &classifier, &problem), 0);
		assert_int_equal(classifier->n_glances,
		                 more || telling > CLASSIFIER_GLANCES_MAX ? 0 : telling);
		glanced += classifier->n_glances > 0;
		for (uint16_t m = 0; m < burst; m++)
			mbufs[m] = ipv4_any(&dice, rig, i % 2 ? 32 : UINT64_C(1) << 40);
		memcpy(value.mbuf, mbufs, burst * sizeof(*mbufs));
		burst_received(&value, burst, 0, 0, 1);
		classifier_find(classifier, &value, got);
		for (uint16_t m = 0; m < burst; m++) {
			struct cloud *expected = first_that_fits(parts, n, made, &value, m);

			assert_ptr_equal(got[m], expected);
			found += expected != NULL;
			missed += expected == NULL;
			rte_pktmbuf_free(mbufs[m]);
		}
		classifier_free(classifier);
	}
	assert_true(found > 5000);
	assert_true(missed > 2000);
	assert_true(glanced > 300);
	free(clouds);
	rig_close(rig);
}

GROUP(match)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(conjunctions_of_simple_conditions_are_exact_and_nothing_else_is),
	        cmocka_unit_test(a_prefix_says_how_many_addresses_it_has),
	        cmocka_unit_test(exact_fields_fit_what_libpcap_fits),
	        cmocka_unit_test(
	                what_stands_behind_a_word_that_moves_offsets_is_about_the_packet_inside),
	        cmocka_unit_test(tags_are_seen_through_and_dscp_is_found_in_both_versions),
	        cmocka_unit_test(a_classifier_finds_the_first_that_fits),
	        cmocka_unit_test(a_few_conditions_are_told_by_a_glance_at_ipv4),
	};

	return cmocka_run_group_tests_name("match", tests, rig_group_setup, rig_group_teardown);
}
