/* SPDX-License-Identifier: BSD-3-Clause */
/* The unified feedback header and SIRENS: every byte of both, and what a hop and a proxy do with
 * them. */
#include "trial.h"
#include "runner/group.h"

#include <string.h>

#include <rte_ip.h>

#include "engine/cloud.h"
#include "frame.h"
#include "header/feedback_header.h"
#include "header/oq_header.h"
#include "packet/headers.h"

#define LEFT (FRAME_BYTES_MAX + 128)
#define HOP  "hop 192.0.2.1 2001:db8::99"

/* ---- frames ---- */

static void put_u16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* A number of 32 bits in network order. */
#define U32(n) (uint8_t)((n) >> 24), (uint8_t)((n) >> 16), (uint8_t)((n) >> 8), (uint8_t)(n)
#define NONE   0xff, 0xff, 0xff, 0xff

static void mend(uint8_t *ip)
{
	uint16_t sum;

	memset(ip + 10, 0, 2);
	sum = (uint16_t)~rte_raw_cksum(ip, (ip[0] & 0xfu) * 4);
	memcpy(ip + 10, &sum, 2);
}

static void set_ttl(uint8_t *frame, const struct frame_shape *shape, uint8_t ttl)
{
	uint8_t *ip = frame + frame_network(shape);

	ip[shape->ip == 4 ? 8 : 7] = ttl;
	if (shape->ip == 4)
		mend(ip);
}

/* Makes a frame with `n` bytes of a header between IP and the transport, independently of weir's
 * code. */
static uint32_t frame_with(uint8_t *frame, const struct frame_shape *shape, uint8_t ttl,
                           const uint8_t *header, uint32_t n)
{
	uint32_t bytes = frame_make(frame, shape), at = frame_transport(shape);
	uint8_t *ip = frame + frame_network(shape);
	uint32_t next = shape->n_extensions ? frame_transport(shape) - 8 : frame_network(shape) + 6;

	memmove(frame + at + n, frame + at, bytes - at);
	if (n)
		memcpy(frame + at, header, n);
	if (shape->ip == 4) {
		put_u16(ip + 2, headers_u16(ip + 2) + n);
		ip[9] = n ? 253 : shape->protocol;
	} else {
		put_u16(ip + 4, headers_u16(ip + 4) + n);
		frame[next] = n ? 253 : shape->protocol;
	}
	set_ttl(frame, shape, ttl);
	return bytes + n;
}

/* ---- a rig of one cloud, and the last packet that left it ---- */

static uint8_t left[LEFT];
static uint32_t n_left, left_bytes, left_wire_bytes, left_port;

static struct rig *open_cloud(const char *const *lines)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 5});

	rig_cloud(rig, "x", 0, 1);
	for (; *lines; lines++)
		rig_put(rig, "x", trial_conf(*lines));
	rig_apply(rig, 0);
	return rig;
}

static void advance(struct rig *rig, simtime now)
{
	rig->now = now;
	do {
		for (uint32_t port = 0; port < RIG_PORTS; port++) {
			const struct outlet *outlet = engine_outlet(rig->engine, port);

			for (uint32_t i = 0; i < outlet->n; i++) {
				struct rte_mbuf *mbuf = outlet->mbufs[i];
				const void *bytes;

				n_left++;
				left_port = port;
				left_bytes = mbuf->pkt_len;
				left_wire_bytes = outlet->wire_bytes[i];
				bytes = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, left);
				if (bytes != left)
					memcpy(left, bytes, left_bytes);
			}
		}
		rig_collect(rig);
	} while (engine_advance(rig->engine, now) > 0);
	rig_check(rig);
}

static void pass_shaped(struct rig *rig, enum rig_shape shape, uint32_t port, const uint8_t *frame,
                        uint32_t bytes, simtime t)
{
	struct rte_mbuf *mbuf;
	simtime next;

	advance(rig, t);
	mbuf = rig_packet(rig, shape, port, rig->sent + 1, bytes, 0, t);
	for (struct rte_mbuf *s = mbuf; s; s = s->next) {
		memcpy(rte_pktmbuf_mtod(s, void *), frame, s->data_len);
		frame += s->data_len;
	}
	n_left = 0;
	rig_ingress(rig, &mbuf, 1);
	advance(rig, t);
	while (n_left == 0 && (next = engine_next(rig->engine)) != SIMTIME_NEVER)
		advance(rig, RTE_MAX(next, rig->now));
}

/* Sends the frame at t, and waits until it has left. */
static void pass(struct rig *rig, uint32_t port, const uint8_t *frame, uint32_t bytes, simtime t)
{
	pass_shaped(rig, RIG_PLAIN, port, frame, bytes, t);
}

static void assert_left(const uint8_t *frame, uint32_t bytes)
{
	assert_int_equal(n_left, 1);
	assert_int_equal(left_bytes, bytes);
	assert_int_equal(left_wire_bytes, bytes);
	assert_memory_equal(left, frame, bytes);
}

