/* SPDX-License-Identifier: BSD-3-Clause */
/* A cloud that is a router: what it forwards, what it answers, and what it leaves alone. */
#include "runner/group.h"
#include "trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include "change/change.h"
#include "engine/cloud.h"
#include "engine/engine_state.h"
#include "frame.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "router/hop.h"
#include "seen.h"

#define HOP  "hop 192.0.2.1 2001:db8::99"
#define LEFT (FRAME_BYTES_MAX + 16)

/* ---- a rig whose packets are frames, and all departures ---- */

static struct rig *open_with(struct witness *witness)
{
	n_seen = 0;
	return rig_open(&(struct rig_setup){
	        .seed = 5, .witness = witness, .memory_bytes = UINT64_C(4) << 20});
}

static struct rig *open_hop(const char *statement)
{
	struct rig *rig = open_with(NULL);

	rig_cloud(rig, "x", 0, 1);
	rig_put(rig, "x", trial_conf(statement));
	rig_apply(rig, 0);
	return rig;
}

static struct rte_mbuf *packet_with(struct rig *rig, enum rig_shape shape, uint32_t port,
                                    const uint8_t *frame, uint32_t bytes, uint32_t wire_bytes,
                                    simtime t)
{
	struct rte_mbuf *mbuf = rig_packet(rig, shape, port, rig->sent + 1, bytes, wire_bytes, t);

	for (struct rte_mbuf *s = mbuf; s; s = s->next) {
		memcpy(rte_pktmbuf_mtod(s, void *), frame, s->data_len);
		frame += s->data_len;
	}
	return mbuf;
}

static void send_frame(struct rig *rig, uint32_t port, const uint8_t *frame, uint32_t bytes,
                       simtime t)
{
	struct rte_mbuf *mbuf = packet_with(rig, RIG_PLAIN, port, frame, bytes, 0, t);

	rig_ingress(rig, &mbuf, 1);
}

static const struct counters *counters(struct rig *rig)
{
	return &rig_report(rig, "x")->counters;
}

/* ---- frames ---- */

static void mend(uint8_t *ip)
{
	uint16_t sum;

	memset(ip + 10, 0, 2);
	sum = (uint16_t)~rte_raw_cksum(ip, (ip[0] & 0xfu) * 4);
	memcpy(ip + 10, &sum, 2);
}

static uint32_t frame_with_ttl(uint8_t *frame, const struct frame_shape *shape, uint8_t ttl)
{
	uint32_t bytes = frame_make(frame, shape);
	uint8_t *ip = frame + frame_network(shape);

	ip[shape->ip == 4 ? 8 : 7] = ttl;
	if (shape->ip == 4)
		mend(ip);
	return bytes;
}

static const struct frame_shape
        udp4 = {.ip = 4, .protocol = FRAME_UDP, .host = 5, .payload_bytes = 100},
        udp6 = {.ip = 6, .protocol = FRAME_UDP, .host = 5, .payload_bytes = 100};

/* ---- forwarding ---- */

static void one_less_is_left_to_live_and_all_else_is_as_it_was(void **state)
{
	static const struct frame_shape shapes[] = {
	        {.ip = 4, .protocol = FRAME_TCP, .host = 5, .payload_bytes = 700},
	        {.ip = 4, .protocol = FRAME_UDP, .host = 5, .n_tags = 1, .option_words = 3},
	        {.ip = 4,
	         .protocol = FRAME_UDP,
	         .host = 5,
	         .n_tags = 2,
	         .fragment = 9,
	         .payload_bytes = 90,
	         .padding_bytes = 9},
	        {.ip = 6, .protocol = FRAME_TCP, .host = 5, .n_tags = 2, .n_extensions = 3},
	        {.ip = 6, .protocol = FRAME_UDP, .host = 5, .payload_bytes = 1400},
	};
	static const uint8_t ttls[] = {255, 128, 64, 2};

	(void)state;
	for (size_t i = 0; i < LENGTH(shapes) * LENGTH(ttls); i++) {
		const struct frame_shape *shape = &shapes[i / LENGTH(ttls)];
		uint32_t head = shape->ip == 6 ? 40 : 20 + 4u * shape->option_words;
		uint8_t ttl = ttls[i % LENGTH(ttls)], frame[LEFT], expected[LEFT];
		struct rig *rig = open_hop(HOP);
		uint32_t bytes = frame_with_ttl(frame, shape, ttl);

		frame_with_ttl(expected, shape, (uint8_t)(ttl - 1));
		for (int kind = 0; kind < RIG_SHAPES; kind++) {
			/* In a frame of three segments, the IP header may extend beyond the
			 * first. */
			bool whole = kind != RIG_SEGMENTED ||
			             bytes / 3 + 1 >= frame_network(shape) + head;
			struct rte_mbuf *mbuf = packet_with(rig, (enum rig_shape)kind, 0, frame,
			                                    bytes, 0, (simtime)kind + 1);

			n_seen = 0;
			rig_ingress(rig, &mbuf, 1);
			seen_advance(rig, rig->now);
			assert_int_equal(n_seen, 1);
			assert_int_equal(seen[0].port, 1);
			assert_int_equal(seen[0].bytes, bytes);
			assert_memory_equal(seen[0].frame, whole ? expected : frame, bytes);
		}
		/* The bytes that others share were not changed. */
		for (uint32_t k = 0; k < rig->n_shared; k++)
			assert_memory_equal(rte_pktmbuf_mtod(rig->shared[k], void *), frame,
			                    RTE_MIN(bytes, 200u));
		rig_close(rig);
	}
}

static void a_wrong_checksum_stays_wrong(void **state)
{
	struct rig *rig = open_hop(HOP);
	uint8_t frame[LEFT];
	uint32_t bytes = frame_make(frame, &udp4);

	(void)state;
	frame[14 + 11] ^= 1;
	send_frame(rig, 0, frame, bytes, 1);
	seen_advance(rig, 1);
	assert_int_equal(n_seen, 1);
	assert_int_equal(frame_wrong_sums(seen[0].frame, &udp4), 1);
	rig_close(rig);
}

