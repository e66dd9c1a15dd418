/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rewriting. frame_wrong_sums verifies the checksums: it computes them over the whole packet with
 * DPDK's functions, independently of the changes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "language/language.h"
#include "language/scenario_file.h"
#include "random/draw.h"
#include "rewrite/rewrite_field.h"
#include "rewrite/rewrite_rule.h"
#include "runner/group.h"
#include "trial.h"

#define TCP4                                                                                       \
	&(struct frame_shape)                                                                      \
	{                                                                                          \
		.ip = 4, .protocol = FRAME_TCP, .payload_bytes = 40                                \
	}
#define UDP4                                                                                       \
	&(struct frame_shape)                                                                      \
	{                                                                                          \
		.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 40                                \
	}
#define ICMP4                                                                                      \
	&(struct frame_shape)                                                                      \
	{                                                                                          \
		.ip = 4, .protocol = FRAME_ICMP, .payload_bytes = 40                               \
	}
#define TCP6                                                                                       \
	&(struct frame_shape)                                                                      \
	{                                                                                          \
		.ip = 6, .protocol = FRAME_TCP, .payload_bytes = 40                                \
	}

static const struct frame_shape shapes[] = {
        {.ip = 4, .protocol = FRAME_TCP, .payload_bytes = 33, .padding_bytes = 9},
        {.ip = 4, .protocol = FRAME_UDP, .n_tags = 2, .option_words = 3, .payload_bytes = 64},
        {.ip = 4, .protocol = FRAME_UDP, .n_tags = 1, .no_sum = true, .payload_bytes = 20},
        {.ip = 4, .protocol = FRAME_ICMP, .n_tags = 2, .payload_bytes = 25},
        {.ip = 6, .protocol = FRAME_TCP, .payload_bytes = 100},
        {.ip = 6, .protocol = FRAME_UDP, .n_tags = 2, .n_extensions = 3, .payload_bytes = 31},
        {.ip = 6, .protocol = FRAME_ICMPV6, .n_tags = 1, .payload_bytes = 16},
        {.ip = 4, .protocol = FRAME_UDP, .fragment = 185, .payload_bytes = 60},
        {.ip = 6, .protocol = FRAME_TCP, .fragment = 185, .payload_bytes = 60},
};

/* ---- the last packet that left ---- */

struct out {
	uint32_t bytes;
	uint8_t data[FRAME_BYTES_MAX];
};

static void keep(void *argument, struct rte_mbuf *mbuf)
{
	struct out *out = argument;

	out->bytes = 0;
	for (; mbuf; mbuf = mbuf->next) {
		assert_true(out->bytes + mbuf->data_len <= sizeof(out->data));
		memcpy(out->data + out->bytes, rte_pktmbuf_mtod(mbuf, uint8_t *), mbuf->data_len);
		out->bytes += mbuf->data_len;
	}
}

static struct trial *start(const char *statement, struct out *out)
{
	struct trial *trial = trial_open(statement, 42);

	trial->look = keep;
	trial->argument = out;
	return trial;
}

/* The cloud of all tests that need one packet and one rule: to make a cloud takes longer than
 * that. */
static struct trial *common;

static int common_setup(void **state)
{
	if (rig_group_setup(state) != 0)
		return -1;
	common = trial_open("rewrite set ip.ttl 1", 42);
	common->look = keep;
	return 0;
}

static int common_teardown(void **state)
{
	trial_close(common);
	return rig_group_teardown(state);
}

/* Sends the frame through one rule. Returns true if anything changed. */
static bool send_through(const char *rule, const uint8_t *frame, uint32_t bytes, struct out *out)
{
	uint64_t rewritten = trial_counters(common)->rewritten;
	bool changed;

	trial_set(common, rule);
	common->argument = out;
	trial_send_frame(common, frame, bytes);
	assert_int_equal(out->bytes, bytes);
	changed = memcmp(out->data, frame, bytes) != 0;
	assert_int_equal(trial_counters(common)->rewritten - rewritten, changed);
	return changed;
}

static bool shape_through(const char *rule, const struct frame_shape *shape, struct out *out)
{
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, shape);

	return send_through(rule, frame, bytes, out);
}

/* ---- the table ---- */

/* Computes the place in a frame of this shape, independently; 0: not there. */
static uint32_t place_at(const struct frame_shape *shape, const struct rewrite_place *place)
{
	uint32_t network = frame_network(shape);
	uint32_t transport = shape->fragment ? 0 : frame_transport(shape);
	uint32_t offset = (uint32_t)place->offset;

	switch (place->layer) {
	case LAYER_FRAME:
		return offset + 1; /* 0 is a valid place here */
	case LAYER_VLAN:
		return shape->n_tags > 0 ? 14 + offset : 0;
	case LAYER_VLAN2:
		return shape->n_tags > 1 ? 18 + offset : 0;
	case LAYER_NETWORK:
		return network + offset;
	case LAYER_IP:
		return shape->ip == 4 ? network + offset : 0;
	case LAYER_IP6:
		return shape->ip == 6 ? network + offset : 0;
	case LAYER_TCP:
		return transport && shape->protocol == FRAME_TCP ? transport + offset : 0;
	case LAYER_UDP:
		return transport && shape->protocol == FRAME_UDP ? transport + offset : 0;
	case LAYER_ICMP:
		return transport && shape->protocol == (shape->ip == 4 ? FRAME_ICMP : FRAME_ICMPV6)
		               ? transport + offset
		               : 0;
	default:
		return 0;
	}
}

static uint64_t bytes_at(const uint8_t *frame, uint32_t at, uint32_t width)
{
	uint64_t value = 0;

	while (width--)
		value = value << 8 | frame[at++];
	return value;
}

/* Asserts that the frames differ at most in the field, which holds `value`, and in checksums. */
static void assert_only(const char *name, const struct frame_shape *shape, const uint8_t *before,
                        const struct out *after, const struct rewrite_place *place, uint64_t value)
{
	uint32_t at = place_at(shape, place) - (place->layer == LAYER_FRAME);
	uint8_t expected[FRAME_BYTES_MAX];
	uint64_t raw = bytes_at(after->data, at, place->width);
	uint32_t ip = frame_network(shape), transport = frame_transport(shape);
	uint32_t sum = shape->protocol == FRAME_TCP ? 16 : shape->protocol == FRAME_UDP ? 6 : 2;

	if ((raw & place->mask) >> place->shift != value ||
	    (raw ^ bytes_at(before, at, place->width)) & ~place->mask)
		fail_msg("%s: %" PRIx64 " is wrong", name, raw);
	memcpy(expected, before, after->bytes);
	memcpy(expected + at, after->data + at, place->width);
	if (shape->ip == 4)
		memcpy(expected + ip + 10, after->data + ip + 10, 2);
	if (!shape->fragment)
		memcpy(expected + transport + sum, after->data + transport + sum, 2);
	if (memcmp(expected, after->data, after->bytes) != 0)
		fail_msg("%s: something else was changed", name);
}

static bool is_protocol(const struct rewrite_place *place)
{
	return (place->layer == LAYER_IP && place->offset == 9) ||
	       (place->layer == LAYER_IP6 && place->offset == 6);
}