static const struct counters *counters(struct rig *rig)
{
	return &rig_report(rig, "x")->counters;
}

static const struct frame_shape shapes[] = {
        {.ip = 4, .protocol = FRAME_TCP, .host = 5, .payload_bytes = 700},
        {.ip = 4, .protocol = FRAME_UDP, .host = 5, .n_tags = 1, .option_words = 3},
        {.ip = 4, .protocol = FRAME_ICMP, .host = 5, .n_tags = 2, .payload_bytes = 33},
        {.ip = 4, .protocol = 132, .host = 5, .payload_bytes = 90, .padding_bytes = 9},
        {.ip = 6, .protocol = FRAME_TCP, .host = 5, .n_tags = 2, .n_extensions = 3},
        {.ip = 6, .protocol = FRAME_UDP, .host = 5, .payload_bytes = 1400},
        {.ip = 6, .protocol = FRAME_ICMPV6, .host = 5, .n_tags = 1, .payload_bytes = 5},
};

/* ---- the hop ---- */

static const char *const router[] = {HOP, "feedback header window 1ms", "rate 10mbit queue 50pkt",
                                     NULL};

static void a_hop_writes_eight_bytes_and_counts_the_ttl_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(shapes) * RIG_SHAPES; i++) {
		const struct frame_shape *shape = &shapes[i / RIG_SHAPES];
		const uint8_t ask[16] = {3, 1, 0xa5, 64, 2, 0, 9, shape->protocol, NONE, NONE};
		const uint8_t answered[16] = {
		        3, 1, 0xa5, 64, 2, 0, 9, shape->protocol, U32(10000), U32(10000)};
		enum rig_shape kind = (enum rig_shape)(i % RIG_SHAPES);
		uint8_t frame[LEFT], expected[LEFT];
		struct rig *rig = open_cloud(router);
		uint32_t bytes = frame_with(frame, shape, 64, ask, sizeof(ask));
		/* In a frame of three segments, the header may lie beyond the first. */
		bool whole = kind != RIG_SEGMENTED || bytes / 3 + 1 >= frame_transport(shape) + 16;
		bool ip = kind != RIG_SEGMENTED || bytes / 3 + 1 >= frame_transport(shape);

		frame_with(expected, shape, ip ? 63 : 64, whole ? answered : ask, sizeof(ask));
		pass_shaped(rig, kind, 0, frame, bytes, 1);
		if (ip)
			assert_left(expected, bytes);
		assert_int_equal(counters(rig)->feedback_written, whole);
		rig_close(rig);
	}
}

static void a_request_for_another_ttl_or_for_nothing_is_left_alone(void **state)
{
	static const uint8_t rows[][4] = {
	        {3, 1, 0, 63}, /* for the next hop */
	        {3, 1, 0, 65}, /* for a hop before */
	        {0, 1, 0, 64}, /* no mode */
	        {3, 0, 0, 64}, /* no probe */
	        {3, 1, 0, 255},
	};
	struct rig *rig = open_cloud(router);
	const struct frame_shape *shape = &shapes[0];

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint8_t ask[32] = {0, 0, 0, 0, 1, 16, 64, FRAME_TCP, 1, 2, 3, 4, 5, 6, 7, 8, 9};
		uint8_t frame[LEFT], expected[LEFT];
		uint32_t bytes;

		memcpy(ask, rows[i], 4);
		bytes = frame_with(frame, shape, 64, ask, sizeof(ask));
		frame_with(expected, shape, 63, ask, sizeof(ask));
		pass(rig, 0, frame, bytes, (i + 1) * SIMTIME_MS);
		assert_left(expected, bytes);
	}
	assert_int_equal(counters(rig)->feedback_written, 0);
	assert_int_equal(counters(rig)->feedback_malformed, 0);
	rig_close(rig);
}

/* MIN and MAX apply to each number separately; the TTL does not matter. */
static void the_least_and_the_greatest_are_kept_number_by_number(void **state)
{
	static const struct {
		uint8_t mode;
		uint32_t there[2], then[2];
	} rows[] = {
	        {1, {UINT32_MAX, UINT32_MAX}, {10000, 10000}},
	        {1, {9999, 10001}, {9999, 10000}},
	        {1, {10001, 9999}, {10000, 9999}},
	        {2, {0, 0}, {10000, 10000}},
	        {2, {9999, 10001}, {10000, 10001}},
	        {2, {20000, 0}, {20000, 10000}},
	};
	struct rig *rig = open_cloud(router);

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint8_t ask[16] = {rows[i].mode, 1, 0, 7, 0, 0, 0, FRAME_UDP};
		uint8_t frame[LEFT], expected[LEFT];
		uint32_t bytes;

		for (int k = 0; k < 2; k++)
			headers_put_u32(ask + 8 + 4 * k, rows[i].there[k]);
		bytes = frame_with(frame, &shapes[5], 64, ask, sizeof(ask));
		for (int k = 0; k < 2; k++)
			headers_put_u32(ask + 8 + 4 * k, rows[i].then[k]);
		frame_with(expected, &shapes[5], 63, ask, sizeof(ask));
		pass(rig, 0, frame, bytes, (i + 1) * 10 * SIMTIME_MS);
		/* The window in which the packet before was sent is long over. */
		assert_left(expected, bytes);
	}
	rig_close(rig);
}