/* Each frame has the bytes of the table in their place. */
static void what_routers_do_not_forward_passes_untouched(void **state)
{
	static const struct frame_shape icmp6 = {.ip = 6, .protocol = FRAME_ICMPV6, .host = 5};
	static const struct {
		const struct frame_shape *shape;
		uint32_t at, n;
		uint8_t bytes[8];
	} rows[] = {
	        {&udp4, 12, 2, {0x08, 0x06}},          /* ARP */
	        {&udp4, 12, 2, {0x88, 0xcc}},          /* LLDP */
	        {&udp4, 14, 1, {0x44}},                /* an IPv4 header that is too short */
	        {&udp4, 14 + 16, 4, {224, 0, 0, 251}}, /* groups of the link; all; link-local */
	        {&udp4, 14 + 16, 4, {255, 255, 255, 255}},
	        {&udp4, 14 + 16, 4, {169, 254, 1, 2}},
	        {&udp4, 14 + 12, 4, {169, 254, 1, 2}},
	        {&udp6, 14 + 24, 2, {0xff, 0x02}},
	        {&udp6, 14 + 24, 2, {0xfe, 0x80}},
	        {&udp6, 14 + 8, 2, {0xfe, 0x80}},
	        {&icmp6, 54, 1, {133}}, /* neighbour discovery */
	        {&icmp6, 54, 1, {134}},
	        {&icmp6, 54, 1, {135}},
	        {&icmp6, 54, 1, {136}},
	        {&icmp6, 54, 1, {137}},
	};
	struct rig *rig = open_hop(HOP " mtu 256");

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint8_t frame[LEFT];
		/* Even with a TTL of 1. */
		uint32_t bytes = frame_with_ttl(frame, rows[i].shape, 1);

		memcpy(frame + rows[i].at, rows[i].bytes, rows[i].n);
		n_seen = 0;
		send_frame(rig, 0, frame, bytes, i + 1);
		seen_advance(rig, i + 1);
		if (n_seen != 1 || seen[0].port != 1 || memcmp(seen[0].frame, frame, bytes) != 0)
			fail_msg("row %zu", i);
	}
	rig_close(rig);
}

/* ---- expired ---- */

static void what_expires_is_dropped_and_its_sender_is_told(void **state)
{
	static const uint8_t router6[16] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0,
	                                    0,    0, 0,   0,    0, 0, 0, 0x99};

	(void)state;
	for (int six = 0; six < 2; six++) {
		for (uint8_t ttl = 0; ttl < 2; ttl++) {
			const struct frame_shape *shape = six ? &udp6 : &udp4;
			struct rig *rig = open_hop(HOP);
			const uint8_t *ip = seen[0].frame + 14, *icmp = ip + (six ? 40 : 20);
			uint8_t frame[LEFT];
			uint32_t bytes = frame_with_ttl(frame, shape, ttl);

			send_frame(rig, 0, frame, bytes, 77);
			seen_run_out(rig);
			assert_int_equal(n_seen, 1);
			assert_int_equal(seen[0].port, 0);
			assert_int_equal(seen[0].due_ns, 77);
			assert_int_equal(seen[0].wire_bytes, seen[0].bytes);
			assert_int_equal(seen[0].bytes, bytes + (six ? 48 : 28));
			assert_int_equal(icmp[0], six ? 3 : 11);
			if (six)
				assert_memory_equal(ip + 8, router6, 16);
			else
				assert_memory_equal(ip + 12, ((uint8_t[]){192, 0, 2, 1}), 4);
			/* As the packet came. */
			assert_memory_equal(icmp + 8, frame + 14, bytes - 14);
			assert_int_equal(counters(rig)->drops[REASON_TTL_EXPIRED], 1);
			assert_int_equal(counters(rig)->generated, 1);
			assert_int_equal(counters(rig)->tx_packets, 1);
			rig_close(rig);
		}
	}
}

static void without_an_ipv6_address_it_drops_ipv6_in_silence(void **state)
{
	struct rig *rig = open_hop("hop 192.0.2.1");
	uint8_t frame[LEFT];
	uint32_t bytes = frame_with_ttl(frame, &udp6, 1);

	(void)state;
	send_frame(rig, 0, frame, bytes, 1);
	seen_run_out(rig);
	assert_int_equal(n_seen, 0);
	assert_int_equal(counters(rig)->drops[REASON_TTL_EXPIRED], 1);
	assert_int_equal(counters(rig)->generated, 0);
	rig_close(rig);
}

static void without_an_ipv6_address_nothing_that_is_sent_to_zeros_is_for_it(void **state)
{
	struct frame_shape echo = udp6;
	uint8_t frame[LEFT];

	(void)state;
	echo.protocol = FRAME_ICMPV6;
	for (int i = 0; i < 2; i++) {
		struct rig *rig = open_hop("hop 192.0.2.1");
		uint32_t bytes = frame_with_ttl(frame, i ? &echo : &udp6, 64);

		memset(frame + 14 + 24, 0, 16);
		frame[14 + 40] = i ? 128 : 0; /* an echo request */
		send_frame(rig, 0, frame, bytes, 1);
		seen_run_out(rig);
		assert_int_equal(n_seen, 1);
		assert_int_equal(seen[0].port, 1);
		assert_int_equal(counters(rig)->drops[REASON_TO_HOP], 0);
		assert_int_equal(counters(rig)->generated, 0);
		rig_close(rig);
	}
}

static void a_long_packet_in_several_segments_is_quoted_across_them(void **state)
{
	struct frame_shape shape = udp6;
	struct rig *rig = open_hop(HOP);
	uint8_t frame[LEFT];
	struct rte_mbuf *mbuf;
	uint32_t bytes;

	(void)state;
	shape.payload_bytes = 1400;
	bytes = frame_with_ttl(frame, &shape, 1);
	mbuf = packet_with(rig, RIG_SEGMENTED, 0, frame, bytes, 0, 1);
	assert_int_equal(mbuf->nb_segs, 3);
	rig_ingress(rig, &mbuf, 1);
	seen_run_out(rig);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].bytes, 14 + 1280);
	assert_memory_equal(seen[0].frame + 14 + 48, frame + 14, 1280 - 48);
	rig_close(rig);
}

/* ---- too big ---- */