static void every_field_of_the_table_is_written_and_the_checksums_come_out_right(void **state)
{
	uint32_t written = 0;

	(void)state;
	for (const struct rewrite_field *row = rewrite_fields; row->name; row++) {
		const struct rewrite_place *place = &row->place[0];
		bool once = false;

		for (size_t i = 0; i < LENGTH(shapes) && place[1].width == 0; i++) {
			const struct frame_shape *shape = &shapes[i];
			uint8_t frame[FRAME_BYTES_MAX];
			uint32_t bytes = frame_make(frame, shape), at = place_at(shape, place);
			struct out out;
			uint64_t value;
			char rule[80];

			if (at == 0) {
				snprintf(rule, sizeof(rule), "rewrite set %s 1", row->name);
				assert_false(send_through(rule, frame, bytes, &out));
				continue;
			}
			at -= place->layer == LAYER_FRAME;
			value = ((bytes_at(frame, at, place->width) & place->mask) >>
			         place->shift) ^
			        (rewrite_place_max(place) & 0x5a5a5a5a5a5a5a5b);
			snprintf(rule, sizeof(rule), "rewrite set %s 0x%" PRIx64, row->name, value);
			assert_true(send_through(rule, frame, bytes, &out));
			assert_only(row->name, shape, frame, &out, place, value);
			if (!strstr(row->name, "checksum") && !is_protocol(place) &&
			    frame_wrong_sums(out.data, shape))
				fail_msg("%s: checksums %u are wrong in shape %zu", row->name,
				         frame_wrong_sums(out.data, shape), i);
			once = true;
			written++;
		}
		if (!once && place[1].width == 0)
			fail_msg("%s: no shape has it", row->name);
	}
	assert_true(written > 100);
}

static void a_checksum_that_is_written_itself_stays_as_written(void **state)
{
	struct out out;

	(void)state;
	shape_through("rewrite set ip.ttl 3 ip.checksum 0x1234", TCP4, &out);
	assert_int_equal(bytes_at(out.data, 24, 2), 0x1234);
	shape_through("rewrite set tcp.checksum 0xbeef", TCP4, &out);
	assert_int_equal(bytes_at(out.data, 50, 2), 0xbeef);
	assert_int_equal(frame_wrong_sums(out.data, TCP4), 2);
	/* A wrong checksum stays wrong by the same amount: 3 more words of 1 do not repair it. */
	shape_through("rewrite set tcp.checksum 0xbeef tcp.window 1", TCP4, &out);
	assert_int_equal(frame_wrong_sums(out.data, TCP4), 2);
}

/* In one's complement the checksum falls by as much as the protocol rises. */
static void a_protocol_that_is_changed_counts_in_the_checksum_of_the_transport(void **state)
{
	static const struct {
		const char *rule;
		struct frame_shape shape;
		uint32_t rise;
	} rows[] = {
	        {"rewrite set ip.protocol 200", {.ip = 4, .protocol = FRAME_TCP}, 200 - 6},
	        {"rewrite set ip.protocol 136", {.ip = 4, .protocol = FRAME_UDP}, 136 - 17},
	        {"rewrite set ip6.next-header 136", {.ip = 6, .protocol = FRAME_UDP}, 136 - 17},
	        {"rewrite set ip.protocol 200", {.ip = 4, .protocol = FRAME_ICMP}, 0},
	};
	struct out out;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct frame_shape *shape = &rows[i].shape;
		uint32_t at = frame_transport(shape) + (shape->protocol == FRAME_TCP   ? 16u
		                                        : shape->protocol == FRAME_UDP ? 6u
		                                                                       : 2u);
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(frame, shape), sum;

		assert_true(send_through(rows[i].rule, frame, bytes, &out));
		sum = (uint32_t)bytes_at(out.data, at, 2) + rows[i].rise;
		assert_int_equal((sum & 0xffff) + (sum >> 16), bytes_at(frame, at, 2));
		assert_int_equal(frame_wrong_sums(out.data, shape) & 1, 0);
	}
}

/* fields of 16 bytes are two of 8 */
static void whole_ipv6_addresses_are_compared_and_set(void **state)
{
	static const uint8_t address[16] = {0x20, 1, 0xd, 0xb8, 0, 0xff, 0, 0,
	                                    0,    0, 0,   0,    0, 0,    0, 9};
	struct out out;

	(void)state;
	assert_true(shape_through("rewrite match ip6.src = 2001:db8:: set ip6.src 2001:db8:ff::9",
	                          TCP6, &out));
	assert_memory_equal(out.data + 22, address, 16);
	assert_int_equal(frame_wrong_sums(out.data, TCP6), 0);
	assert_true(shape_through("rewrite match ip6.dst = 2001:db8::/64 set ip6.src ip6.dst", TCP6,
	                          &out));
	assert_memory_equal(out.data + 22, out.data + 38, 16);
	assert_int_equal(frame_wrong_sums(out.data, TCP6), 0);
	assert_false(
	        shape_through("rewrite match ip6.dst = 2001:db9::/32 set ip6.flow 1", TCP6, &out));
	assert_true(shape_through("rewrite random ip6.dst", TCP6, &out));
	assert_int_equal(frame_wrong_sums(out.data, TCP6), 0);
}

/* RFC 4291, section 2.2, form 3 */
static void an_ipv6_address_may_end_as_an_ipv4_address(void **state)
{
	static const struct {
		const char *written;
		uint64_t high, low; /* 0: it is not an address */
	} rows[] = {
	        {"::ffff:1.2.3.4", 0, 0xffff01020304},
	        {"::1.2.3.4", 0, 0x01020304},
	        {"64:ff9b::192.0.2.33", 0x64ff9b00000000, 0xc0000221},
	        {"1:2:3:4:5:6:255.254.253.252", 0x1000200030004, 0x50006fffefdfc},
	        {"1:2:3:4:5::9.8.7.6", 0x1000200030004, 0x5000009080706},
	        {"1:2:3:4:5:6:7:1.2.3.4", 0, 0},
	        {"1:2:3:4:5:1.2.3.4", 0, 0},
	        {"::1.2.3.4:5", 0, 0},
	        {"::1.2.3", 0, 0},
	        {"::1.2.3.256", 0, 0},
	        {"::1.2.3.4.5", 0, 0},
	        {"::1.2.3.4x", 0, 0},
	        {"::ffff1.2.3.4", 0, 0},
	};
	struct rewrite_value value;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *written = rows[i].written;

		assert_int_equal(rewrite_value_read(written, strlen(written), &value),
		                 rows[i].low != 0);
		if (rows[i].low == 0)
			continue;
		assert_int_equal(value.kind, VALUE_IPV6);
		assert_int_equal(value.high, rows[i].high);
		assert_int_equal(value.low, rows[i].low);
		assert_int_equal(value.prefix, 128);
	}
	assert_true(rewrite_value_read("::ffff:1.2.0.0/112", 18, &value));
	assert_int_equal(value.prefix, 112);
}

/* ---- comparisons ---- */