static void what_it_says_is_what_the_meter_reads(void **state)
{
	static const char *const lossy[] = {HOP, "feedback header window 10ms",
	                                    "rate 1mbit queue 4pkt", "loss every 7", NULL};
	struct rig *rig = open_cloud(lossy);
	const struct meter_reading *r;

	(void)state;
	for (uint32_t i = 0; i < 19; i++)
		rig_send(rig, 0, 125, 1000);
	for (uint8_t probe = 1; probe <= 3; probe++) {
		const uint8_t ask[16] = {3, probe, 0, 64, 0, 0, 0, FRAME_UDP, NONE, NONE};
		uint8_t frame[LEFT];
		uint32_t bytes = frame_with(frame, &shapes[1], 64, ask, sizeof(ask));
		struct oq_value said;

		pass(rig, 0, frame, bytes, 10 * SIMTIME_MS + probe);
		said = oq_get(left + frame_transport(&shapes[1]) + 8);
		r = &rig_report(rig, "x")->observed.meter;
		/* 5 packets of 125 bytes left, 1 ms each; 2 were lost, 12 found no room. */
		if (probe == 1) {
			assert_int_equal(said.number[0], 1000);
			assert_int_equal(said.number[1], 500);
		} else if (probe == 2) {
			assert_int_equal(said.number[0], r->loss_ppb);
			assert_int_equal(said.number[0], 12 * UINT64_C(1000000000) / 17);
			assert_int_equal(said.number[1], 2 * UINT64_C(1000000000) / 19);
		} else {
			assert_int_equal(r->queue_milli, 1000); /* 4, 3, 2, 1 for 1 ms */
			assert_int_equal(said.number[0], 1);
			assert_int_equal(said.number[1], 2000);
		}
		if (probe == 3)
			break;
		/* The next windows would count the probes themselves. */
		rig_close(rig);
		rig = open_cloud(lossy);
		for (uint32_t i = 0; i < 19; i++)
			rig_send(rig, 0, 125, 1000);
	}
	rig_close(rig);
}

static void the_size_of_a_queue_may_be_its_limit(void **state)
{
	static const struct {
		const char *rate, *classes[2];
		uint32_t packets;
	} rows[] = {
	        {"rate 800mbit queue 200pkt", {NULL}, 200},
	        {"rate 800mbit queue 15140B", {NULL}, 10},
	        {"rate 800mbit queue 1ms", {NULL}, 66}, /* 100,000 bytes */
	        /* classes have the queues, and that of `rate` has no packets */
	        {"rate 800mbit queue 99pkt", {"class x queue 20pkt", NULL}, 20},
	        {"rate 800mbit queue 99pkt",
	         {"class y queue 15140B", "class x queue 20pkt match 0 of 2"},
	         30},
	        {"rate 800mbit queue 99pkt", {"class y queue 1ms", "class x match 0 of 2"}, 165},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *const lines[] = {HOP,
		                             "feedback header queue limit",
		                             rows[i].rate,
		                             rows[i].classes[0],
		                             rows[i].classes[1],
		                             NULL};
		const uint8_t ask[16] = {3, 3, 0, 64, 0, 0, 0, FRAME_UDP, NONE, NONE};
		struct rig *rig = open_cloud(lines);
		uint8_t frame[LEFT];
		uint32_t bytes = frame_with(frame, &shapes[1], 64, ask, sizeof(ask));

		pass(rig, 0, frame, bytes, 1);
		assert_int_equal(oq_get(left + frame_transport(&shapes[1]) + 8).number[0],
		                 rows[i].packets);
		rig_close(rig);
	}
}

static void without_a_rate_the_link_has_no_limit(void **state)
{
	static const char *const free_link[] = {HOP, "feedback header", NULL};
	const uint8_t ask[16] = {3, 1, 0, 64, 0, 0, 0, FRAME_UDP, 0, 0, 0, 0, 0, 0, 0, 0};
	struct rig *rig = open_cloud(free_link);
	uint8_t frame[LEFT];
	uint32_t bytes = frame_with(frame, &shapes[1], 64, ask, sizeof(ask));

	(void)state;
	pass(rig, 0, frame, bytes, 1);
	assert_int_equal(oq_get(left + frame_transport(&shapes[1]) + 8).number[0], OQ_MOST);
	assert_int_equal(oq_get(left + frame_transport(&shapes[1]) + 8).number[1], OQ_MOST);
	rig_close(rig);
}