static void
what_is_too_long_and_must_stay_whole_is_dropped_and_its_sender_told_the_mtu(void **state)
{
	static const struct {
		uint8_t ip;
		uint32_t mtu, bytes, says; /* of the IP packet; 0: passes */
	} rows[] = {
	        {4, 1400, 1400, 0},    {4, 1400, 1401, 1400}, {4, 256, 257, 256},
	        {6, 1400, 1400, 0},    {6, 1400, 1401, 1400}, {6, 1000, 1280, 0},
	        {6, 1000, 1281, 1280}, /* a link of IPv6 takes at least 1280 */
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct frame_shape shape = {.ip = rows[i].ip, .protocol = FRAME_UDP, .host = 5};
		uint32_t head = rows[i].ip == 4 ? 20 : 40;
		const uint8_t *icmp = seen[0].frame + 14 + head;
		uint8_t frame[LEFT];
		char statement[80];
		struct rig *rig;

		snprintf(statement, sizeof(statement), HOP " mtu %u", rows[i].mtu);
		rig = open_hop(statement);
		shape.payload_bytes = rows[i].bytes - head - 8;
		shape.padding_bytes = 40; /* is not part of the packet */
		frame_make(frame, &shape);
		if (rows[i].ip == 4) {
			frame[14 + 6] = 0x40; /* DF */
			mend(frame + 14);
		}
		send_frame(rig, 0, frame, 14 + rows[i].bytes + 40, 9);
		seen_run_out(rig);
		assert_int_equal(n_seen, 1);
		assert_int_equal(seen[0].port, rows[i].says ? 0 : 1);
		assert_int_equal(counters(rig)->drops[REASON_TOO_BIG], rows[i].says != 0);
		if (rows[i].says) {
			assert_int_equal(icmp[0], rows[i].ip == 4 ? 3 : 2);
			assert_int_equal(icmp[1], rows[i].ip == 4 ? 4 : 0);
			assert_int_equal(headers_u32(icmp + 4), rows[i].says);
		}
		rig_close(rig);
	}
}

/* ---- fragments ---- */

/* Reassembles the data of the packet from the departures, and asserts that each part is right. */
static uint32_t reassemble(const uint8_t *packet, uint32_t network, uint32_t mtu, uint8_t *data,
                           bool *more)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < n_seen; i++) {
		const uint8_t *ip = seen[i].frame + network;
		uint32_t head = (ip[0] & 0xfu) * 4, word = headers_u16(ip + 6);
		uint32_t n = headers_u16(ip + 2) - head;
		uint32_t from =
		        ((word & 0x1fff) - (headers_u16(packet + network + 6) & 0x1fff)) * 8;

		assert_int_equal(seen[i].port, 1);
		assert_memory_equal(seen[i].frame, packet, network);
		assert_int_equal(seen[i].wire_bytes, network + head + n);
		assert_true(head + n <= mtu);
		assert_int_equal(rte_raw_cksum(ip, head), 0xffff);
		assert_int_equal(ip[8], 63);
		assert_memory_equal(ip + 4, packet + network + 4, 2);
		assert_int_equal(from, bytes); /* in order, without a gap */
		*more = word & 0x2000;
		assert_true(i + 1 == n_seen || (*more && n % 8 == 0 && head + n > mtu - 8));
		memcpy(data + from, ip + head, n);
		bytes += n;
	}
	return bytes;
}

static void a_packet_that_may_be_divided_is_and_its_parts_make_it_again(void **state)
{
	static const struct {
		struct frame_shape shape;
		uint32_t mtu, fragments;
		bool more; /* in the packet as it came */
	} rows[] = {
	        {{.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 1392}, 1400, 2, false},
	        {{.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 1472}, 1400, 2, false},
	        {{.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 1472}, 257, 7, false},
	        {{.ip = 4, .protocol = FRAME_TCP, .payload_bytes = 1401, .n_tags = 2},
	         576,
	         3,
	         false},
	        {{.ip = 4,
	          .protocol = FRAME_UDP,
	          .payload_bytes = 900,
	          .option_words = 10,
	          .n_tags = 1,
	          .padding_bytes = 20},
	         400,
	         3,
	         false},
	        /* the packet is a fragment already: the last, and one in the middle */
	        {{.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 801, .fragment = 185},
	         500,
	         2,
	         false},
	        {{.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 800, .fragment = 185},
	         500,
	         2,
	         true},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows) * 3; i++) {
		enum rig_shape kinds[] = {RIG_PLAIN, RIG_SEGMENTED, RIG_CLONED};
		const struct frame_shape *shape = &rows[i / 3].shape;
		uint32_t network = frame_network(shape), transport, bytes, n;
		uint8_t frame[LEFT], data[LEFT];
		struct rte_mbuf *mbuf;
		char statement[80];
		struct rig *rig;
		bool more;

		snprintf(statement, sizeof(statement), HOP " mtu %u", rows[i / 3].mtu);
		rig = open_hop(statement);
		bytes = frame_make(frame, shape);
		transport = network + (frame[network] & 0xfu) * 4;
		frame[network + 5] = 42; /* identification */
		if (rows[i / 3].more)
			frame[network + 6] |= 0x20;
		mend(frame + network);
		mbuf = packet_with(rig, kinds[i % 3], 0, frame, bytes, 0, 9);
		rig_ingress(rig, &mbuf, 1);
		seen_run_out(rig);
		assert_int_equal(n_seen, rows[i / 3].fragments);
		n = reassemble(frame, network, rows[i / 3].mtu, data, &more);
		assert_int_equal(more, rows[i / 3].more);
		assert_int_equal(n, bytes - shape->padding_bytes - transport);
		assert_memory_equal(data, frame + transport, n);
		assert_int_equal(counters(rig)->generated, rows[i / 3].fragments - 1);
		assert_int_equal(counters_drops(counters(rig)), 0);
		rig_close(rig);
	}
}

/* RFC 791: the copied bit determines which options go into every fragment. */
static void options_are_copied_as_they_must(void **state)
{
	/* 12 words: no operation; router alert (copied); record route (not copied); a security
	 * option (copied) of an odd length; the end. */
	static const uint8_t options[12 * 2] = {1, 0x94, 4,    0, 0, 7, 7, 4,    0,   0,
	                                        0, 0,    0x82, 5, 9, 9, 9, 0x01, 0x00};
	static const uint8_t rest[12] = {0x94, 4, 0, 0, 0x82, 5, 9, 9, 9};
	struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_UDP, .option_words = 6, .payload_bytes = 700};
	struct rig *rig = open_hop(HOP " mtu 400");
	uint8_t frame[LEFT];
	uint32_t bytes = frame_make(frame, &shape);

	(void)state;
	memcpy(frame + 34, options, sizeof(options));
	mend(frame + 14);
	send_frame(rig, 0, frame, bytes, 1);
	seen_run_out(rig);
	assert_int_equal(n_seen, 2);
	assert_int_equal(seen[0].frame[14], 0x4b);
	assert_memory_equal(seen[0].frame + 34, options, sizeof(options));
	assert_int_equal(seen[1].frame[14], 0x48);
	assert_memory_equal(seen[1].frame + 34, rest, sizeof(rest));
	rig_close(rig);
}