static void comparisons_are_of_the_bits_under_the_mask(void **state)
{
	/* frame.h: 192.0.2.0 to 198.51.100.7, TTL 64, ports 1000 to 80, flags 0x10 */
	static const struct {
		const char *match;
		bool holds;
	} rows[] = {
	        {"ip.ttl = 64", true},
	        {"ip.ttl = 63", false},
	        {"ip.ttl != 63", true},
	        {"ip.ttl != 64", false},
	        {"ip.ttl < 65", true},
	        {"ip.ttl < 64", false},
	        {"ip.ttl > 63", true},
	        {"ip.ttl > 64", false},
	        {"ip.ttl <= 64", true},
	        {"ip.ttl <= 63", false},
	        {"ip.ttl >= 64", true},
	        {"ip.ttl >= 65", false},
	        {"ip.ttl&0x0f = 0", true},
	        {"ip.ttl & 0xf0 = 0x40", true},
	        {"ip.ttl&0xf0<0x40", false},
	        {"ip.src = 192.0.2.0", true},
	        {"ip.src = 192.0.0.0/16", true},
	        {"ip.src = 192.0.0.0/23", false},
	        {"ip.src != 192.0.0.0/16", false},
	        {"ip.src = 0.0.0.0/0", true},
	        {"ip.dst >= 198.0.0.0", true},
	        {"ip.dst = 198.51.100.7/32", true},
	        {"eth.src = 02:00:00:00:00:02", true},
	        {"eth.src = 02:00:00:00:00:03", false},
	        {"eth.dst&1 = 1", true},
	        {"eth.type = 0x0800", true},
	        {"tcp.dport = 80 tcp.sport = 1000", true},
	        {"tcp.dport = 80 tcp.sport = 1001", false},
	        {"tcp.flags&0x02 = 2", false},
	        {"tcp.flags&0x10 = 0x10", true},
	        {"udp.dport = 80", false},
	        {"vlan.id = 0", false},
	        {"ip6.hop-limit = 64", false},
	        {"icmp.type != 9", false},
	        {"ip+8:1 = 64 ip+12:4 = 192.0.2.0", true},
	        {"transport+2:2 = 80", true},
	        {"network+0:1 = 0x45", true},
	        {"frame+12:2 = 0x800", true},
	        {"ip.ttl = ip+8:1", true},
	        {"ip.ttl < tcp.dport", true},
	        {"ip.ttl > tcp.dport", false},
	        {"tcp.dport <= ip.ttl", false},
	        {"tcp.dport >= ip.ttl ip.id != ip.ttl", true},
	        {"ip.ttl = udp.sport", false},
	        {"payload+39:1 = 0", true},
	        {"payload+40:1 = 0", false}, /* behind the end */
	        {"payload+39:2 >= 0", false},
	};
	struct out out;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char rule[160];

		snprintf(rule, sizeof(rule), "rewrite match %s set ip.id 77", rows[i].match);
		if (shape_through(rule, TCP4, &out) != rows[i].holds)
			fail_msg("%s", rows[i].match);
	}
}

static void layers_are_seen_through_tags_options_and_extension_headers(void **state)
{
	static const struct {
		const char *rule;
		struct frame_shape shape;
		bool changes;
	} rows[] = {
	        {"match udp.dport = 80 set udp.dport 81",
	         {.ip = 6, .protocol = FRAME_UDP, .n_tags = 2, .n_extensions = 16},
	         true},
	        {"match vlan.id = 100 vlan2.id = 101 set vlan2.priority 0",
	         {.ip = 4, .protocol = FRAME_TCP, .n_tags = 2},
	         true},
	        {"match vlan2.id >= 0 set vlan.priority 0",
	         {.ip = 4, .protocol = FRAME_TCP, .n_tags = 1},
	         false},
	        {"match tcp.dport = 80 set payload+0:8 1",
	         {.ip = 4, .protocol = FRAME_TCP, .option_words = 10, .payload_bytes = 8},
	         true},
	        {"match tcp.dport = 80 set payload+0:8 1",
	         {.ip = 4, .protocol = FRAME_TCP, .option_words = 10, .payload_bytes = 7},
	         false},
	        {"match icmp.type = 128 set icmp.code 1",
	         {.ip = 6, .protocol = FRAME_ICMPV6, .n_extensions = 2},
	         true},
	        {"set tcp.sport 1",
	         {.ip = 4, .protocol = FRAME_TCP, .fragment = 8, .payload_bytes = 80},
	         false},
	        {"set payload+0:1 1",
	         {.ip = 6, .protocol = FRAME_UDP, .fragment = 8, .payload_bytes = 80},
	         false},
	        {"match ip.option1+0:1 = 1 set ip.ttl 1",
	         {.ip = 4, .protocol = FRAME_TCP, .option_words = 1},
	         true},
	        {"match ip.option1+0:1 = 1 set ip.ttl 1", {.ip = 4, .protocol = FRAME_TCP}, false},
	        {"match ip.option25+0:1 = 25 set ip.ttl 1",
	         {.ip = 4, .protocol = FRAME_TCP, .option_words = 1},
	         false},
	        {"match transport+0:1 >= 0 set payload+0:2 9",
	         {.ip = 4, .protocol = 253, .payload_bytes = 8},
	         true},
	};
	struct out out;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char rule[160];

		snprintf(rule, sizeof(rule), "rewrite %s", rows[i].rule);
		if (shape_through(rule, &rows[i].shape, &out) != rows[i].changes)
			fail_msg("row %zu: %s", i, rows[i].rule);
	}
}

/* ---- writing ---- */

static void set_min_max_and_add_compute_what_they_say(void **state)
{
	static const struct {
		const char *actions;
		uint32_t ttl, id; /* 64 and 0 before */
	} rows[] = {
	        {"set ip.ttl 7", 7, 0},
	        {"min ip.ttl 63", 63, 0},
	        {"min ip.ttl 65", 64, 0},
	        {"max ip.ttl 63", 64, 0},
	        {"max ip.ttl 65", 65, 0},
	        {"add ip.ttl 1", 65, 0},
	        {"add ip.ttl -1", 63, 0},
	        {"add ip.ttl 192", 0, 0},
	        {"add ip.ttl -65", 255, 0},
	        {"add ip.id -1", 64, 65535},
	        {"set ip.ttl 5 ip.id ip.ttl add ip.id 3", 5, 8}, /* from left to right */
	        {"set ip.ttl&0x0f 0x05", 0x45, 0},
	        {"set ip.ttl&0xf0 0x10", 0x10, 0},
	        {"min ip.ttl&0xf0 0x30 max ip.ttl&0x0f 2", 0x32, 0},
	        {"add ip.ttl&0xf0 0xd0", 0x10, 0},
	        {"set ip.ttl 0x4f add ip.ttl&0x0f 2", 0x41, 0}, /* no carry into other bits */
	        {"add ip.ttl&0xf0 -0x10", 0x30, 0},
	        {"set ip.id&0x00ff ip.ttl", 64, 64},
	        {"max ip.id ip.ttl add ip.id ip.id", 64, 128},
	        {"set ip+4:2 0x1234 ip+4:1 0xff", 64, 0xff34},
	};
	struct out out;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char rule[160];

		snprintf(rule, sizeof(rule), "rewrite %s", rows[i].actions);
		shape_through(rule, TCP4, &out);
		if (out.data[22] != rows[i].ttl || bytes_at(out.data, 18, 2) != rows[i].id ||
		    frame_wrong_sums(out.data, TCP4))
			fail_msg("%s: TTL %u, id %" PRIu64, rows[i].actions, out.data[22],
			         bytes_at(out.data, 18, 2));
	}
}