static void a_malformed_header_passes_untouched_and_is_counted(void **state)
{
	static const struct {
		const char *what;
		uint8_t at, value;
		uint32_t keep; /* bytes of the header and what follows; 0: all */
	} rows[] = {
	        {"mode 4", 0, 4, 0},        {"mode 255", 0, 255, 0}, {"probe 4", 1, 4, 0},
	        {"res_probe 4", 4, 4, 0},   {"res_len 4", 5, 4, 0},  {"res_len 72", 5, 72, 0},
	        {"cut off", 0, 3, 15},      {"one byte", 0, 3, 1},   {"no answers", 5, 8, 23},
	        {"res_len 255", 5, 255, 0},
	};
	static const struct frame_shape shape4 = {.ip = 4,
	                                          .protocol = FRAME_UDP,
	                                          .payload_bytes = 90},
	                                shape6 = {.ip = 6,
	                                          .protocol = FRAME_UDP,
	                                          .payload_bytes = 90};
	struct rig *rig = open_cloud(router);

	(void)state;
	for (size_t i = 0; i < 2 * LENGTH(rows); i++) {
		const struct frame_shape *shape = i & 1 ? &shape6 : &shape4;
		uint8_t ask[16] = {3, 1, 0, 64, 0, 0, 0, FRAME_UDP};
		uint8_t frame[LEFT], expected[LEFT];
		uint32_t bytes, keep = rows[i / 2].keep, at = frame_transport(shape);

		ask[rows[i / 2].at] = rows[i / 2].value;
		for (int down = 0; down < 2; down++) {
			uint8_t *to = down ? expected : frame;
			uint8_t *ip = to + frame_network(shape);

			bytes = frame_with(to, shape, 64, ask, sizeof(ask));
			if (keep) {
				bytes = at + keep;
				put_u16(ip + (shape->ip == 4 ? 2 : 4),
				        keep + (shape->ip == 4 ? 20 : 0));
			}
			set_ttl(to, shape, down ? 63 : 64);
		}
		pass(rig, 0, frame, bytes, (i + 1) * SIMTIME_MS);
		assert_left(expected, bytes);
		if (counters(rig)->feedback_malformed != i + 1)
			fail_msg("%s is not counted", rows[i / 2].what);
	}
	assert_int_equal(counters(rig)->feedback_written, 0);
	rig_close(rig);
}

/* Sends requests of all kinds, in bursts of this size. Returns a digest of all that left, and sets
 * the counts. */
static uint64_t play_requests(uint16_t burst, uint64_t *written, uint64_t *malformed)
{
	struct rig *rig =
	        open_cloud((const char *const[]){HOP, "feedback header window 1ms", NULL});
	const struct frame_shape shape = {.ip = 4, .protocol = FRAME_UDP, .host = 5};
	struct draw_key key = draw_key_make(1, "requests", "chance");
	struct rte_mbuf *mbufs[BURST_MAX];
	uint64_t hash = 0;
	uint16_t n = 0;

	for (uint32_t i = 0; i < 6400; i++) {
		uint64_t dice = draw_u64(key, i, 0);
		/* Runs of one kind, with other packets between. */
		uint64_t run = dice & 7 ? draw_u64(key, i / 12, 1) : dice >> 3;
		uint8_t header[24] = {(uint8_t)(run & 3), (uint8_t)(1 + (run >> 2) % 3), 0, 64};
		uint8_t frame[LEFT];
		uint32_t bytes;

		header[OQ_REQ_PROBE] =
		        (run >> 8 & 15) ? header[OQ_REQ_PROBE] : (uint8_t)(run >> 12 & 7);
		header[OQ_RES_LEN] = (run >> 16 & 7) ? 0 : (uint8_t)(run >> 19 & 24);
		header[OQ_NEXT] = FRAME_UDP;
		memset(header + OQ_REQUEST, dice >> 40 & 1 ? 0xff : 0, 8);
		bytes = frame_with(frame, &shape, dice >> 41 & 7 ? 64 : 63, header,
		                   dice >> 44 & 7 ? 24 : 8 + (dice >> 47 & 8));
		if ((dice >> 50 & 15) == 0)
			frame[14 + 9] = 252;
		if ((dice >> 54 & 15) == 0) {
			/* The IP packet ends within the header, or behind it. */
			put_u16(frame + 16, 20 + (uint32_t)(dice >> 58 & 31));
			mend(frame + 14);
		}
		mbufs[n] = rig_packet(rig, dice >> 59 ? RIG_PLAIN : RIG_SHARED, 0, i + 1, bytes, 0,
		                      1 + i / 32 * 100000);
		memcpy(rte_pktmbuf_mtod(mbufs[n], void *), frame, bytes);
		if (++n < burst)
			continue;
		rig_ingress(rig, mbufs, n);
		n = 0;
		if (i % 32 == 31)
			rig_advance(rig, 1 + i / 32 * 100000);
	}
	assert_int_equal(rig->n_departures, 6400);
	for (uint32_t i = 0; i < rig->n_departures; i++)
		hash = (hash ^ rig->departures[i].digest) * UINT64_C(0x100000001b3);
	*written = counters(rig)->feedback_written;
	*malformed = counters(rig)->feedback_malformed;
	rig_close(rig);
	return hash;
}