/* An option that claims more bytes than there are ends the list; nothing behind it is read. */
static void options_that_contradict_themselves_are_not_copied(void **state)
{
	static const uint8_t lengths[] = {0, 1, 5, 255};
	struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_UDP, .option_words = 1, .payload_bytes = 700};

	(void)state;
	for (size_t i = 0; i < LENGTH(lengths); i++) {
		struct rig *rig = open_hop(HOP " mtu 400");
		uint8_t frame[LEFT];
		uint32_t bytes = frame_make(frame, &shape);

		frame[34] = 0x94;
		frame[35] = lengths[i];
		mend(frame + 14);
		send_frame(rig, 0, frame, bytes, 1);
		seen_run_out(rig);
		assert_int_equal(n_seen, 2);
		assert_int_equal(seen[1].frame[14], 0x45);
		assert_int_equal(rte_raw_cksum(seen[1].frame + 14, 20), 0xffff);
		rig_close(rig);
	}
}

static void fragments_of_a_cut_capture_have_what_is_there(void **state)
{
	struct frame_shape shape = {.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 1400};
	struct rig *rig = open_hop(HOP " mtu 600");
	uint8_t frame[LEFT];
	uint32_t bytes = frame_make(frame, &shape);
	struct rte_mbuf *mbuf = packet_with(rig, RIG_PLAIN, 0, frame, 700, bytes, 1);

	(void)state;
	rig_ingress(rig, &mbuf, 1);
	seen_run_out(rig);
	assert_int_equal(n_seen, 3);
	assert_int_equal(seen[0].bytes, 14 + 596);
	assert_int_equal(seen[0].wire_bytes, 14 + 596);
	assert_int_equal(seen[1].bytes, 14 + 20 + 700 - 34 - 576);
	assert_int_equal(seen[1].wire_bytes, 14 + 596);
	assert_int_equal(seen[2].bytes, 34);
	assert_int_equal(seen[2].wire_bytes, 14 + 20 + 1408 - 2 * 576);
	rig_close(rig);
}

/* A packet is never sent in part. If it needs more fragments than there is room or there are mbufs,
 * it is lost as a whole, and the drop counts as weir's own fault. A wrong checksum is not
 * repaired. */
static void a_packet_that_cannot_be_divided_is_dropped_as_a_whole(void **state)
{
	struct rig *rig = open_hop(HOP " mtu 256");
	uint32_t bytes = 14 + 20 + 232 * (BURST_ROOM - 1) + 236 + 1, n = 0;
	struct rte_mbuf **all = calloc(RIG_MBUFS, sizeof(struct rte_mbuf *));
	uint8_t *frame = calloc(1, bytes);
	struct rte_mbuf *mbuf;

	(void)state;
	assert_non_null(frame);
	assert_non_null(all);
	frame_make(frame, &udp4);
	frame[16] = (uint8_t)((bytes - 14) >> 8);
	frame[17] = (uint8_t)(bytes - 14);
	mend(frame + 14);
	send_frame(rig, 0, frame, bytes, 1);
	assert_int_equal(counters(rig)->drops[REASON_FRAGMENTS], 1);
	frame[17]--; /* a byte less is divided */
	mend(frame + 14);
	send_frame(rig, 0, frame, bytes - 1, 2);
	assert_int_equal(counters(rig)->drops[REASON_FRAGMENTS], 1);
	assert_int_equal(counters(rig)->drops[REASON_NO_BUFFER], 0);
	assert_int_equal(counters(rig)->generated, BURST_ROOM - 1);
	seen_run_out(rig);
	assert_int_equal(n_seen, BURST_ROOM);
	frame[14 + 11] ^= 1;
	send_frame(rig, 0, frame, bytes - 1, 3);
	assert_int_equal(counters(rig)->drops[REASON_TOO_BIG], 1);
	frame[14 + 11] ^= 1;
	/* The mbufs suffice for some of the fragments. */
	mbuf = packet_with(rig, RIG_FOREIGN, 0, frame, 9000, bytes - 1, 4);
	while (n < RIG_MBUFS && (all[n] = rte_pktmbuf_alloc(rig->pool)))
		n++;
	for (uint32_t i = 0; i < 3; i++)
		rte_pktmbuf_free(all[--n]);
	rig_ingress(rig, &mbuf, 1);
	rte_pktmbuf_free_bulk(all, n);
	assert_int_equal(counters(rig)->drops[REASON_NO_BUFFER], 1);
	seen_run_out(rig);
	rig_close(rig);
	free(all);
	free(frame);
}

static void the_number_of_fragments_is_known_before_one_is_made(void **state)
{
	static const uint32_t mtus[] = {68, 69, 75, 76, 256, 257, 576, 1400};
	struct frame_shape shape = {.ip = 4, .protocol = FRAME_UDP};
	struct rig *rig = open_hop(HOP " mtu 256");

	(void)state;
	for (uint32_t i = 0; i < 8 * 11 * 60; i++) {
		uint32_t mtu = mtus[i % 8], n;
		struct rte_mbuf *mbuf, *fragments[64];
		struct headers headers;
		uint8_t frame[LEFT];

		shape.option_words = i / 8 % 11;
		shape.payload_bytes = i / 88 * 23;
		mbuf = packet_with(rig, RIG_PLAIN, 0, frame, frame_make(frame, &shape), 0, i + 1);
		assert_true(headers_find(rte_pktmbuf_mtod(mbuf, uint8_t *), mbuf->data_len,
		                         mbuf->pkt_len, &headers));
		if (headers.network_bytes > mtu) {
			n = ip_fragment(mbuf, &headers, mtu, rig->pool, fragments);
			assert_int_equal(ip_fragments(mbuf, &headers, mtu), n);
			rte_pktmbuf_free_bulk(fragments, n);
		}
		rte_pktmbuf_free(mbuf);
	}
	rig_close(rig);
}

/* The offset of a fragment has 13 bits: data that ends beyond 65535 bytes would overflow into the
 * flags. */
static void what_ends_beyond_an_ip_packet_is_not_divided(void **state)
{
	struct rig *rig = open_hop(HOP " mtu 256");
	struct frame_shape shape = {.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 800};
	uint8_t frame[LEFT];
	uint32_t bytes;

	(void)state;
	/* 800 bytes at 64728 end at 65528; 800 bytes at 64736 would end at 65536. */
	for (uint32_t i = 0; i < 2; i++) {
		shape.fragment = 8091 + i;
		bytes = frame_make(frame, &shape);
		mend(frame + 14);
		send_frame(rig, 0, frame, bytes, i + 1);
		assert_int_equal(counters(rig)->drops[REASON_FRAGMENTS], i);
	}
	assert_int_equal(counters_drops(counters(rig)), 1);
	seen_run_out(rig);
	rig_close(rig);
}