/* 2,000 draws of 10 values: each value is missed with a probability of 0.9^2000 < 1e-91. */
static void random_values_fill_their_range_and_no_more(void **state)
{
	struct out out;
	struct trial *trial =
	        start("rewrite random ip.ttl 11..20 random ip.id&0x00f0 random tcp.seq", &out);
	uint32_t ttls = 0, ids = 0, differences = 0;
	uint64_t sequence = 0;
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, TCP4);

	(void)state;
	for (int i = 0; i < 2000; i++) {
		trial_send_frame(trial, frame, bytes);
		assert_in_range(out.data[22], 11, 20);
		ttls |= 1u << (out.data[22] - 11);
		assert_int_equal(bytes_at(out.data, 18, 2) & 0xff0f, 0);
		ids |= 1u << (out.data[19] >> 4);
		differences += bytes_at(out.data, 38, 4) != sequence;
		sequence = bytes_at(out.data, 38, 4);
		assert_int_equal(frame_wrong_sums(out.data, TCP4), 0);
	}
	assert_int_equal(ttls, 0x3ff);
	assert_int_equal(ids, 0xffff);
	assert_true(differences > 1990);
	trial_close(trial);
}

static void a_rule_acts_as_a_whole_or_not_at_all(void **state)
{
	static const char *const rules[] = {
	        "rewrite set ip.ttl 1 payload+33:8 1", /* one byte too far */
	        "rewrite set ip.ttl 1 udp.sport 9",
	        "rewrite set ip.ttl udp.sport+0:1",
	        "rewrite set ip.ttl 1 set ip.id vlan.id",
	        "rewrite match payload+36:4 = 0 payload+37:4 >= 0 set ip.ttl 1",
	};
	struct out out;

	(void)state;
	for (size_t i = 0; i < LENGTH(rules); i++) {
		if (i != 2)
			assert_false(shape_through(rules[i], TCP4, &out));
	}
	assert_true(shape_through("rewrite set ip.ttl 1 payload+32:8 1", TCP4, &out));
}

static void padding_behind_the_ip_packet_stays(void **state)
{
	static const struct frame_shape padded = {
	        .ip = 4, .protocol = FRAME_UDP, .payload_bytes = 4, .padding_bytes = 14};
	struct out out;

	(void)state;
	assert_false(shape_through("rewrite set payload+4:1 1", &padded, &out));
	assert_false(shape_through("rewrite set ip+32:1 1", &padded, &out));
	assert_false(shape_through("rewrite set network+32:1 1", &padded, &out));
	assert_true(shape_through("rewrite set payload+0:4 1 ip.src 1.2.3.4", &padded, &out));
	for (uint32_t i = 46; i < 60; i++)
		assert_int_equal(out.data[i], 0xee);
	/* A place in the whole frame may include padding, which no checksum covers. */
	assert_true(shape_through("rewrite set frame+50:8 1", &padded, &out));
	assert_int_equal(frame_wrong_sums(out.data, &padded), 0);
}

/* ---- checksums ---- */

static void a_udp_checksum_of_zero_stays_and_none_becomes_zero(void **state)
{
	struct frame_shape none = *UDP4;
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, UDP4), port;
	struct out out;
	char rule[64];

	(void)state;
	none.no_sum = true;
	shape_through("rewrite set ip.src 9.9.9.9 udp.dport 9 payload+0:8 9", &none, &out);
	assert_int_equal(bytes_at(out.data, 40, 2), 0);
	/* The port that makes the sum 0xffff: the old port plus the checksum. */
	port = (uint32_t)(bytes_at(frame, 34, 2) + bytes_at(frame, 40, 2));
	port = (port & 0xffff) + (port >> 16);
	snprintf(rule, sizeof(rule), "rewrite set udp.sport %u", port);
	assert_true(send_through(rule, frame, bytes, &out));
	assert_int_equal(bytes_at(out.data, 40, 2), 0xffff);
	assert_int_equal(frame_wrong_sums(out.data, UDP4), 0);
}

/* The pseudo-header has the last address of a routing header that has segments left. */
static void the_destination_of_a_source_routed_packet_is_in_no_checksum(void **state)
{
	static const struct frame_shape shape = {
	        .ip = 6, .protocol = FRAME_TCP, .n_extensions = 3, .payload_bytes = 9};
	uint32_t sum = frame_transport(&shape) + 16, bytes;
	uint8_t frame[FRAME_BYTES_MAX];
	struct out out;

	(void)state;
	bytes = frame_make(frame, &shape);
	frame[14 + 40 + 8 + 3] = 1; /* segments left */
	assert_true(send_through("rewrite set ip6.dst 2001:db8:1::1", frame, bytes, &out));
	assert_memory_equal(out.data + sum, frame + sum, 2);
	assert_true(send_through("rewrite set ip6.src 2001:db8:1::1", frame, bytes, &out));
	assert_memory_not_equal(out.data + sum, frame + sum, 2);
	frame[14 + 40 + 8 + 3] = 0;
	assert_true(send_through("rewrite set ip6.dst 2001:db8:1::1", frame, bytes, &out));
	assert_int_equal(frame_wrong_sums(out.data, &shape), 0);
}

static void of_fragments_the_first_has_its_transport_checksum_changed(void **state)
{
	static const struct frame_shape later = {
	        .ip = 4, .protocol = FRAME_TCP, .fragment = 4, .payload_bytes = 100};
	uint8_t frame[FRAME_BYTES_MAX];
	struct out out;

	(void)state;
	/* More fragments follow: the checksum covers all of them, and is updated in the first one,
	 * too. */
	shape_through("rewrite set ip.mf 1 ip.src 1.2.3.4 tcp.dport 9", TCP4, &out);
	assert_int_equal(frame_wrong_sums(out.data, TCP4), 0);
	assert_int_equal(bytes_at(out.data, 20, 2), 0x2000);
	frame_make(frame, &later);
	assert_true(shape_through("rewrite set ip.src 1.2.3.4", &later, &out));
	assert_int_equal(frame_wrong_sums(out.data, &later), 0);
	assert_memory_equal(out.data + 34, frame + 34, 100);
}

/* Writes a part of a random rule that fits most frames: any bytes, also at odd offsets. */
static int some_action(char *text, size_t room, struct draw_key key, uint64_t round, uint32_t lane)
{
	static const char *const layers[] = {"ip",      "ip6",     "transport",
	                                     "payload", "network", "frame"};
	static const char *const operations[] = {"set", "add", "max", "min"};
	uint64_t draw = draw_u64(key, round, lane), value = draw_u64(key, round, lane + 1);
	uint32_t layer = (uint32_t)(draw >> 16) % 6,
	         width = 1u << (draw >> 8 & (layer == 2 ? 1 : 3));
	/* neither the fields that determine places, nor checksums */
	uint32_t offset = layer == 0 || layer == 4 ? 12 : layer == 1 ? 8 : layer == 5 ? 54 : 0;
	uint32_t range = layer == 0 || layer == 4 ? 9 - width
	                 : layer == 1             ? 33 - width
	                 : layer == 2             ? 3 - width
	                                          : 15;

	if (layer == 5)
		layer = 3;
	offset = layer == 3 ? (uint32_t)(draw >> 32) % 20 : offset + (uint32_t)(draw >> 32) % range;
	return snprintf(text, room, " %s %s+%u:%u 0x%" PRIx64, operations[draw & 3], layers[layer],
	                offset, width, value >> (64 - 8 * width));
}