static void requests_of_a_burst_are_answered_as_one_by_one(void **state)
{
	uint64_t written, malformed, written_one, malformed_one;
	uint64_t one = play_requests(1, &written_one, &malformed_one);

	(void)state;
	assert_in_range(written_one, 1000, 5000);
	assert_in_range(malformed_one, 100, 3000);
	assert_int_equal(play_requests(32, &written, &malformed), one);
	assert_int_equal(written, written_one);
	assert_int_equal(malformed, malformed_one);
}

static void another_protocol_is_another_header(void **state)
{
	static const char *const other[] = {HOP, "feedback header protocol 254", "rate 10mbit",
	                                    NULL};
	const uint8_t ask[16] = {3, 1, 0, 64, 0, 0, 0, FRAME_TCP};
	struct rig *rig = open_cloud(other);
	uint8_t frame[LEFT];
	uint32_t bytes = frame_with(frame, &shapes[0], 64, ask, sizeof(ask));

	(void)state;
	pass(rig, 0, frame, bytes, 1);
	assert_int_equal(counters(rig)->feedback_written, 0);
	frame[frame_network(&shapes[0]) + 9] = 254;
	mend(frame + frame_network(&shapes[0]));
	pass(rig, 0, frame, bytes, SIMTIME_MS);
	assert_int_equal(counters(rig)->feedback_written, 1);
	rig_close(rig);
}

static void only_a_router_answers(void **state)
{
	(void)state;
	assert_non_null(strstr(trial_problem("feedback header"), "`cloud x hop 192.0.2.1`"));
	assert_non_null(strstr(trial_problem("feedback sirens"), "`cloud x hop 192.0.2.1`"));
	assert_non_null(strstr(trial_problem("feedback proxy answer"), "`answer of down-4`"));
	assert_non_null(strstr(trial_problem("feedback proxy insert of y"), "leave it out"));
	assert_string_equal(trial_problem("feedback proxy strip"), "");
}

/* ---- SIRENS ---- */

static const struct frame_shape option_shape = {.ip = 4,
                                                .protocol = FRAME_TCP,
                                                .host = 5,
                                                .n_tags = 1,
                                                .option_words = 5,
                                                .payload_bytes = 50};

static uint32_t frame_with_option(uint8_t *frame, uint8_t ttl, const uint8_t *options)
{
	uint32_t bytes = frame_make(frame, &option_shape);

	memcpy(frame + frame_network(&option_shape) + 20, options, 20);
	set_ttl(frame, &option_shape, ttl);
	return bytes;
}

static const char *const sirens_router[] = {"hop 192.0.2.1 mtu 1400", "feedback sirens window 1ms",
                                            "rate 10mbit queue 50pkt", NULL};

/* The option is at an odd place in the header, so that the number straddles its words. */
static void an_option_is_answered_and_the_header_checksum_made_right(void **state)
{
	static const struct {
		uint8_t probe;
		uint32_t says;
	} rows[] = {{1, 10000}, {4, 0}, {5, 0}, {6, 50}, {7, 0}, {8, 1400}};

	(void)state;
	for (size_t i = 0; i < 2 * LENGTH(rows); i++) {
		struct rig *rig = open_cloud(sirens_router);
		uint8_t options[20] = {0}, frame[LEFT], expected[LEFT];
		uint8_t *option = options + i % 2; /* behind a no-operation */
		uint32_t bytes;

		options[0] = 1;
		memcpy(option, (const uint8_t[]){94, 16, 3, rows[i / 2].probe, 64, 1, 4, 60}, 8);
		memset(option + 8, 0xff, 4);
		memcpy(option + 12, "answ", 4);
		bytes = frame_with_option(frame, 64, options);
		headers_put_u32(option + 8, rows[i / 2].says);
		frame_with_option(expected, 63, options);
		pass(rig, 0, frame, bytes, 1);
		assert_left(expected, bytes);
		assert_int_equal(frame_wrong_sums(left, &option_shape), 0);
		assert_int_equal(counters(rig)->feedback_written, 1);
		rig_close(rig);
	}
}

static void sirens_counts_bytes_as_an_interface_does(void **state)
{
	struct rig *rig = open_cloud(sirens_router);
	uint8_t options[20] = {94, 12, 3, 2, 64, 0, 0, 0}, frame[LEFT];
	uint32_t bytes, at = frame_network(&option_shape) + 20 + 8;

	(void)state;
	bytes = frame_with_option(frame, 64, options);
	pass(rig, 0, frame, bytes, SIMTIME_MS);
	assert_int_equal(headers_u32(left + at), 0);
	pass(rig, 0, frame, bytes, 2 * SIMTIME_MS);
	assert_int_equal(headers_u32(left + at), bytes);
	options[3] = 3;
	bytes = frame_with_option(frame, 64, options);
	pass(rig, 0, frame, bytes, 3 * SIMTIME_MS);
	/* The cloud counts the packet before it answers. */
	assert_int_equal(headers_u32(left + at), 3 * bytes);
	rig_close(rig);
}