static void a_packet_that_is_shorter_than_it_says_is_not_divided(void **state)
{
	struct frame_shape shape = {.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 1000};
	struct rig *rig = open_hop(HOP " mtu 600");
	uint8_t frame[LEFT];
	uint32_t bytes = frame_make(frame, &shape);

	(void)state;
	for (uint32_t more = 0; more < 2; more++) {
		frame[16] = (uint8_t)((bytes - 14 + more) >> 8);
		frame[17] = (uint8_t)(bytes - 14 + more);
		mend(frame + 14);
		send_frame(rig, 0, frame, bytes, 1 + more);
		assert_int_equal(counters(rig)->drops[REASON_TOO_BIG], more);
		assert_int_equal(counters(rig)->generated, 1 + more); /* a fragment; an answer */
	}
	seen_run_out(rig);
	rig_close(rig);
}

/* A sender that leaves the division into segments to its NIC writes a total length of 0. Each of
 * these packets makes six fragments; a burst of them would find no room for all. */
static void packets_without_a_length_are_divided_in_bursts_of_any_size(void **state)
{
	struct frame_shape shape = {.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 1300};
	static const uint16_t bursts[] = {1, 2, BURST_MAX};
	uint8_t frame[LEFT];
	uint32_t bytes = frame_make(frame, &shape);

	(void)state;
	memset(frame + 16, 0, 2);
	mend(frame + 14);
	for (size_t b = 0; b < LENGTH(bursts); b++) {
		struct rig *rig = open_hop(HOP " mtu 256");
		struct rte_mbuf *mbufs[BURST_MAX];

		for (uint32_t i = 0; i < BURST_MAX; i++) {
			mbufs[i % bursts[b]] = packet_with(rig, RIG_PLAIN, 0, frame, bytes, 0, 1);
			if ((i + 1) % bursts[b] == 0)
				rig_ingress(rig, mbufs, bursts[b]);
		}
		assert_int_equal(counters_drops(counters(rig)), 0);
		assert_int_equal(counters(rig)->generated, BURST_MAX * 5);
		seen_run_out(rig);
		rig_close(rig);
	}
}

/* ---- the hop itself ---- */

static void it_answers_ping_and_says_that_its_udp_ports_are_closed(void **state)
{
	static const struct {
		struct frame_shape shape;
		uint8_t type, code; /* 255: no answer */
	} rows[] = {
	        {{.ip = 4, .protocol = FRAME_ICMP, .host = 5, .payload_bytes = 1000}, 0, 0},
	        {{.ip = 6, .protocol = FRAME_ICMPV6, .host = 5, .payload_bytes = 40}, 129, 0},
	        {{.ip = 4, .protocol = FRAME_UDP, .host = 5}, 3, 3},
	        {{.ip = 6, .protocol = FRAME_UDP, .host = 5}, 1, 4},
	        {{.ip = 4, .protocol = FRAME_TCP, .host = 5, .syn = true}, 255, 0},
	        {{.ip = 4, .protocol = FRAME_UDP, .host = 5, .fragment = 8, .payload_bytes = 64},
	         255,
	         0},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		bool six = rows[i].shape.ip == 6, answers = rows[i].type != 255;
		struct rig *rig = open_hop(HOP);
		const uint8_t *ip = seen[0].frame + 14, *icmp = ip + (six ? 40 : 20);
		uint8_t frame[LEFT];
		/* The packet need not be forwarded, so a TTL of 1 is enough. */
		uint32_t bytes = frame_with_ttl(frame, &rows[i].shape, 1);

		if (six)
			frame[14 + 24 + 15] = 0x99;
		else
			memcpy(frame + 14 + 16, (uint8_t[]){192, 0, 2, 1}, 4);
		if (!six)
			mend(frame + 14);
		send_frame(rig, 0, frame, bytes, 1);
		seen_run_out(rig);
		assert_int_equal(n_seen, answers);
		assert_int_equal(counters(rig)->generated, answers);
		assert_int_equal(counters(rig)->drops[REASON_TO_HOP], 1);
		if (answers) {
			assert_int_equal(seen[0].port, 0);
			assert_int_equal(icmp[0], rows[i].type);
			assert_int_equal(icmp[1], rows[i].code);
			assert_memory_equal(ip + (six ? 8 : 12), frame + 14 + (six ? 24 : 16),
			                    six ? 16 : 4);
		}
		rig_close(rig);
	}
}

/* ---- the limit ---- */

static uint64_t told(struct rig *rig, uint32_t n, simtime t)
{
	uint64_t before = counters(rig)->generated;
	uint8_t frame[LEFT];
	uint32_t bytes = frame_with_ttl(frame, &udp4, 1);

	for (uint32_t i = 0; i < n; i++)
		send_frame(rig, 0, frame, bytes, t);
	return counters(rig)->generated - before;
}

static void errors_have_a_limit_that_is_exact(void **state)
{
	struct rig *rig = open_hop(HOP " limit 3 burst 4");
	/* A token is there after 1/3 s, which is not a whole number of ns. */
	const simtime third = SIMTIME_S / 3 + 1;

	(void)state;
	assert_int_equal(told(rig, 10, 5), 4);
	assert_int_equal(told(rig, 10, 5 + third - 1), 0);
	assert_int_equal(told(rig, 10, 5 + third), 1);
	/* Three tokens a second, however often it is tried in between. */
	assert_int_equal(told(rig, 10, 5 + SIMTIME_S - 1), 1);
	assert_int_equal(told(rig, 10, 5 + SIMTIME_S), 1);
	assert_int_equal(told(rig, 10, 5 + 3 * SIMTIME_S / 2), 1);
	assert_int_equal(told(rig, 10, 5 + 1000000 * SIMTIME_S), 4);
	assert_int_equal(counters(rig)->drops[REASON_TTL_EXPIRED], 70);
	/* A change keeps the tokens, as far as they fit, and the time since. */
	assert_int_equal(told(rig, 1, 5 + 2000000 * SIMTIME_S), 1);
	rig_put(rig, "x", trial_conf(HOP " limit 3 burst 2"));
	seen_advance(rig, 5 + 2000000 * SIMTIME_S);
	rig_apply(rig, 5 + 2000000 * SIMTIME_S);
	assert_int_equal(told(rig, 10, 5 + 2000000 * SIMTIME_S), 2);
	seen_run_out(rig);
	rig_close(rig);
}