/* 3,000 random rules, each on a random packet, and every checksum computed anew. */
static void random_rules_leave_random_packets_with_right_checksums(void **state)
{
	struct draw_key key = draw_key_make(3, "rewrite", "rules");
	uint32_t changed = 0;

	(void)state;
	for (uint64_t round = 0; round < 3000; round++) {
		uint64_t draw = draw_u64(key, round, 0);
		struct frame_shape shape = shapes[draw % LENGTH(shapes)];
		char rule[512] = "rewrite";
		int n = (int)strlen(rule);
		struct out out;

		shape.payload_bytes += (uint32_t)(draw >> 32) % 50;
		shape.sequence = (uint32_t)(draw >> 8);
		shape.host = (uint8_t)(draw >> 16);
		for (uint32_t i = 0; i <= (draw >> 60) % 4; i++)
			n += some_action(rule + n, sizeof(rule) - (size_t)n, key, round, 2 + 2 * i);
		changed += shape_through(rule, &shape, &out);
		if (frame_wrong_sums(out.data, &shape))
			fail_msg("round %" PRIu64 ": %s: %u", round, rule,
			         frame_wrong_sums(out.data, &shape));
	}
	assert_in_range(changed, 500, 2900);
}

/* For the first rule, the checksums of its places are determined when it is made; for the second,
 * for each packet. */
static void a_rule_that_might_move_layers_leaves_the_same_checksums_as_one_that_cannot(void **state)
{
	struct draw_key key = draw_key_make(4, "rewrite", "summed");
	uint32_t changed = 0;

	(void)state;
	for (uint64_t round = 0; round < 4000; round++) {
		uint64_t draw = draw_u64(key, round, 0);
		const struct frame_shape *shape = &shapes[draw % LENGTH(shapes)];
		const struct rewrite_field *field = rewrite_fields;
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(frame, shape);
		struct out plain, asked;
		char rule[160];

		for (uint64_t i = (draw >> 8) % 80; i > 0; i--)
			field = field[1].name && field[1].place[1].width == 0 ? field + 1
			                                                      : rewrite_fields;
		/* One in four frames has a damaged byte. */
		if (draw >> 62 == 0)
			frame[14 + (draw >> 16) % (bytes - 14)] ^= (uint8_t)(draw >> 24);
		snprintf(rule, sizeof(rule), "rewrite set %s %" PRIu64, field->name,
		         draw_u64(key, round, 1) & rewrite_place_max(&field->place[0]));
		changed += send_through(rule, frame, bytes, &plain);
		/* The Ethertype is set to itself. */
		strcat(rule, " set frame+12:2 frame+12:2");
		send_through(rule, frame, bytes, &asked);
		if (plain.bytes != asked.bytes || memcmp(plain.data, asked.data, bytes) != 0)
			fail_msg("round %" PRIu64 ": %s", round, rule);
	}
	assert_in_range(changed, 1000, 3500);
}

/* ---- captures, segments, sharing ---- */

/* A rule that sets a part of one word takes a short path; behind a comparison that always holds, it
 * does not. */
static void the_short_way_of_one_word_does_what_the_long_way_does(void **state)
{
	static const char *const fields[] = {"ip.dscp", "ip.ecn", "ip.tos", "ip.ttl", "ip.id",
	                                     "ip+6:1",  "ip+7:1", "ip+5:1", "ip+6:2"};
	static const uint16_t words[] = {0, 1, 0xff, 0x100, 0x4001, 0xff00, 0xfffe, 0xffff};
	struct draw_key key = draw_key_make(1, "word", "chance");
	uint64_t changed = 0;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t dice = draw_u64(key, i, 0);
		const char *field = fields[dice % LENGTH(fields)];
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(frame, i % 2 ? TCP4 : &shapes[dice >> 8 & 3]);
		uint8_t *ip = frame +
		              (i % 2 ? frame_network(TCP4) : frame_network(&shapes[dice >> 8 & 3]));
		uint32_t value =
		        strcmp(field, "ip.id") == 0 || strchr(field, '2')
		                ? words[dice >> 16 & 7] & (field[3] == '6' ? 0x6000 : 0xffff)
		                : (uint32_t)(dice >> 24 & 3);
		struct out direct, around;
		char rule[80];

		headers_put_u16(ip + 4, words[dice >> 32 & 7]);
		headers_put_u16(ip + 10, words[dice >> 40 & 7]);
		snprintf(rule, sizeof(rule), "rewrite set %s %u", field, value);
		changed += send_through(rule, frame, bytes, &direct);
		snprintf(rule, sizeof(rule), "rewrite match frame+0:1 >= 0 set %s %u", field,
		         value);
		send_through(rule, frame, bytes, &around);
		assert_int_equal(direct.bytes, around.bytes);
		assert_memory_equal(direct.data, around.data, direct.bytes);
	}
	assert_true(changed > 10000);
}

static void of_a_burst_the_usual_and_the_others_are_written_alike(void **state)
{
	static const uint16_t bursts[] = {1, 5, 32};
	uint64_t first = 0;

	(void)state;
	for (size_t b = 0; b < LENGTH(bursts); b++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 5});
		struct rte_mbuf *mbufs[BURST_MAX];
		struct draw_key key = draw_key_make(1, "burst", "chance");
		uint64_t hash = 0;
		uint16_t n = 0;

		rig_cloud(rig, "x", 0, 1);
		rig_put(rig, "x", trial_conf("rewrite set ip.dscp 46"));
		rig_apply(rig, 0);
		for (uint32_t i = 0; i < 1600; i++) {
			uint64_t dice = draw_u64(key, i, 0);
			const struct frame_shape *shape =
			        dice & 7 ? TCP4 : &shapes[(dice >> 8) % LENGTH(shapes)];
			uint8_t frame[FRAME_BYTES_MAX];
			uint32_t bytes = frame_make(frame, shape);
			uint8_t *ip = frame + frame_network(shape);

			/* Some packets have the value already, some have checksums at the ends of
			 * the range. */
			if (shape->ip == 4 && dice >> 16 & 1)
				ip[1] = 46 << 2;
			if (shape->ip == 4 && dice >> 17 & 1)
				headers_put_u16(ip + 10, dice >> 18 & 1 ? 0xffff : dice >> 19 & 1);
			mbufs[n] = rig_packet(rig, dice >> 20 & 15 ? RIG_PLAIN : RIG_SHARED, 0,
			                      i + 1, bytes, 0, i / 160 + 1);
			memcpy(rte_pktmbuf_mtod(mbufs[n], void *), frame, bytes);
			if (++n < bursts[b])
				continue;
			rig_ingress(rig, mbufs, n);
			rig_advance(rig, i / 160 + 1);
			n = 0;
		}
		assert_int_equal(rig->n_departures, 1600);
		for (uint32_t i = 0; i < 1600; i++)
			hash = (hash ^ rig->departures[i].digest) * UINT64_C(0x100000001b3);
		hash ^= rig_report(rig, "x")->counters.rewritten;
		if (b == 0)
			first = hash;
		assert_int_equal(hash, first);
		rig_close(rig);
	}
}