/* A link without a rate, or one whose rate is removed or added, sends bytes, too. */
static void sirens_counts_bytes_that_no_rate_holds_up(void **state)
{
	static const char *const free_router[] = {HOP, "feedback sirens window 1ms", NULL};
	struct rig *rig = open_cloud(free_router);
	uint8_t options[20] = {94, 12, 3, 2, 64, 0, 0, 0}, frame[LEFT];
	uint32_t bytes = frame_with_option(frame, 64, options);
	uint32_t at = frame_network(&option_shape) + 20 + 8;

	(void)state;
	for (uint32_t i = 0; i < 9; i++) {
		if (i == 3)
			rig_put(rig, "x", trial_conf("rate 10mbit"));
		if (i == 6)
			rig_unset(rig, "x", "rate");
		if (i % 3 == 0)
			rig_apply(rig, i * SIMTIME_MS);
		pass(rig, 0, frame, bytes, (i + 1) * SIMTIME_MS);
		assert_int_equal(headers_u32(left + at), i * bytes);
	}
	rig_close(rig);
}

static void a_malformed_option_passes_untouched_and_is_counted(void **state)
{
	static const struct {
		uint8_t at, value;
		bool counts;
	} rows[] = {
	        {1, 11, true}, {1, 13, true}, {1, 24, true}, {1, 0, true},   {2, 4, true},
	        {3, 9, true},  {5, 9, true},  {6, 4, true},  {4, 63, false}, {0, 93, false},
	};
	struct rig *rig = open_cloud(sirens_router);
	uint64_t malformed = 0;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint8_t options[20] = {94, 12, 3, 1, 64, 0, 0, 0}, frame[LEFT], expected[LEFT];
		uint32_t bytes;

		options[rows[i].at] = rows[i].value;
		bytes = frame_with_option(frame, 64, options);
		frame_with_option(expected, 63, options);
		pass(rig, 0, frame, bytes, (i + 1) * SIMTIME_MS);
		assert_left(expected, bytes);
		malformed += rows[i].counts;
		assert_int_equal(counters(rig)->feedback_malformed, malformed);
	}
	assert_int_equal(counters(rig)->feedback_written, 0);
	rig_close(rig);
}

/* ---- proxies ---- */

static void a_proxy_asks_each_router_in_turn_for_each_probe(void **state)
{
	static const char *const inserts[] = {"feedback proxy insert hops 2 probe link,queue",
	                                      NULL};
	static const uint8_t asked[][2] = {{1, 64}, {1, 63}, {3, 64}, {3, 63}, {1, 64}};

	(void)state;
	for (size_t s = 0; s < LENGTH(shapes); s++) {
		struct rig *rig = open_cloud(inserts);

		for (size_t i = 0; i < LENGTH(asked); i++) {
			const uint8_t ask[16] = {3, asked[i][0],        0,    asked[i][1], 0, 0,
			                         0, shapes[s].protocol, NONE, NONE};
			uint8_t frame[LEFT], expected[LEFT];
			uint32_t bytes = frame_with(frame, &shapes[s], 64, NULL, 0);

			frame_with(expected, &shapes[s], 64, ask, sizeof(ask));
			pass(rig, 0, frame, bytes, i + 1);
			assert_left(expected, bytes + 16);
		}
		assert_int_equal(counters(rig)->feedback_inserted, LENGTH(asked));
		rig_close(rig);
	}
}

static void a_packet_passes_as_it_is_where_a_header_has_no_room(void **state)
{
	static const char *const inserts[] = {"feedback proxy insert mtu 1000", NULL};
	static const struct {
		struct frame_shape shape;
		uint8_t ttl, no_room;
	} rows[] = {
	        {{.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 957}, 64, 1}, /* 1001 in all */
	        {{.ip = 6, .protocol = FRAME_UDP, .payload_bytes = 937}, 64, 1},
	        {{.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 80, .fragment = 9}, 64, 1},
	        {{.ip = 6, .protocol = FRAME_UDP, .payload_bytes = 80, .fragment = 9}, 64, 1},
	        {{.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 80, .fragment = 0x2000}, 64, 1},
	        {{.ip = 4, .protocol = 51, .payload_bytes = 80}, 64, 1},
	        {{.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 80}, 63, 0},
	        {{.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 80}, 128, 0},
	};
	struct rig *rig = open_cloud(inserts);
	uint64_t no_room = 0;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint8_t frame[LEFT];
		uint32_t bytes = frame_make(frame, &rows[i].shape);

		set_ttl(frame, &rows[i].shape, rows[i].ttl);
		pass(rig, 0, frame, bytes, i + 1);
		assert_left(frame, bytes);
		no_room += rows[i].no_room;
		assert_int_equal(counters(rig)->feedback_no_room, no_room);
	}
	assert_int_equal(counters(rig)->feedback_inserted, 0);
	rig_close(rig);
}