static void a_limit_of_none_is_a_silent_router_and_the_default_is_that_of_linux(void **state)
{
	struct rig *rig = open_hop(HOP " limit 0");

	(void)state;
	assert_int_equal(told(rig, 100, 5), 0);
	rig_close(rig);
	rig = open_hop(HOP);
	assert_int_equal(told(rig, 100, 5), HOP_BURST_DEFAULT);
	assert_int_equal(told(rig, 100, 5 + 10 * SIMTIME_MS), HOP_LIMIT_DEFAULT / 100);
	seen_run_out(rig);
	rig_close(rig);
	rig = open_hop(HOP " limit 1000000000 burst 1000000");
	assert_int_equal(told(rig, 2000, 5), 2000);
	seen_run_out(rig);
	rig_close(rig);
}

static void identifications_count_on_over_a_change(void **state)
{
	struct rig *rig = open_hop(HOP);

	(void)state;
	told(rig, 3, 5);
	seen_advance(rig, 5);
	rig_put(rig, "x", trial_conf(HOP " mtu 1400"));
	rig_apply(rig, 6);
	told(rig, 1, 7);
	seen_run_out(rig);
	assert_int_equal(n_seen, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(headers_u16(seen[i].frame + 18), i);
	rig_close(rig);
}

/* For other statements that send messages, such as a source quench. */
static void another_statement_may_speak_from_its_address(void **state)
{
	struct rig *rig = open_hop("hop 192.0.2.1 limit 0");
	struct cloud *cloud = rig->engine->cloud_table->slots[0];
	struct hop_cause cause = {.t_ns = 40, .number = 1};
	uint8_t frame[LEFT];

	(void)state;
	cause.frame = frame;
	cause.bytes = cause.wire_bytes = frame_make(frame, &udp4);
	/* While the packet is in flight: it is still held. */
	send_frame(rig, 0, frame, cause.bytes, 40);
	assert_true(hop_tell(cloud, &cause, ICMP_SOURCE_QUENCH, 0));
	cause.bytes = cause.wire_bytes = frame_make(frame, &udp6);
	/* The hop has no address of that kind. */
	assert_false(hop_tell(cloud, &cause, ICMP_SOURCE_QUENCH, 0));
	assert_false(hop_tell(cloud, &cause, ICMP_TIME_EXCEEDED, 0));
	seen_advance(rig, 40);
	assert_int_equal(n_seen, 2);
	assert_int_equal(seen[0].port, 0);
	assert_int_equal(seen[0].due_ns, 40);
	assert_int_equal(seen[0].frame[34], 4);
	assert_memory_equal(seen[0].frame + 26, ((uint8_t[]){192, 0, 2, 1, 192, 0, 2, 5}), 8);
	rig_unset(rig, "x", "hop");
	rig_apply(rig, 41);
	frame_make(frame, &udp4);
	assert_false(hop_tell(cloud, &cause, ICMP_SOURCE_QUENCH, 0));
	rig_close(rig);
}

/* ---- the way back ---- */

/* down: 10 ms to R1, R2; up: R2, then R1, 10 ms and a router between. */
static struct rig *chain(struct witness *witness)
{
	struct rig *rig = open_with(witness);

	rig_cloud(rig, "down", 0, 1);
	rig_put(rig, "down", trial_conf("delay 10ms"));
	rig_chain(rig, "down-2", "down", 1);
	rig_put(rig, "down-2", trial_conf("hop 192.0.2.2 2001:db8::2 through up-2"));
	rig_cloud(rig, "up", 1, 0);
	rig_put(rig, "up", trial_conf("delay 1ms"));
	rig_chain(rig, "up-2", "up", 0);
	rig_put(rig, "up-2", trial_conf("hop 192.0.2.2 2001:db8::2"));
	rig_put(rig, "up-2", trial_conf("delay 7ms"));
	rig_chain(rig, "up-1", "up-2", 0);
	rig_put(rig, "up-1", trial_conf("hop 192.0.2.3 2001:db8::3"));
	rig_put(rig, "up-1", trial_conf("delay 3ms"));
	rig_apply(rig, 0);
	return rig;
}

struct notebook {
	struct witness witness;
	uint32_t n;
	struct fate fates[16];
};

static void tell(struct witness *witness, const struct fate *fate)
{
	struct notebook *notebook = (struct notebook *)witness;

	assert_true(notebook->n < LENGTH(notebook->fates));
	notebook->fates[notebook->n++] = *fate;
}

static void an_answer_crosses_the_clouds_of_the_way_back(void **state)
{
	static const struct {
		const char *cloud;
		uint64_t packet;
		uint32_t port;
		uint8_t flags;
	} fates[] = {
	        {"down", 1, 0, 0},
	        {"down-2", 1, 0, PACKET_GENERATED | PACKET_BACK},
	        {"down-2", 1, 0, 0}, /* for the dropped packet itself */
	        {"up-2", 0, 1, PACKET_GENERATED | PACKET_FOREIGN},
	        {"up-1", 0, 1, PACKET_GENERATED | PACKET_FOREIGN},
	};

	(void)state;
	for (int six = 0; six < 2; six++) {
		struct notebook notebook = {.witness.tell = tell};
		struct rig *rig = chain(&notebook.witness);
		uint8_t frame[LEFT];
		uint32_t bytes = frame_with_ttl(frame, six ? &udp6 : &udp4, 1);

		send_frame(rig, 0, frame, bytes, 0);
		seen_run_out(rig);
		assert_int_equal(n_seen, 1);
		assert_int_equal(seen[0].port, 0);
		assert_int_equal(seen[0].due_ns, 20 * SIMTIME_MS);
		/* The router that answers does not count, the other one does. */
		assert_int_equal(seen[0].frame[14 + (six ? 7 : 8)], 63);
		assert_int_equal(rig_report(rig, "down-2")->counters.onward, 1);
		assert_int_equal(rig_report(rig, "up-2")->counters.answers, 1);
		assert_int_equal(rig_report(rig, "up-2")->counters.rx_packets, 1);
		assert_int_equal(rig_report(rig, "up-1")->counters.answers, 0);
		assert_int_equal(notebook.n, LENGTH(fates));
		for (uint32_t i = 0; i < notebook.n; i++) {
			const struct fate *fate = &notebook.fates[i];

			assert_string_equal(fate->cloud, fates[i].cloud);
			assert_int_equal(fate->packet, fates[i].packet);
			assert_int_equal(fate->port, fates[i].port);
			assert_int_equal(fate->flags, fates[i].flags);
		}
		rig_close(rig);
	}
}

static int prepare(struct rig *rig, const bool *owned, struct problem *problem)
{
	struct change *change = NULL;
	int error = change_prepare(rig->engine, rig->scenario, owned, &change, problem);

	if (!error)
		change_free(change);
	return error;
}

static void a_way_back_that_is_none_is_refused(void **state)
{
	static const bool half[SCENARIO_PORTS_MAX] = {true};
	struct rig *rig = chain(NULL);
	struct problem problem = {.text = ""};

	(void)state;
	assert_int_equal(prepare(rig, NULL, &problem), 0);
	/* The cloud belongs to another worker. */
	assert_int_equal(prepare(rig, half, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "different workers"));
	/* The cloud leads to the other port. */
	rig_put(rig, "down-2", trial_conf("hop 192.0.2.2 through down"));
	assert_int_equal(prepare(rig, NULL, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "use a cloud that leads to port a"));
	rig_put(rig, "down-2", trial_conf("hop 192.0.2.2 through none"));
	assert_int_equal(prepare(rig, NULL, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "which does not exist"));
	rig_close(rig);
}

/* The cloud that answers, and the cloud that its answers cross, are removed while an answer is
 * held. */
static void clouds_that_are_removed_deliver_answers_nevertheless(void **state)
{
	struct rig *rig = chain(NULL);
	uint8_t frame[LEFT];
	uint32_t bytes = frame_with_ttl(frame, &udp4, 1);

	(void)state;
	send_frame(rig, 0, frame, bytes, 0);
	seen_advance(rig, 12 * SIMTIME_MS); /* the answer is in up-2 */
	send_frame(rig, 0, frame, bytes, 12 * SIMTIME_MS);
	rig_remove(rig, "down-2");
	rig_remove(rig, "up-1");
	rig_remove(rig, "up-2");
	rig_apply(rig, 13 * SIMTIME_MS);
	rig_apply(rig, 14 * SIMTIME_MS);
	seen_run_out(rig);
	/* The answer in up-2 leaves at the end of up-2. `down` forwards the second packet to port
	 * b, where there is no hop any more. */
	assert_int_equal(n_seen, 2);
	assert_int_equal(seen[0].due_ns, 17 * SIMTIME_MS);
	assert_int_equal(seen[0].port, 0);
	assert_int_equal(seen[1].due_ns, 22 * SIMTIME_MS);
	assert_int_equal(seen[1].port, 1);
	rig_apply(rig, 100 * SIMTIME_MS);
	rig_close(rig);
}

/* ---- whatever the size of bursts ---- */

/* Both directions; some packets expire, some are too big, some are fragmented, some pass. The
 * answers are limited. */
static uint32_t mixed(uint16_t burst, struct seen *copy)
{
	struct rig *rig = chain(NULL);
	struct rte_mbuf *mbufs[BURST_MAX];
	uint16_t n = 0;

	rig->make_room = seen_note;
	rig_put(rig, "down", trial_conf("hop 192.0.2.3 mtu 600 limit 100000 burst 3"));
	rig_put(rig, "up", trial_conf("hop 192.0.2.2 limit 200000 burst 2"));
	rig_put(rig, "up-1", trial_conf("rate 100mbit queue 60pkt"));
	rig_apply(rig, 1);
	for (uint32_t i = 0; i < 800; i++) {
		struct frame_shape shape = i % 3 ? udp4 : udp6;
		uint32_t port = i / 40 % 2, bytes;
		uint8_t frame[LEFT];

		shape.payload_bytes = i % 5 ? 10 * (i % 100) : 30;
		shape.sequence = i;
		bytes = frame_with_ttl(frame, &shape, (uint8_t)(i % 4 + 1));
		mbufs[n++] = packet_with(rig, RIG_PLAIN, port, frame, bytes, 0, 1000 * (i + 1));
		if (n < burst && (i + 1) % 40 != 0)
			continue;
		rig_ingress(rig, mbufs, n);
		n = 0;
		if (burst != 7)
			seen_advance(rig, rig->now);
	}
	seen_run_out(rig);
	assert_true(rig_report(rig, "down")->counters.generated > 100);
	assert_true(rig_report(rig, "down-2")->counters.generated > 20);
	assert_true(rig_report(rig, "up")->counters.drops[REASON_TTL_EXPIRED] >
	            rig_report(rig, "up")->counters.generated);
	rig_close(rig);
	memcpy(copy, seen, sizeof(seen));
	return n_seen;
}

static void the_size_of_bursts_does_not_matter(void **state)
{
	struct seen *single = malloc(sizeof(seen)), *other = malloc(sizeof(seen));
	uint32_t n = mixed(1, single);
	static const uint16_t bursts[] = {7, 32};

	(void)state;
	assert_non_null(single);
	assert_non_null(other);
	assert_true(n > 500);
	for (size_t b = 0; b < LENGTH(bursts); b++) {
		assert_int_equal(mixed(bursts[b], other), n);
		for (uint32_t port = 0; port < 2; port++) {
			uint32_t k = 0;

			for (uint32_t i = 0; i < n; i++) {
				if (single[i].port != port)
					continue;
				while (other[k].port != port)
					k++;
				assert_int_equal(other[k].due_ns, single[i].due_ns);
				assert_int_equal(other[k].bytes, single[i].bytes);
				assert_memory_equal(other[k].frame, single[i].frame,
				                    single[i].bytes);
				k++;
			}
		}
	}
	free(single);
	free(other);
}

/* Makes a frame that is forwarded, or one that has a reason not to be, or not to be usual. */
static uint32_t frame_any(uint8_t *frame, uint64_t dice)
{
	static const uint8_t addresses[][4] = {
	        {224, 0, 0, 5},   {224, 0, 1, 5},       {255, 255, 255, 255}, {169, 254, 9, 9},
	        {169, 253, 9, 9}, {255, 255, 255, 254}, {192, 0, 2, 1},       {192, 0, 2, 3},
	};
	struct frame_shape shape = dice >> 8 & 31 ? udp4 : udp6;
	uint8_t *ip = frame + 14;
	uint32_t bytes;

	shape.n_tags = (dice >> 16 & 31) == 0;
	shape.option_words = (dice >> 21 & 31) == 0 && shape.ip == 4;
	shape.payload_bytes = dice >> 26 & 31 ? 20 + (dice >> 34 & 63) : 600;
	bytes = frame_with_ttl(frame, &shape, (uint8_t)(dice >> 40 & 31));
	if (shape.ip == 4 && shape.n_tags == 0 && (dice >> 48 & 7) == 0)
		memcpy(ip + 12 + (dice >> 51 & 4), addresses[dice >> 54 & 7], 4);
	if ((dice >> 60 & 3) == 0)
		ip[11] = (uint8_t)(dice >> 62); /* a wrong checksum, perhaps one that carries */
	return bytes;
}

/* Plays the frames in bursts of this size, 32 at one instant. */
static uint32_t play_any(uint16_t burst, struct seen *copy)
{
	struct draw_key key = draw_key_make(1, "hop", "any");
	struct rig *rig = open_hop(HOP " mtu 500");
	struct rte_mbuf *mbufs[BURST_MAX];
	uint16_t n = 0;

	for (uint32_t i = 0; i < 3200; i++) {
		/* In some bursts, all packets are usual. */
		uint64_t dice =
		        draw_u64(key, i, 0) | (i / 32 % 4 ? 0 : UINT64_C(0x0707ff07fc3fff00));
		uint8_t frame[LEFT];
		uint32_t bytes = frame_any(frame, dice);

		mbufs[n++] = packet_with(rig, dice >> 1 & 31 ? RIG_PLAIN : RIG_SHARED, 0, frame,
		                         bytes, 0, 1000 * (i / 32 + 1));
		if (n < burst)
			continue;
		rig_ingress(rig, mbufs, n);
		n = 0;
		if (i % 32 == 31)
			seen_advance(rig, rig->now);
	}
	seen_run_out(rig);
	assert_in_range(counters(rig)->drops[REASON_TTL_EXPIRED], 100, 1000);
	assert_in_range(counters(rig)->drops[REASON_TO_HOP], 10, 1000);
	rig_close(rig);
	memcpy(copy, seen, sizeof(seen));
	return n_seen;
}

static void a_burst_of_any_packets_fares_as_they_do_one_by_one(void **state)
{
	struct seen *single = malloc(sizeof(seen)), *burst = malloc(sizeof(seen));
	uint32_t n = play_any(1, single);

	(void)state;
	assert_non_null(single);
	assert_non_null(burst);
	assert_true(n > 2000);
	assert_int_equal(play_any(32, burst), n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(burst[i].port, single[i].port);
		assert_int_equal(burst[i].bytes, single[i].bytes);
		assert_memory_equal(burst[i].frame, single[i].frame, single[i].bytes);
	}
	free(single);
	free(burst);
}

/* ---- configurations ---- */

static void an_address_that_no_router_has_is_refused(void **state)
{
	static const struct {
		const char *statement, *says;
	} rows[] = {
	        {"hop 192.0.2.1", ""},
	        {"hop 192.0.2.1 2001:db8::1 mtu 1400", ""},
	        {"hop 192.0.2.1 mtu 65535 limit 0 burst 1 through y", ""},
	        {"hop 0.0.0.0", "192.0.2.1"},
	        {"hop 127.0.0.1", "192.0.2.1"},
	        {"hop 224.0.0.5", "192.0.2.1"},
	        {"hop 255.255.255.255", "192.0.2.1"},
	        {"hop 169.254.0.1", "192.0.2.1"},
	        {"hop 192.0.2.1 ::", "2001:db8::1"},
	        {"hop 192.0.2.1 ::1", "2001:db8::1"},
	        {"hop 192.0.2.1 ff02::1", "2001:db8::1"},
	        {"hop 192.0.2.1 fe80::1", "2001:db8::1"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *problem = trial_problem(rows[i].statement);

		if (rows[i].says[0] ? !strstr(problem, rows[i].says) : problem[0] != 0)
			fail_msg("%s: %s", rows[i].statement, problem);
	}
}

static void a_ttl_less_by_one_changes_every_checksum_as_a_growth_does(void **state)
{
	(void)state;
	for (uint32_t sum = 0; sum <= UINT16_MAX; sum++)
		assert_int_equal(checksum_upper_less((uint16_t)sum),
		                 checksum_grown((uint16_t)sum, checksum_growth(0x4011, 0x3f11)));
}

GROUP(hop)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(one_less_is_left_to_live_and_all_else_is_as_it_was),
	        cmocka_unit_test(a_wrong_checksum_stays_wrong),
	        cmocka_unit_test(what_routers_do_not_forward_passes_untouched),
	        cmocka_unit_test(what_expires_is_dropped_and_its_sender_is_told),
	        cmocka_unit_test(without_an_ipv6_address_it_drops_ipv6_in_silence),
	        cmocka_unit_test(without_an_ipv6_address_nothing_that_is_sent_to_zeros_is_for_it),
	        cmocka_unit_test(a_long_packet_in_several_segments_is_quoted_across_them),
	        cmocka_unit_test(
	                what_is_too_long_and_must_stay_whole_is_dropped_and_its_sender_told_the_mtu),
	        cmocka_unit_test(a_packet_that_may_be_divided_is_and_its_parts_make_it_again),
	        cmocka_unit_test(options_are_copied_as_they_must),
	        cmocka_unit_test(options_that_contradict_themselves_are_not_copied),
	        cmocka_unit_test(fragments_of_a_cut_capture_have_what_is_there),
	        cmocka_unit_test(the_number_of_fragments_is_known_before_one_is_made),
	        cmocka_unit_test(what_ends_beyond_an_ip_packet_is_not_divided),
	        cmocka_unit_test(a_packet_that_is_shorter_than_it_says_is_not_divided),
	        cmocka_unit_test(packets_without_a_length_are_divided_in_bursts_of_any_size),
	        cmocka_unit_test(a_packet_that_cannot_be_divided_is_dropped_as_a_whole),
	        cmocka_unit_test(it_answers_ping_and_says_that_its_udp_ports_are_closed),
	        cmocka_unit_test(errors_have_a_limit_that_is_exact),
	        cmocka_unit_test(
	                a_limit_of_none_is_a_silent_router_and_the_default_is_that_of_linux),
	        cmocka_unit_test(identifications_count_on_over_a_change),
	        cmocka_unit_test(another_statement_may_speak_from_its_address),
	        cmocka_unit_test(an_answer_crosses_the_clouds_of_the_way_back),
	        cmocka_unit_test(a_way_back_that_is_none_is_refused),
	        cmocka_unit_test(clouds_that_are_removed_deliver_answers_nevertheless),
	        cmocka_unit_test(the_size_of_bursts_does_not_matter),
	        cmocka_unit_test(a_burst_of_any_packets_fares_as_they_do_one_by_one),
	        cmocka_unit_test(an_address_that_no_router_has_is_refused),
	        cmocka_unit_test(a_ttl_less_by_one_changes_every_checksum_as_a_growth_does),
	};

	return cmocka_run_group_tests_name("hop", tests, rig_group_setup, rig_group_teardown);
}