static void a_cut_capture_has_the_same_bytes_as_the_whole_as_far_as_it_goes(void **state)
{
	static const char rule[] = "rewrite set ip.src 9.8.7.6 udp.dport 53";
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, UDP4);
	struct out whole, out;

	(void)state;
	send_through(rule, frame, bytes, &whole);
	for (uint32_t cut = 1; cut < bytes; cut++) {
		struct trial *trial = start(rule, &out);

		trial->wire_bytes = bytes;
		trial_send_frame(trial, frame, cut);
		/* Ethernet, IP and ports must be present; if the checksum is present, it is
		 * right. */
		assert_memory_equal(out.data, cut < 38 ? frame : whole.data,
		                    cut < 42 ? RTE_MIN(cut, 40u) : cut);
		assert_int_equal(trial_counters(trial)->rewritten, cut >= 38);
		trial_close(trial);
	}
}

static void a_write_beyond_what_was_captured_does_not_happen(void **state)
{
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, UDP4);
	struct out out;

	(void)state;
	for (uint32_t cut = 43; cut < bytes; cut++) {
		struct trial *trial = start("rewrite set payload+10:8 0x1122334455667788", &out);

		trial->wire_bytes = bytes;
		trial_send_frame(trial, frame, cut);
		assert_int_equal(trial_counters(trial)->rewritten, cut >= 42 + 18);
		assert_int_equal(memcmp(out.data, frame, cut) == 0, cut < 42 + 18);
		trial_close(trial);
	}
}

/* Other owners of the mbufs see no change: rig_close compares shared bytes. */
static void assert_same_in_every_shape(const char *rule)
{
	static const struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_UDP, .n_tags = 1, .payload_bytes = 600};
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &shape);
	struct out plain, out;

	assert_true(send_through(rule, frame, bytes, &plain));
	assert_int_equal(frame_wrong_sums(plain.data, &shape), 0);
	for (enum rig_shape how = RIG_PLAIN; how < RIG_SHAPES; how++) {
		struct trial *trial = start(rule, &out);

		trial->shape = how;
		trial_send_frame(trial, frame, bytes);
		assert_int_equal(out.bytes, bytes);
		assert_memory_equal(out.data, plain.data, bytes);
		for (uint32_t i = 0; i < trial->rig->n_shared; i++)
			assert_memory_equal(rte_pktmbuf_mtod(trial->rig->shared[i], uint8_t *),
			                    frame, bytes);
		trial_close(trial);
	}
}

static void segments_and_shared_mbufs_come_out_as_plain_ones(void **state)
{
	(void)state;
	assert_same_in_every_shape("rewrite match udp.dport = 80 set ip.src 1.2.3.4 payload+166:8 "
	                           "0x0102030405060708 payload+380:4 7 add payload+599:1 1");
	assert_same_in_every_shape("rewrite set ip.ttl 17");
}

static void all_byte_positions_of_segments_are_written_alike(void **state)
{
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, UDP4);

	(void)state;
	for (uint32_t at = 0; at + 8 <= 40; at++) {
		struct out plain, out;
		struct trial *trial;
		char rule[80];

		snprintf(rule, sizeof(rule), "rewrite set frame+%u:8 0x1122334455667788", 42 + at);
		send_through(rule, frame, bytes, &plain);
		trial = start(rule, &out);
		trial->shape = RIG_SEGMENTED;
		trial_send_frame(trial, frame, bytes);
		/* The headers are in two segments here: IP is not found, so the checksum is not
		 * updated. */
		memcpy(plain.data + 40, out.data + 40, 2);
		assert_memory_equal(out.data, plain.data, bytes);
		trial_close(trial);
	}
}

static void runts_and_strangers_pass_untouched(void **state)
{
	static const char rule[] = "rewrite add ip.ttl -1 set tcp.dport 9";
	uint8_t frame[FRAME_BYTES_MAX] = {0};
	struct out out;

	(void)state;
	for (uint32_t bytes = 1; bytes < 60; bytes++)
		assert_false(send_through(rule, frame, bytes, &out));
	frame_make(frame, TCP4);
	frame[13] = 0x06; /* ARP */
	assert_false(send_through(rule, frame, 94, &out));
}

/* ---- several rules ---- */

static void rules_act_in_the_order_of_their_numbers_on_what_the_others_left(void **state)
{
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, TCP4);
	struct out out;
	struct trial *trial = start("rewrite 20 match ip.ttl = 7 set ip.ttl 8", &out);

	(void)state;
	trial_set(trial, "rewrite 3 match ip.ttl = 64 set ip.ttl 7");
	trial_set(trial, "rewrite 100 match ip.ttl = 8 set ip.id 5");
	trial_send_frame(trial, frame, bytes);
	assert_int_equal(out.data[22], 8);
	assert_int_equal(bytes_at(out.data, 18, 2), 5);
	assert_int_equal(trial_counters(trial)->rewritten, 1);
	trial_set(trial, "rewrite 20 match ip.ttl = 7 set ip.ttl 9"); /* replaces the old rule */
	trial_send_frame(trial, frame, bytes);
	assert_int_equal(out.data[22], 9);
	assert_int_equal(bytes_at(out.data, 18, 2), 0);
	assert_int_equal(cloud_conf_remove_number(trial->rig->scenario->clouds[0], "rewrite", 3),
	                 0);
	trial_set(trial, "rewrite set tcp.window 1"); /* without a number: 1 */
	trial_send_frame(trial, frame, bytes);
	assert_int_equal(out.data[22], 64);
	assert_int_equal(bytes_at(out.data, 48, 2), 1);
	assert_int_equal(frame_wrong_sums(out.data, TCP4), 0);
	trial_close(trial);
}

/* When a rule has moved the layers, their places are found again. */
static void a_later_rule_sees_the_layers_as_an_earlier_one_left_them(void **state)
{
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, TCP4);
	struct out out;
	struct trial *trial = start("rewrite 1 set ip.protocol 17", &out);

	(void)state;
	trial_set(trial, "rewrite 2 match tcp.dport = 80 set ip.ttl 1");
	trial_set(trial, "rewrite 3 match udp.dport = 80 set ip.ttl 2");
	trial_send_frame(trial, frame, bytes);
	assert_int_equal(out.data[22], 2);
	trial_set(trial, "rewrite 1 set eth.type 0x1234");
	trial_send_frame(trial, frame, bytes);
	assert_int_equal(out.data[22], 64);
	trial_set(trial, "rewrite 1 set network+0:1 0x46");
	trial_set(trial, "rewrite 2 match ip+0:1 = 0x46 set ip.ttl 3");
	trial_send_frame(trial, frame, bytes);
	assert_int_equal(out.data[22], 3);
	trial_close(trial);
}

static void the_draws_of_a_rule_do_not_depend_on_other_rules(void **state)
{
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, TCP4);
	struct out out;
	struct trial *trial = start("rewrite 7 random tcp.seq", &out);
	struct trial *other = start("rewrite 7 random tcp.seq", &out);

	(void)state;
	trial_set(other, "rewrite 2 random tcp.ack random ip.id");
	for (int i = 0; i < 100; i++) {
		uint64_t sequence;

		trial_send_frame(trial, frame, bytes);
		sequence = bytes_at(out.data, 38, 4);
		trial_send_frame(other, frame, bytes);
		assert_int_equal(bytes_at(out.data, 38, 4), sequence);
	}
	trial_close(trial);
	trial_close(other);
}

struct hash {
	uint64_t value;
};

