/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that conform to a token bucket pass an idle link without being queued, and so do packets
 * that have left when the next packet of their burst comes. There are three paths (cloud_link.h),
 * and all have the same result. */
#include "trial.h"
#include "runner/group.h"

#include <string.h>

#define PACKETS   4000
#define RATE      UINT64_C(8000000) /* a byte a us */
#define DEPTH     UINT64_C(5000)
#define BYTE_NS   SIMTIME_US
#define FRAME_MIN 60u

struct arrival {
	simtime t;
	uint32_t bytes;
};

/* Trains of packets at one instant, alone and with gaps: the bucket is full, empty, and in
 * between. */
static void arrivals_make(struct arrival *arrivals)
{
	const struct draw_key key = draw_key_make(7, "arrivals", "");
	simtime t = SIMTIME_MS;

	for (uint32_t i = 0; i < PACKETS; i++) {
		uint64_t draw = draw_u64(key, i, 0);

		if (draw % 8 == 0)
			t += draw_index(draw_u64(key, i, 1), 14 * SIMTIME_MS);
		arrivals[i] = (struct arrival){t, FRAME_MIN + (uint32_t)(draw >> 32) % 1200};
	}
}

/* Computes the departures of the bucket itself, with tokens measured by the time to earn them.
 * Without a depth, it is the leaky bucket. */
static void departures_expect(const struct arrival *arrivals, uint64_t depth, simtime *due)
{
	uint64_t tokens = depth * BYTE_NS;
	simtime at = 0;

	for (uint32_t i = 0; i < PACKETS; i++) {
		uint64_t need = arrivals[i].bytes * BYTE_NS;
		simtime t = simtime_max(at, arrivals[i].t);

		tokens = RTE_MIN(tokens + (t - at), depth * BYTE_NS);
		if (tokens < need) {
			t += need - tokens;
			tokens = need;
		}
		tokens -= need;
		at = t;
		due[i] = t;
	}
}

struct way {
	const char *name;
	bool shared;      /* another cloud leads to the same port */
	const char *also; /* one more statement, which observes packets; or NULL */
};

static struct rig *open_way(const struct way *way, uint64_t depth)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	rig_cloud(rig, "x", 0, 1);
	rig_rate(rig, "x", RATE, depth, LIMIT_PACKETS, PACKETS);
	if (way->shared)
		rig_cloud(rig, "y", 2, 1);
	if (way->also)
		rig_put(rig, "x", trial_conf(way->also));
	rig_apply(rig, 0);
	return rig;
}

static const struct way ways[] = {
        {"alone", false, NULL},
        {"shared", true, NULL},
        {"managed", false, "mark above 100MB"},
        {"managed and shared", true, "mark above 100MB"},
        {"watched", false, "meter window 1ms"},
};

static void send_all(struct rig *rig, const struct arrival *arrivals, uint32_t burst)
{
	struct rte_mbuf *mbufs[BURST_MAX];

	for (uint32_t i = 0; i < PACKETS;) {
		uint16_t n = 0;

		for (; n < burst && i < PACKETS; i++)
			mbufs[n++] = rig_packet(rig, RIG_PLAIN, 0, i + 1, arrivals[i].bytes, 0,
			                        arrivals[i].t);
		rig_ingress(rig, mbufs, n);
		rig_advance(rig, arrivals[i - 1].t);
	}
	rig_run_out(rig);
}

/* Asserts the departures on every path. Returns how many packets leave at the instant of their
 * arrival. */
static uint32_t assert_all_ways(uint64_t depth)
{
	static struct arrival arrivals[PACKETS];
	static simtime due[PACKETS];
	static const uint32_t bursts[] = {1, 7, 32};
	uint32_t at_once = 0;

	arrivals_make(arrivals);
	departures_expect(arrivals, depth, due);
	for (uint32_t i = 0; i < PACKETS; i++)
		at_once += due[i] == arrivals[i].t;
	for (size_t w = 0; w < LENGTH(ways) * LENGTH(bursts); w++) {
		const struct way *way = &ways[w / LENGTH(bursts)];
		uint32_t burst = bursts[w % LENGTH(bursts)];
		struct rig *rig = open_way(way, depth);

		send_all(rig, arrivals, burst);
		assert_int_equal(rig->n_departures, PACKETS);
		for (uint32_t i = 0; i < PACKETS; i++) {
			const struct departure *out = &rig->departures[i];

			if (out->number != i + 1 || out->due_ns != due[i])
				fail_msg("%s, bursts of %u: departure %u is packet %lu at %lu, "
				         "expected at %lu",
				         way->name, burst, i + 1, out->number, out->due_ns, due[i]);
			assert_true(out->intact);
		}
		rig_close(rig);
	}
	return at_once;
}

static void on_every_way_each_packet_leaves_when_its_tokens_are_there(void **state)
{
	(void)state;
	/* Otherwise one of the cases would not be tested. */
	assert_in_range(assert_all_ways(DEPTH), PACKETS / 4, PACKETS * 3 / 4);
}

static void on_every_way_a_leaky_bucket_sends_one_packet_after_the_other(void **state)
{
	(void)state;
	assert_int_equal(assert_all_ways(0), 0);
}

/* A rate that divides nothing, a jitter, a limit that drops, and an overhead. Compares the
 * departures of bursts with those one by one, and the packets held after each burst. */