static struct rig *open_ends(void)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 5});

	rig_cloud(rig, "x", 0, 1);
	rig_cloud(rig, "y", 1, 0);
	rig_put(rig, "x", trial_conf("feedback proxy strip"));
	rig_put(rig, "y", trial_conf("feedback proxy answer of x"));
	rig_apply(rig, 0);
	return rig;
}

static void what_was_put_in_is_taken_out_byte_for_byte(void **state)
{
	(void)state;
	for (size_t s = 0; s < LENGTH(shapes); s++) {
		struct rig *rig = open_ends();
		uint8_t header[80] = {0}, frame[LEFT], expected[LEFT];

		header[7] = shapes[s].protocol;
		for (uint32_t n = 16; n <= 80; n += 8) {
			uint32_t bytes;

			header[4] = 1;
			header[5] = (uint8_t)(n - 16);
			bytes = frame_with(frame, &shapes[s], 61, header, n);
			frame_with(expected, &shapes[s], 61, NULL, 0);
			pass(rig, 0, frame, bytes, n);
			assert_left(expected, bytes - n);
			assert_int_equal(left_port, 1);
		}
		assert_int_equal(counters(rig)->feedback_stripped, 9);
		rig_close(rig);
	}
}

static void ask(struct rig *rig, uint8_t probe, uint8_t ttl, uint32_t a, uint32_t b, simtime t)
{
	const uint8_t header[16] = {3, probe, 0, ttl, 0, 0, 0, FRAME_TCP, U32(a), U32(b)};
	uint8_t frame[LEFT];
	uint32_t bytes = frame_with(frame, &shapes[0], 61, header, sizeof(header));

	pass(rig, 0, frame, bytes, t);
}

static void expect_answer(struct rig *rig, const uint8_t *header, uint32_t n, simtime t)
{
	uint8_t frame[LEFT], expected[LEFT];
	uint32_t bytes = frame_with(frame, &shapes[5], 60, NULL, 0);

	frame_with(expected, &shapes[5], 60, header, n);
	pass(rig, 1, frame, bytes, t);
	assert_left(expected, bytes + n);
	assert_int_equal(left_port, 0);
}

static void answers_that_follow_one_another_are_stacked(void **state)
{
	struct rig *rig = open_ends();

	(void)state;
	ask(rig, 1, 64, 20000, 100, 1);
	ask(rig, 1, 63, 30000, 200, 2);
	ask(rig, 1, 62, UINT32_MAX, UINT32_MAX, 3); /* no router answers */
	ask(rig, 3, 64, 7, 70, 4);
	ask(rig, 3, 62, 8, 80, 5); /* does not continue the run */
	expect_answer(rig,
	              (const uint8_t[]){0,         0, 0,          0,        1,          16,      64,
	                                FRAME_UDP, 0, 0,          0,        0,          0,       0,
	                                0,         0, U32(20000), U32(100), U32(30000), U32(200)},
	              32, 6);
	expect_answer(rig,
	              (const uint8_t[]){0, 0, 0, 0, 3, 8, 64, FRAME_UDP, 0, 0, 0, 0, 0, 0, 0, 0,
	                                U32(7), U32(70)},
	              24, 7);
	expect_answer(rig,
	              (const uint8_t[]){0, 0, 0, 0, 3, 8, 62, FRAME_UDP, 0, 0, 0, 0, 0, 0, 0, 0,
	                                U32(8), U32(80)},
	              24, 8);
	expect_answer(rig, NULL, 0, 9); /* everything was reported before */
	assert_int_equal(rig_report(rig, "y")->counters.feedback_answered, 3);
	rig_close(rig);
}

static void no_more_than_eight_answers_are_stacked_and_old_ones_are_let_go(void **state)
{
	uint8_t header[80] = {0, 0, 0, 0, 1, 64, 64, FRAME_UDP};
	struct rig *rig = open_ends();
	simtime t = 0;

	(void)state;
	for (uint8_t i = 0; i < 10; i++)
		ask(rig, 1, (uint8_t)(64 - i), i, 2u * i, ++t);
	for (uint8_t i = 0; i < 8; i++) {
		headers_put_u32(header + 16 + 8 * i, i);
		headers_put_u32(header + 20 + 8 * i, 2u * i);
	}
	expect_answer(rig, header, 80, ++t);
	expect_answer(rig, (const uint8_t[]){0, 0, 0, 0, 1, 16, 56,     FRAME_UDP, 0,      0,
	                                     0, 0, 0, 0, 0, 0,  U32(8), U32(16),   U32(9), U32(18)},
	              32, ++t);
	/* 17 runs of one answer each: nothing of the first is left. */
	for (uint8_t i = 0; i < 17; i++)
		ask(rig, 2, 64, i, 0, ++t);
	expect_answer(rig,
	              (const uint8_t[]){0, 0, 0, 0, 2, 8, 64, FRAME_UDP, 0, 0, 0, 0, 0, 0, 0, 0,
	                                U32(1), U32(0)},
	              24, ++t);
	rig_close(rig);
}