static void add_to_hash(void *argument, struct rte_mbuf *mbuf)
{
	struct hash *hash = argument;

	for (uint32_t i = 0; i < mbuf->data_len; i++)
		hash->value = (hash->value ^ rte_pktmbuf_mtod(mbuf, uint8_t *)[i]) *
		              UINT64_C(0x100000001b3);
}

static void the_size_of_bursts_does_not_matter(void **state)
{
	static const uint16_t bursts[] = {1, 7, 32};
	uint64_t first = 0;

	(void)state;
	for (size_t i = 0; i < LENGTH(bursts); i++) {
		struct trial *trial = trial_open("rewrite match frame+8:1 < 0x80 random frame+20:4 "
		                                 "random frame+30:2 5..900",
		                                 42);
		struct hash hash = {0};

		trial->burst = bursts[i];
		trial->look = add_to_hash;
		trial->argument = &hash;
		trial_send(trial, 3000, 90);
		if (i == 0)
			first = hash.value;
		assert_int_equal(hash.value, first);
		assert_in_range(trial_counters(trial)->rewritten, 1000, 2999);
		trial_close(trial);
	}
}

/* ---- the language ---- */

static void what_is_wrong_is_said_at_the_word(void **state)
{
	static const struct {
		const char *rule,
		        *message; /* its beginning: column, and the rest of the sentence */
	} rows[] = {
	        {"set ip.ttll 3",
	         "24: cloud `x`, `rewrite 1`: unknown field `ip.ttll`; did you mean `ip.ttl`?"},
	        {"match  ip.ttl =  256 set ip.ttl 1",
	         "37: cloud `x`, `rewrite 1`: `256` does not fit"},
	        {"match ip.ttl=256 set ip.ttl 1", "33: cloud `x`, `rewrite 1`: `256` does not fit"},
	        {"7 match ip.ttl = 5", "39: cloud `x`, `rewrite 7`: the rule does nothing"},
	        {"match ip.ttl set ip.ttl 3",
	         "33: cloud `x`, `rewrite 1`: a comparison must follow `ip.ttl`"},
	        {"match ip.ttl = 3 ip.id == 4 set ip.ttl 3",
	         "43: cloud `x`, `rewrite 1`: a comparison must follow `ip.id`"},
	        {"set ip.ttl", "31: cloud `x`, `rewrite 1`: the rule ends where a value"},
	        {"set ip.ttl = 5", "31: cloud `x`, `rewrite 1`: write the value without a sign"},
	        {"set ip.ttl -5", "31: cloud `x`, `rewrite 1`: `-5` is negative; only `add`"},
	        {"set ip.ttl 1.2.3.4", "31: cloud `x`, `rewrite 1`: `1.2.3.4` is an IPv4 address"},
	        {"set eth.src 1.2.3.4", "32: cloud `x`, `rewrite 1`: `1.2.3.4` is an IPv4 address"},
	        {"set ip.src 1.2.3", "31: cloud `x`, `rewrite 1`: `1.2.3` is not a value"},
	        {"set ip.src 1.2.3.0/24",
	         "31: cloud `x`, `rewrite 1`: a prefix can only be compared;"},
	        {"match ip.src < 1.0.0.0/8 set ip.ttl 1",
	         "35: cloud `x`, `rewrite 1`: a prefix can only be compared with"},
	        {"set ip.ttl&0x100 0", "31: cloud `x`, `rewrite 1`: the mask `0x100` does not fit"},
	        {"set ip.ttl&0 0", "31: cloud `x`, `rewrite 1`: the mask `0` does not fit"},
	        {"set ip.ttl&2 1",
	         "33: cloud `x`, `rewrite 1`: `1` has bits outside of the mask 0x2"},
	        {"set ip+8:3 1", "24: cloud `x`, `rewrite 1`: `ip+8:3` is not a field"},
	        {"set ip+65536:1 1", "24: cloud `x`, `rewrite 1`: `ip+65536:1` is not a field"},
	        {"set sctp+0:2 1", "24: cloud `x`, `rewrite 1`: unknown layer `sctp`"},
	        {"set ip.option256+2:1 1",
	         "24: cloud `x`, `rewrite 1`: `ip.option256+2:1`: the type"},
	        {"set ip.option+2:1 1",
	         "24: cloud `x`, `rewrite 1`: `ip.option+2:1` lacks the type"},
	        {"set ip.ttl udp.sport",
	         "31: cloud `x`, `rewrite 1`: `udp.sport` does not fit `ip.ttl`"},
	        {"set ip6.src ip.src", "32: cloud `x`, `rewrite 1`: `ip6.src` and `ip.src` differ"},
	        {"set ip6.src 5",
	         "32: cloud `x`, `rewrite 1`: `ip6.src` is an IPv6 address; `5` is not"},
	        {"match ip6.src > 2001:db8:: set ip.ttl 1",
	         "34: cloud `x`, `rewrite 1`: `ip6.src` can only be compared"},
	        {"random ip.ttl 9..3", "34: cloud `x`, `rewrite 1`: the range `9..3` goes down;"},
	        {"random ip.ttl 9..256",
	         "34: cloud `x`, `rewrite 1`: the range `9..256` does not fit"},
	        {"random ip.ttl 5", "34: cloud `x`, `rewrite 1`: `5` is not a range"},
	        {"random ip.ttl&3 0..1", "36: cloud `x`, `rewrite 1`: under a mask"},
	        {"set ip.ttl 1 match ip.ttl = 3",
	         "33: cloud `x`, `rewrite 1`: `match` comes first"},
	        {"drop ip.ttl", "20: cloud `x`, `rewrite 1`: unknown word `drop`"},
	        {"set \"ip.ttl\" 3", "24: cloud `x`, `rewrite 1`: quotes are not allowed"},
	        {"0 set ip.ttl 3", "20: number `0` is out of range; it goes from 1 to 65535"},
	        {"65536 set ip.ttl 3", "20: number `65536` is out of range"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char text[256], message[SCENARIO_FILE_ERROR], expected[256];
		struct scenario *scenario;
		int n = snprintf(text, sizeof(text),
		                 "port a\nport b\ncloud x from a to b\ncloud   x  "
		                 "rewrite %s\n",
		                 rows[i].rule);

		assert_int_not_equal(scenario_text_load(text, (size_t)n, "f", &scenario, message,
		                                        sizeof(message)),
		                     0);
		snprintf(expected, sizeof(expected), "f:4:%s", rows[i].message);
		if (strncmp(message, expected, strlen(expected)) != 0)
			fail_msg("%s: %s", rows[i].rule, message);
	}
}

static void a_rule_of_more_than_32_steps_is_refused(void **state)
{
	char rule[1024] = "rewrite set";

	(void)state;
	for (int i = 0; i < 32; i++)
		strcat(rule, " ip.ttl 1");
	assert_string_equal(trial_problem(rule), "");
	strcat(rule, " ip.ttl 1");
	assert_memory_equal(trial_problem(rule), "a rule has at most 32", 21);
}

static void edit(struct scenario *scenario, const char *line, const char *complaint)
{
	static struct command command;
	struct language_error error = {.text = ""};
	int result = language_parse(line, &command, &error);

	if (result == 0) {
		result = language_edit(scenario, &command, &error);
		language_release(&command);
	}
	assert_int_equal(result != 0, complaint != NULL);
	if (complaint)
		assert_string_equal(error.text, complaint);
}

static void numbered_rules_are_printed_replaced_and_removed_one_by_one(void **state)
{
	struct scenario *scenario = scenario_make();
	char *text;

	(void)state;
	edit(scenario, "port a", NULL);
	edit(scenario, "port b", NULL);
	edit(scenario, "cloud x from a to b", NULL);
	edit(scenario, "cloud x rewrite 30 set   ip.ttl 3", NULL);
	edit(scenario, "cloud x delay 1ms", NULL);
	edit(scenario, "cloud x rewrite set ip.ttl 1", NULL);
	edit(scenario, "cloud x rewrite 2 set ip.ttl 2", NULL);
	edit(scenario, "cloud x rewrite 1 set ip.ttl 4", NULL);
	text = scenario_text(scenario);
	assert_string_equal(text, "port a\nport b\ncloud x from a to b\n"
	                          "cloud x rewrite 1 set ip.ttl 4\n"
	                          "cloud x rewrite 2 set ip.ttl 2\n"
	                          "cloud x rewrite 30 set ip.ttl 3\n"
	                          "cloud x delay 1ms\n");
	free(text);
	edit(scenario, "no cloud x rewrite 3",
	     "cloud `x` has no `rewrite 3`; it has `1`, `2` and `30`");
	edit(scenario, "no cloud x rewrite 2", NULL);
	edit(scenario, "no cloud x rewrite two", "`two` is too much; the line ends before it");
	edit(scenario, "no cloud x delay 1", "`1` is too much; `delay` is not numbered");
	edit(scenario, "no cloud x rewrite", NULL);
	edit(scenario, "no cloud x rewrite", "cloud `x` has no `rewrite`; it has `delay`");
	scenario_free(scenario);
}

/* ---- applications ---- */

/* RFC 4782, section 3.1: option 25, length 8, function and rate, QS TTL, nonce. */
static void a_router_of_quick_start_is_a_rule(void **state)
{
	static const struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_TCP, .option_words = 2, .payload_bytes = 5};
	static const uint8_t option[8] = {25, 8, 0x09, 200, 1, 2, 3, 4};
	static const char rule[] = "rewrite match ip.option25+1:1 = 8 ip.option25+2:1&0xf0 = 0 "
	                           "min ip.option25+2:1&0x0f 7 add ip.option25+3:1 -1 ip.ttl -1";
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &shape);
	struct out out, ready;
	char place[64];

	(void)state;
	/* The rule writes the option over the padding, so that the checksum is right. */
	snprintf(place, sizeof(place), "rewrite set ip+20:8 0x190809c801020304");
	send_through(place, frame, bytes, &ready);
	assert_memory_equal(ready.data + 34, option, 8);
	assert_int_equal(frame_wrong_sums(ready.data, &shape), 0);
	assert_true(send_through(rule, ready.data, bytes, &out));
	assert_int_equal(out.data[36], 0x07);
	assert_int_equal(out.data[37], 199);
	assert_int_equal(out.data[22], 63);
	assert_memory_equal(out.data + 38, option + 4, 4);
	assert_int_equal(frame_wrong_sums(out.data, &shape), 0);
	/* A report of the approved rate does not concern the router. */
	ready.data[36] = 0x89;
	assert_false(send_through(rule, ready.data, bytes, &out));
}