static void what_has_left_when_the_next_comes_differs_in_nothing_from_what_was_queued(void **state)
{
	static struct arrival arrivals[PACKETS];
	struct rig *rigs[2];

	(void)state;
	arrivals_make(arrivals);
	for (int k = 0; k < 2; k++) {
		rigs[k] = rig_open(&(struct rig_setup){.seed = 5});
		rig_cloud(rigs[k], "x", 0, 1);
		rig_put(rigs[k], "x", trial_conf("rate 7777777bit queue 4kB overhead layer1"));
		rig_delay(rigs[k], "x", 3 * SIMTIME_MS, SIMTIME_MS, DELAY_NORMAL, ORDER_ALLOW);
		rig_apply(rigs[k], 0);
	}
	for (uint32_t i = 0; i < PACKETS; i += 32) {
		for (int k = 0; k < 2; k++) {
			struct rte_mbuf *mbufs[BURST_MAX];
			uint16_t n = 0;

			for (uint32_t m = i; m < i + 32; m++) {
				mbufs[n++] = rig_packet(rigs[k], RIG_PLAIN, 0, m + 1,
				                        arrivals[m].bytes, 0, arrivals[m].t);
				if (k == 1) {
					rig_ingress(rigs[k], mbufs, n);
					n = 0;
				}
			}
			if (n > 0)
				rig_ingress(rigs[k], mbufs, n);
			rig_advance(rigs[k], arrivals[i + 31].t);
		}
		assert_int_equal(rig_report(rigs[0], "x")->held_packets,
		                 rig_report(rigs[1], "x")->held_packets);
		assert_int_equal(rig_report(rigs[0], "x")->queue_packets,
		                 rig_report(rigs[1], "x")->queue_packets);
	}
	rig_run_out(rigs[0]);
	rig_run_out(rigs[1]);
	assert_in_range(rigs[0]->n_departures, PACKETS / 2, PACKETS - 100);
	assert_int_equal(rigs[0]->n_departures, rigs[1]->n_departures);
	for (uint32_t i = 0; i < rigs[0]->n_departures; i++) {
		assert_int_equal(rigs[0]->departures[i].number, rigs[1]->departures[i].number);
		assert_int_equal(rigs[0]->departures[i].due_ns, rigs[1]->departures[i].due_ns);
	}
	rig_close(rigs[0]);
	rig_close(rigs[1]);
}

static void what_conforms_is_not_in_the_queue(void **state)
{
	(void)state;
	for (size_t w = 0; w < LENGTH(ways); w++) {
		struct rig *rig = open_way(&ways[w], DEPTH);

		rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
		rig_apply(rig, 0);
		for (uint32_t i = 0; i < 5; i++)
			rig_send(rig, 0, DEPTH / 5, 9);
		assert_int_equal(rig_report(rig, "x")->queue_packets, 0);
		assert_int_equal(rig_report(rig, "x")->held_packets, 5);
		rig_send(rig, 0, FRAME_MIN, 9);
		assert_int_equal(rig_report(rig, "x")->queue_packets, 1);
		rig_run_out(rig);
		assert_int_equal(rig->departures[5].due_ns, 9 + FRAME_MIN * BYTE_NS + SIMTIME_MS);
		rig_close(rig);
	}
}

/* The jitter is drawn for each packet that enters the line, in order: a link that delays no packet
 * has no effect. */
static void a_bucket_that_holds_up_nobody_changes_no_delay(void **state)
{
	struct rig *rigs[2];

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct arrival arrivals[64];
		struct rte_mbuf *mbufs[BURST_MAX];

		rigs[k] = rig_open(&(struct rig_setup){.seed = 3});
		rig_cloud(rigs[k], "x", 0, 1);
		if (k == 1)
			rig_rate(rigs[k], "x", UINT64_C(400000000000), 1000000, LIMIT_NONE, 0);
		rig_delay(rigs[k], "x", SIMTIME_MS, SIMTIME_MS / 4, DELAY_NORMAL, ORDER_ALLOW);
		rig_apply(rigs[k], 0);
		for (uint32_t i = 0; i < LENGTH(arrivals); i++)
			arrivals[i] = (struct arrival){1000 + i / 3, FRAME_MIN + i};
		for (uint32_t i = 0; i < LENGTH(arrivals); i += 16) {
			for (uint32_t m = 0; m < 16; m++)
				mbufs[m] = rig_packet(rigs[k], RIG_PLAIN, 0, i + m + 1,
				                      arrivals[i + m].bytes, 0, arrivals[i + m].t);
			rig_ingress(rigs[k], mbufs, 16);
		}
		rig_run_out(rigs[k]);
	}
	assert_int_equal(rigs[0]->n_departures, 64);
	assert_int_equal(rigs[1]->n_departures, 64);
	for (uint32_t i = 0; i < 64; i++) {
		assert_int_equal(rigs[0]->departures[i].number, rigs[1]->departures[i].number);
		assert_int_equal(rigs[0]->departures[i].due_ns, rigs[1]->departures[i].due_ns);
	}
	rig_close(rigs[0]);
	rig_close(rigs[1]);
}

GROUP(link_pass)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(on_every_way_each_packet_leaves_when_its_tokens_are_there),
	        cmocka_unit_test(on_every_way_a_leaky_bucket_sends_one_packet_after_the_other),
	        cmocka_unit_test(
	                what_has_left_when_the_next_comes_differs_in_nothing_from_what_was_queued),
	        cmocka_unit_test(what_conforms_is_not_in_the_queue),
	        cmocka_unit_test(a_bucket_that_holds_up_nobody_changes_no_delay),
	};

	return cmocka_run_group_tests_name("link-pass", tests, rig_group_setup, rig_group_teardown);
}