static void the_path_shows_the_latest_of_each_router(void **state)
{
	uint8_t header[32] = {0, 0, 0, 0, 3, 16, 63,     FRAME_TCP, 0,      0,
	                      0, 0, 0, 0, 0, 0,  U32(1), U32(10),   U32(2), U32(20)};
	const struct observed *seen;
	struct rig *rig = open_ends();
	uint8_t frame[LEFT];
	uint32_t bytes;

	(void)state;
	assert_true(rig_report(rig, "x")->observed.has_path);
	assert_int_equal(rig_report(rig, "x")->observed.n_hops, 0);
	ask(rig, 1, 64, 20000, 100, 10);
	ask(rig, 1, 64, 20000, 101, 20);
	bytes = frame_with(frame, &shapes[0], 61, header, sizeof(header));
	pass(rig, 0, frame, bytes, 30);
	seen = &rig_report(rig, "x")->observed;
	assert_int_equal(seen->n_hops, 3);
	assert_int_equal(seen->now_ns, 30);
	assert_int_equal(seen->hops[0].hop, 1);
	assert_int_equal(seen->hops[0].ttl, 64);
	assert_int_equal(seen->hops[0].probe[OBSERVED_LINK].value[1], 101);
	assert_int_equal(seen->hops[0].probe[OBSERVED_LINK].at_ns, 20);
	assert_false(seen->hops[0].probe[OBSERVED_QUEUE].heard);
	assert_int_equal(seen->hops[1].hop, 2);
	assert_int_equal(seen->hops[1].probe[OBSERVED_QUEUE].value[1], 10);
	assert_int_equal(seen->hops[2].ttl, 62);
	assert_int_equal(seen->hops[2].probe[OBSERVED_QUEUE].value[0], 2);
	/* A change of the proxy keeps the values that it has received. */
	rig_put(rig, "x", trial_conf("feedback proxy strip mtu 1500"));
	rig_apply(rig, 40);
	assert_int_equal(rig_report(rig, "x")->observed.n_hops, 3);
	rig_close(rig);
}

static void a_header_that_is_there_takes_the_request(void **state)
{
	static const char *const inserts[] = {"feedback proxy insert", NULL};
	uint8_t header[24] = {0, 0, 0, 0, 1, 8, 64, FRAME_TCP}, frame[LEFT], expected[LEFT];
	struct rig *rig = open_cloud(inserts);
	uint32_t bytes = frame_with(frame, &shapes[0], 64, header, sizeof(header));

	(void)state;
	header[0] = 3;
	header[1] = 1;
	header[3] = 64;
	memset(header + 8, 0xff, 8);
	frame_with(expected, &shapes[0], 64, header, sizeof(header));
	pass(rig, 0, frame, bytes, 1);
	assert_left(expected, bytes);
	pass(rig, 0, expected, bytes, 2); /* the packet carries a request already */
	assert_left(expected, bytes);
	assert_int_equal(counters(rig)->feedback_inserted, 1);
	rig_close(rig);
}

GROUP(feedback)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_hop_writes_eight_bytes_and_counts_the_ttl_down),
	        cmocka_unit_test(a_request_for_another_ttl_or_for_nothing_is_left_alone),
	        cmocka_unit_test(the_least_and_the_greatest_are_kept_number_by_number),
	        cmocka_unit_test(what_it_says_is_what_the_meter_reads),
	        cmocka_unit_test(the_size_of_a_queue_may_be_its_limit),
	        cmocka_unit_test(without_a_rate_the_link_has_no_limit),
	        cmocka_unit_test(a_malformed_header_passes_untouched_and_is_counted),
	        cmocka_unit_test(requests_of_a_burst_are_answered_as_one_by_one),
	        cmocka_unit_test(another_protocol_is_another_header),
	        cmocka_unit_test(only_a_router_answers),
	        cmocka_unit_test(an_option_is_answered_and_the_header_checksum_made_right),
	        cmocka_unit_test(sirens_counts_bytes_as_an_interface_does),
	        cmocka_unit_test(sirens_counts_bytes_that_no_rate_holds_up),
	        cmocka_unit_test(a_malformed_option_passes_untouched_and_is_counted),
	        cmocka_unit_test(a_proxy_asks_each_router_in_turn_for_each_probe),
	        cmocka_unit_test(a_packet_passes_as_it_is_where_a_header_has_no_room),
	        cmocka_unit_test(what_was_put_in_is_taken_out_byte_for_byte),
	        cmocka_unit_test(answers_that_follow_one_another_are_stacked),
	        cmocka_unit_test(no_more_than_eight_answers_are_stacked_and_old_ones_are_let_go),
	        cmocka_unit_test(the_path_shows_the_latest_of_each_router),
	        cmocka_unit_test(a_header_that_is_there_takes_the_request),
	};

	return cmocka_run_group_tests_name("feedback", tests, rig_group_setup, rig_group_teardown);
}