/* The emulator's own experiment, section 3.3: a pattern, a 4-byte and an 8-byte field of UDP. */
static void the_emulators_control_and_data_field_are_a_rule(void **state)
{
	struct out out;

	(void)state;
	assert_true(
	        shape_through("rewrite match udp.dport = 80 payload+0:4&0xff000000 = 0x12000000 "
	                      "payload+3:1 = ip.ttl set payload+4:4 1 payload+8:8 2",
	                      UDP4, &out) == false);
	assert_true(
	        shape_through("rewrite match udp.dport = 80 ip.ttl&0x7f < 100 set payload+4:4 1 "
	                      "payload+8:8 2",
	                      UDP4, &out));
	assert_int_equal(bytes_at(out.data, 46, 4), 1);
	assert_int_equal(bytes_at(out.data, 50, 8), 2);
	assert_int_equal(frame_wrong_sums(out.data, UDP4), 0);
}

GROUP(rewrite)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(
	                every_field_of_the_table_is_written_and_the_checksums_come_out_right),
	        cmocka_unit_test(a_checksum_that_is_written_itself_stays_as_written),
	        cmocka_unit_test(
	                a_protocol_that_is_changed_counts_in_the_checksum_of_the_transport),
	        cmocka_unit_test(whole_ipv6_addresses_are_compared_and_set),
	        cmocka_unit_test(an_ipv6_address_may_end_as_an_ipv4_address),
	        cmocka_unit_test(comparisons_are_of_the_bits_under_the_mask),
	        cmocka_unit_test(layers_are_seen_through_tags_options_and_extension_headers),
	        cmocka_unit_test(set_min_max_and_add_compute_what_they_say),
	        cmocka_unit_test(random_values_fill_their_range_and_no_more),
	        cmocka_unit_test(a_rule_acts_as_a_whole_or_not_at_all),
	        cmocka_unit_test(padding_behind_the_ip_packet_stays),
	        cmocka_unit_test(a_udp_checksum_of_zero_stays_and_none_becomes_zero),
	        cmocka_unit_test(the_destination_of_a_source_routed_packet_is_in_no_checksum),
	        cmocka_unit_test(of_fragments_the_first_has_its_transport_checksum_changed),
	        cmocka_unit_test(random_rules_leave_random_packets_with_right_checksums),
	        cmocka_unit_test(
	                a_rule_that_might_move_layers_leaves_the_same_checksums_as_one_that_cannot),
	        cmocka_unit_test(the_short_way_of_one_word_does_what_the_long_way_does),
	        cmocka_unit_test(of_a_burst_the_usual_and_the_others_are_written_alike),
	        cmocka_unit_test(a_cut_capture_has_the_same_bytes_as_the_whole_as_far_as_it_goes),
	        cmocka_unit_test(a_write_beyond_what_was_captured_does_not_happen),
	        cmocka_unit_test(segments_and_shared_mbufs_come_out_as_plain_ones),
	        cmocka_unit_test(all_byte_positions_of_segments_are_written_alike),
	        cmocka_unit_test(runts_and_strangers_pass_untouched),
	        cmocka_unit_test(rules_act_in_the_order_of_their_numbers_on_what_the_others_left),
	        cmocka_unit_test(a_later_rule_sees_the_layers_as_an_earlier_one_left_them),
	        cmocka_unit_test(the_draws_of_a_rule_do_not_depend_on_other_rules),
	        cmocka_unit_test(the_size_of_bursts_does_not_matter),
	        cmocka_unit_test(what_is_wrong_is_said_at_the_word),
	        cmocka_unit_test(a_rule_of_more_than_32_steps_is_refused),
	        cmocka_unit_test(numbered_rules_are_printed_replaced_and_removed_one_by_one),
	        cmocka_unit_test(a_router_of_quick_start_is_a_rule),
	        cmocka_unit_test(the_emulators_control_and_data_field_are_a_rule),
	};

	return cmocka_run_group_tests_name("rewrite", tests, common_setup, common_teardown);
}
