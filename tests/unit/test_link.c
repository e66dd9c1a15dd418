/* SPDX-License-Identifier: BSD-3-Clause */
/* The link: rate, queue, and the effects of a change on both. */
#include "trial.h"
#include "runner/group.h"

#include <stdlib.h>
#include <string.h>

#include "holding/log.h"

#define MBIT UINT64_C(1000000)
#define GBIT UINT64_C(1000000000)

static struct rig *linked(uint64_t rate_bps, uint64_t burst_bytes, enum limit_unit unit,
                          uint64_t limit)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	rig_cloud(rig, "x", 0, 1);
	rig_rate(rig, "x", rate_bps, burst_bytes, unit, limit);
	rig_apply(rig, 0);
	return rig;
}

static uint64_t full(struct rig *rig)
{
	return rig_report(rig, "x")->counters.drops[REASON_QUEUE_FULL];
}

static void a_saturated_leaky_bucket_spaces_departures_by_8l_over_r(void **state)
{
	struct rig *rig = linked(10 * MBIT, 0, LIMIT_PACKETS, 1000);

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		rig_send(rig, 0, 1250, 0);
	assert_int_equal(rig_report(rig, "x")->queue_packets, 999);
	assert_int_equal(rig_report(rig, "x")->queue_bytes, 999 * 1250);
	rig_run_out(rig);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(rig->departures[i].due_ns, (i + 1) * SIMTIME_MS);
		assert_int_equal(rig->departures[i].number, i + 1);
	}
	rig_close(rig);
}

/* The million packets of the issue, through the whole engine; the queue is refilled as it
 * drains. */
static void a_million_packets_through_a_saturated_link_end_within_a_nanosecond(void **state)
{
	const uint64_t n = 1000000, rate = 999999937;
	struct rig *rig = linked(rate, 0, LIMIT_PACKETS, 2000);
	uint64_t out = 0;

	(void)state;
	while (out < n) {
		while (rig->sent < n && rig->sent < out + 1000)
			rig_send(rig, 0, 64, rig->now);
		rig_advance(rig, engine_next(rig->engine) + 100000);
		for (; out < rig->n_departures; out++) {
			unsigned __int128 work = (unsigned __int128)(out + 1) * 64 * 8 * SIMTIME_S;

			assert_int_equal(rig->departures[out].due_ns,
			                 (simtime)((work + rate - 1) / rate));
		}
	}
	assert_int_equal(full(rig), 0);
	rig_close(rig);
}

static void a_token_bucket_passes_its_burst_at_once_and_paces_the_rest(void **state)
{
	struct rig *rig = linked(8 * MBIT, 10000, LIMIT_BYTES, 1000000); /* a byte a us */

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		rig_send(rig, 0, 1000, 5);
	rig_advance(rig, 5);
	assert_int_equal(rig->n_departures, 10);
	rig_run_out(rig);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(rig->departures[i].due_ns,
		                 i < 10 ? 5 : 5 + (i - 9) * 1000 * SIMTIME_US);
	rig_close(rig);
}

static void a_limit_in_bytes_counts_what_waits_and_not_what_is_being_sent(void **state)
{
	struct rig *rig = linked(8 * MBIT, 0, LIMIT_BYTES, 3000);

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		rig_send(rig, 0, 1000, 0);
	assert_int_equal(rig_report(rig, "x")->held_packets, 4); /* one is sent, three wait */
	assert_int_equal(rig_report(rig, "x")->queue_bytes, 3000);
	assert_int_equal(full(rig), 6);
	/* at the instant when the head leaves, there is room again */
	rig_send(rig, 0, 1000, SIMTIME_MS - 1);
	assert_int_equal(full(rig), 7);
	rig_send(rig, 0, 1000, SIMTIME_MS);
	assert_int_equal(full(rig), 7);
	rig_send(rig, 0, 1, SIMTIME_MS);
	assert_int_equal(full(rig), 8);
	rig_run_out(rig);
	rig_close(rig);
}

/* Whether the engine was polled or not: the instant of a packet and the current time of the clock
 * are one reading. */
static void a_head_leaves_before_a_packet_that_comes_at_the_same_instant(void **state)
{
	(void)state;
	for (int polled = 0; polled < 2; polled++) {
		struct rig *rig = linked(8 * MBIT, 0, LIMIT_PACKETS, 1);

		assert_true(engine_departure(rig->engine, 0) == SIMTIME_NEVER);
		rig_send(rig, 0, 1000, 0);
		rig_send(rig, 0, 1000, 0);
		assert_int_equal(engine_departure(rig->engine, 0), SIMTIME_MS);
		if (polled)
			rig_advance(rig, SIMTIME_MS);
		rig_send(rig, 0, 1000, SIMTIME_MS);
		assert_int_equal(full(rig), 0);
		assert_int_equal(engine_departure(rig->engine, 0), 2 * SIMTIME_MS);
		/* For the other order, a driver delivers the packet a nanosecond earlier. */
		rig_send(rig, 0, 1000, 2 * SIMTIME_MS - 1);
		assert_int_equal(full(rig), 1);
		rig_run_out(rig);
		assert_true(engine_departure(rig->engine, 0) == SIMTIME_NEVER);
		assert_true(engine_departure(rig->engine, 5) == SIMTIME_NEVER); /* no cloud */
		rig_close(rig);
	}
}

static void a_smaller_packet_may_find_the_room_that_a_larger_did_not(void **state)
{
	struct rig *rig = linked(8 * MBIT, 0, LIMIT_BYTES, 1500);

	(void)state;
	rig_send(rig, 0, 1000, 0);
	rig_send(rig, 0, 1000, 0);
	rig_send(rig, 0, 501, 0);
	assert_int_equal(full(rig), 1);
	rig_send(rig, 0, 500, 0);
	assert_int_equal(full(rig), 1);
	assert_int_equal(rig_report(rig, "x")->queue_bytes, 1500);
	rig_run_out(rig);
	rig_close(rig);
}

static void a_limit_in_packets_counts_packets(void **state)
{
	struct rig *rig = linked(8 * MBIT, 0, LIMIT_PACKETS, 2);

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		rig_send(rig, 0, 60 + 1000 * (i & 1), 0);
	assert_int_equal(full(rig), 3);
	assert_int_equal(rig_report(rig, "x")->queue_packets, 2);
	rig_run_out(rig);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(rig->departures[i].number, i + 1); /* drop tail */
	rig_close(rig);
}

static void dropping_the_head_keeps_the_latest_and_what_is_being_sent(void **state)
{
	static const struct {
		uint64_t burst_bytes;
		enum limit_unit unit;
		uint64_t limit;
		uint64_t numbers[5]; /* that leave, of 8 packets of 1000 B */
	} rows[] = {
	        {0, LIMIT_PACKETS, 2, {1, 7, 8}},
	        {0, LIMIT_BYTES, 3999, {1, 6, 7, 8}},
	        {0, LIMIT_TIME, SIMTIME_MS, {1, 8}},
	        {0, LIMIT_BYTES, 999, {1}},       /* longer than the queue: dropped itself */
	        {1, LIMIT_PACKETS, 3, {1, 7, 8}}, /* it was taken by the link, but still waits */
	        {1, LIMIT_PACKETS, 1, {1}},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
		uint32_t n = 0;

		rig_cloud(rig, "x", 0, 1);
		rig_rate(rig, "x", 8 * MBIT, rows[i].burst_bytes, rows[i].unit, rows[i].limit);
		((struct rate_conf *)(uintptr_t)cloud_conf_get(rig->scenario->clouds[0], "rate"))
		        ->drop = RATE_DROP_HEAD;
		rig_apply(rig, 0);
		for (uint32_t k = 0; k < 8; k++)
			rig_send(rig, 0, 1000, k);
		while (rows[i].numbers[n])
			n++;
		assert_int_equal(full(rig), 8 - n);
		rig_run_out(rig);
		assert_int_equal(rig->n_departures, n);
		for (uint32_t k = 0; k < n; k++) {
			assert_int_equal(rig->departures[k].number, rows[i].numbers[k]);
			assert_true(rig->departures[k].intact);
		}
		rig_close(rig);
	}
}

/* The packet that is being sent when the queue changes stays, and the oldest behind it goes. */
static void a_change_to_drop_head_holds_for_the_next_packet(void **state)
{
	static const struct {
		const char *before[2], *after;
	} rows[] = {
	        {{"rate 8mbit queue 3pkt"}, "rate 8mbit queue 3pkt drop head"},
	        {{"rate 8mbit", "class x queue 3pkt"}, "class x queue 3pkt drop head"},
	        {{"rate 8mbit queue 3pkt", "at 500us rate 8mbit queue 3pkt drop head"}, NULL},
	};
	static const uint64_t order[] = {1, 4, 5, 6};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

		rig_cloud(rig, "x", 0, 1);
		for (uint32_t k = 0; k < 2 && rows[i].before[k]; k++)
			rig_put(rig, "x", trial_conf(rows[i].before[k]));
		rig_apply(rig, 0);
		for (uint32_t k = 0; k < 4; k++)
			rig_send(rig, 0, 1000, 0);
		rig_advance(rig, 500 * SIMTIME_US);
		if (rows[i].after) {
			rig_put(rig, "x", trial_conf(rows[i].after));
			rig_apply(rig, 500 * SIMTIME_US);
		}
		rig_send(rig, 0, 1000, 600 * SIMTIME_US);
		rig_send(rig, 0, 1000, 700 * SIMTIME_US);
		assert_int_equal(full(rig), 2);
		rig_run_out(rig);
		assert_int_equal(rig->n_departures, LENGTH(order));
		for (uint32_t k = 0; k < LENGTH(order); k++) {
			assert_int_equal(rig->departures[k].number, order[k]);
			assert_int_equal(rig->departures[k].due_ns, (k + 1) * SIMTIME_MS);
			assert_true(rig->departures[k].intact);
		}
		rig_close(rig);
	}
}

/* 1000 B count as 1024, or as 986, for the rate, for the limit and in the report. */
static void overhead_counts_for_the_rate_and_for_the_queue(void **state)
{
	struct rig *rig = linked(8 * MBIT, 0, LIMIT_BYTES, 3071);
	struct rate_conf *rate;

	(void)state;
	rate = (struct rate_conf *)(uintptr_t)cloud_conf_get(rig->scenario->clouds[0], "rate");
	rate->overhead = strdup("layer1");
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 5; i++)
		rig_send(rig, 0, 1000, 0);
	assert_int_equal(rig_report(rig, "x")->queue_bytes, 2048);
	assert_int_equal(full(rig), 2);
	rig_advance(rig, 1024 * SIMTIME_US);
	assert_int_equal(rig->departures[0].due_ns, 1024 * SIMTIME_US);
	assert_int_equal(rig_report(rig, "x")->queue_bytes, 1024);
	/* half of the second packet is sent when the lengths change: 474 of 986 B are left */
	rig_advance(rig, 1536 * SIMTIME_US);
	strcpy(rate->overhead, "-14");
	rig_apply(rig, 1536 * SIMTIME_US);
	assert_int_equal(rig_report(rig, "x")->queue_bytes, 986);
	rig_run_out(rig);
	assert_int_equal(rig->departures[1].due_ns, (1536 + 474) * SIMTIME_US);
	assert_int_equal(rig->departures[2].due_ns, (1536 + 474 + 986) * SIMTIME_US);
	assert_int_equal(rig_report(rig, "x")->counters.tx_bytes, 3000);
	rig_close(rig);
}

/* 10 ms at 8 Mbit/s are 10,000 bytes; at 4 Mbit/s 5,000. */
static void a_limit_in_time_follows_the_rate(void **state)
{
	struct rig *rig = linked(8 * MBIT, 0, LIMIT_TIME, 10 * SIMTIME_MS);

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		rig_send(rig, 0, 1000, 0);
	assert_int_equal(rig_report(rig, "x")->queue_bytes, 10000);
	assert_int_equal(full(rig), 9);
	rig_rate(rig, "x", 4 * MBIT, 0, LIMIT_TIME, 10 * SIMTIME_MS);
	rig_apply(rig, 0);
	assert_int_equal(rig_report(rig, "x")->queue_bytes, 10000); /* nothing is dropped */
	rig_send(rig, 0, 60, 0);
	assert_int_equal(full(rig), 10);
	/* at 12 ms, 6 of 11 packets have left: one is being sent, 4000 bytes wait */
	rig_advance(rig, 12 * SIMTIME_MS);
	assert_int_equal(rig_report(rig, "x")->queue_bytes, 4000);
	rig_send(rig, 0, 1000, 12 * SIMTIME_MS);
	assert_int_equal(full(rig), 10);
	rig_send(rig, 0, 1, 12 * SIMTIME_MS);
	assert_int_equal(full(rig), 11);
	rig_run_out(rig);
	rig_close(rig);
}

static void a_queue_that_is_not_given_is_rate_times_delay_and_at_least_64_kb(void **state)
{
	static const struct {
		uint64_t rate_bps;
		simtime delay;
		uint64_t bytes;
	} rows[] = {
	        {8 * MBIT, 0, 64000},
	        {8 * MBIT, 10 * SIMTIME_MS, 64000},
	        {8 * MBIT, 100 * SIMTIME_MS, 100000},
	        {400 * GBIT, DELAY_MAX_NS, UINT64_C(4320000000000000)},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
		const struct rate_conf *rate;
		struct limit limit;

		rig_cloud(rig, "x", 0, 1);
		rig_rate(rig, "x", rows[i].rate_bps, 0, LIMIT_NONE, 0);
		if (rows[i].delay)
			rig_delay(rig, "x", rows[i].delay, 0, DELAY_UNIFORM, ORDER_KEEP);
		rate = (const struct rate_conf *)cloud_conf_get(rig->scenario->clouds[0], "rate");
		limit = rate_queue(rate, rig->scenario->clouds[0]);
		assert_int_equal(limit.unit, LIMIT_BYTES);
		assert_int_equal(limit.value, rows[i].bytes);
		rig_apply(rig, 0);
		if (rows[i].bytes <= 100000) {
			for (uint32_t n = 0; n < 200; n++)
				rig_send(rig, 0, 1000, 0);
			assert_int_equal(rig_report(rig, "x")->queue_bytes, rows[i].bytes);
		}
		rig_run_out(rig);
		rig_close(rig);
	}
}

static void a_change_of_rate_acts_on_what_is_queued_and_on_the_packet_being_sent(void **state)
{
	struct rig *rig = linked(8 * MBIT, 0, LIMIT_PACKETS, 100);

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		rig_send(rig, 0, 1000, 0);
	rig_rate(rig, "x", 4 * MBIT, 0, LIMIT_PACKETS, 100);
	rig_apply(rig, 1500 * SIMTIME_US); /* half of the second packet is sent */
	rig_rate(rig, "x", 16 * MBIT, 0, LIMIT_PACKETS, 100);
	rig_apply(rig, 3500 * SIMTIME_US); /* half of the third packet */
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].due_ns, 1000 * SIMTIME_US);
	assert_int_equal(rig->departures[1].due_ns, 2500 * SIMTIME_US);
	assert_int_equal(rig->departures[2].due_ns, 3750 * SIMTIME_US);
	assert_int_equal(rig->departures[3].due_ns, 4250 * SIMTIME_US);
	rig_close(rig);
}

static void a_rate_that_is_removed_drains_the_queue_at_once_and_in_order(void **state)
{
	static const bool shared[] = {false, true};

	(void)state;
	for (size_t s = 0; s < LENGTH(shared); s++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

		rig_cloud(rig, "x", 0, 1);
		if (shared[s])
			rig_cloud(rig, "y", 2, 1);
		rig_rate(rig, "x", 1000, 0, LIMIT_PACKETS, 100);
		rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
		rig_apply(rig, 0);
		for (uint32_t i = 0; i < 50; i++)
			rig_send(rig, 0, 1000, i);
		rig_unset(rig, "x", "rate");
		rig_apply(rig, 5 * SIMTIME_MS);
		assert_int_equal(engine_next(rig->engine), 5 * SIMTIME_MS);
		rig_send(rig, 0, 1000, 5 * SIMTIME_MS);
		rig_send(rig, 0, 1000, 5 * SIMTIME_MS + 1);
		rig_run_out(rig);
		for (uint32_t i = 0; i < 51; i++) {
			assert_int_equal(rig->departures[i].due_ns, 6 * SIMTIME_MS);
			assert_int_equal(rig->departures[i].number, i + 1);
		}
		assert_int_equal(rig->departures[51].due_ns, 6 * SIMTIME_MS + 1);
		rig_close(rig);
	}
}

static void a_rate_that_is_added_holds_what_comes_after_it(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_send(rig, 0, 1000, 0);
	rig_rate(rig, "x", 8 * MBIT, 0, LIMIT_PACKETS, 100);
	rig_apply(rig, 10);
	rig_send(rig, 0, 1000, 20);
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].due_ns, SIMTIME_MS);
	assert_int_equal(rig->departures[1].due_ns, 20 + 2 * SIMTIME_MS);
	rig_close(rig);
}

/* Packets that left while there was no rate do not count against the next rate. */
static void a_rate_that_comes_back_begins_without_debt(void **state)
{
	struct rig *rig = linked(8 * MBIT, 0, LIMIT_PACKETS, 100);

	(void)state;
	for (uint32_t i = 0; i < 50; i++)
		rig_send(rig, 0, 1000, 0);
	rig_unset(rig, "x", "rate");
	rig_apply(rig, 500 * SIMTIME_US);
	rig_run_out(rig);
	rig_send(rig, 0, 1000, SIMTIME_MS);
	rig_rate(rig, "x", 8 * MBIT, 0, LIMIT_PACKETS, 100);
	rig_apply(rig, 2 * SIMTIME_MS);
	rig_send(rig, 0, 1000, 2 * SIMTIME_MS);
	rig_run_out(rig);
	assert_int_equal(rig->departures[49].due_ns, 500 * SIMTIME_US);
	assert_int_equal(rig->departures[50].due_ns, SIMTIME_MS);
	assert_int_equal(rig->departures[51].due_ns, 3 * SIMTIME_MS);
	rig_close(rig);
}

/* From an emptied token bucket to a leaky bucket: the debt is worked off first. */
static void an_algorithm_may_change_under_load(void **state)
{
	struct rig *rig = linked(8 * MBIT, 5000, LIMIT_PACKETS, 100);

	(void)state;
	for (uint32_t i = 0; i < 7; i++)
		rig_send(rig, 0, 1000, 0);
	rig_advance(rig, 0);
	assert_int_equal(rig->n_departures, 5);
	rig_rate(rig, "x", 8 * MBIT, 0, LIMIT_PACKETS, 100);
	rig_apply(rig, 0);
	rig_run_out(rig);
	assert_int_equal(rig->departures[5].due_ns, 6 * SIMTIME_MS);
	assert_int_equal(rig->departures[6].due_ns, 7 * SIMTIME_MS);
	rig_rate(rig, "x", 8 * MBIT, 5000, LIMIT_PACKETS, 100);
	rig_apply(rig, 8 * SIMTIME_MS);
	for (uint32_t i = 0; i < 6; i++)
		rig_send(rig, 0, 1000, 8 * SIMTIME_MS);
	rig_run_out(rig);
	assert_int_equal(rig->departures[11].due_ns, 8 * SIMTIME_MS);
	assert_int_equal(rig->departures[12].due_ns, 9 * SIMTIME_MS);
	rig_close(rig);
}

static void one_bit_a_second_and_400_gbit_a_second_are_exact(void **state)
{
	static const bool shared[] = {false, true};

	(void)state;
	for (size_t s = 0; s < LENGTH(shared); s++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
		const simtime start = UINT64_C(1700000000) * SIMTIME_S;

		rig_cloud(rig, "x", 0, 1);
		rig_cloud(rig, "z", 3, shared[s] ? 1 : 4);
		rig_rate(rig, "x", 1, 0, LIMIT_PACKETS, 100);
		rig_rate(rig, "z", 400 * GBIT, 0, LIMIT_PACKETS, 100);
		rig_apply(rig, start);
		rig_send(rig, 0, 1500, start);
		rig_send(rig, 0, 9000, start);
		rig_send(rig, 3, 1000, start);
		rig_send(rig, 3, 1000, start);
		rig_run_out(rig);
		assert_int_equal(rig->departures[0].due_ns, start + 20);
		assert_int_equal(rig->departures[1].due_ns, start + 40);
		assert_int_equal(rig->departures[2].due_ns, start + 12000 * SIMTIME_S);
		assert_int_equal(rig->departures[3].due_ns, start + 84000 * SIMTIME_S);
		rig_close(rig);
	}
}

/* The wheel of shared clouds looks 52 days ahead; a link may look further: 20 MB at one bit a
 * second. */
static void a_shared_link_may_take_years_over_a_packet_and_holds_up_nobody(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct rte_mbuf *mbuf;

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_cloud(rig, "y", 2, 1);
	rig_rate(rig, "x", 1, UINT64_C(1000000000), LIMIT_BYTES, UINT64_C(1) << 40);
	rig_delay(rig, "y", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 3000; i++) {
		mbuf = rig_packet(rig, RIG_PLAIN, 0, i + 1, 60, 250000, 0);
		rig_ingress(rig, &mbuf, 1);
	}
	rig_advance(rig, 0);
	assert_int_equal(rig->n_departures, 3000);
	rig_rate(rig, "x", 1, 0, LIMIT_BYTES, UINT64_C(1) << 40);
	rig_apply(rig, 0);
	mbuf = rig_packet(rig, RIG_PLAIN, 0, 3001, 60, 1000, 0);
	rig_ingress(rig, &mbuf, 1);
	/* behind 750 MB: 190 years */
	for (uint32_t i = 0; i < 3; i++) {
		rig_send(rig, 2, 60, SIMTIME_S + i * 30 * 86400 * SIMTIME_S);
		rig_advance(rig, SIMTIME_S + i * 30 * 86400 * SIMTIME_S + SIMTIME_MS);
		assert_int_equal(rig->n_departures, 3001 + i);
	}
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 3004);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(rig->departures[3000 + i].due_ns,
		                 SIMTIME_S + i * 30 * 86400 * SIMTIME_S + SIMTIME_MS);
	assert_int_equal(rig->departures[3003].due_ns, UINT64_C(6000008000) * SIMTIME_S);
	rig_close(rig);
}

/* A capture may claim any original length. */
static void a_packet_of_an_impossible_length_on_the_wire_does_no_harm(void **state)
{
	struct rig *rig = linked(400 * GBIT, 0, LIMIT_PACKETS, 100);

	(void)state;
	for (uint32_t i = 0; i < 50; i++) {
		struct rte_mbuf *mbuf = rig_packet(rig, RIG_PLAIN, 0, i + 1, 60, UINT32_MAX - i, 0);

		rig_ingress(rig, &mbuf, 1);
	}
	rig_run_out(rig);
	for (uint32_t i = 0; i < 50; i++) {
		assert_int_equal(rig->departures[i].wire_bytes, UINT32_MAX - i);
		assert_true(rig->departures[i].due_ns <= (i + 1) * 90 * SIMTIME_MS);
	}
	rig_close(rig);
}

/* The timers that wake shared links are in the same memory as the packets. If there is none left,
 * packets are dropped, but everything else goes on. */
static void shared_links_go_on_when_memory_is_used_up(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1, .memory_bytes = 8 * CHUNK_BYTES});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_cloud(rig, "y", 2, 1);
	rig_rate(rig, "x", MBIT, 0, LIMIT_PACKETS, 1000000);
	rig_rate(rig, "y", 2 * MBIT, 0, LIMIT_PACKETS, 1000000);
	rig_delay(rig, "x", 10 * SIMTIME_S, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 2000; i++)
		rig_send(rig, i & 2, 60, i);
	rig_run_out(rig);
	assert_true(rig->n_departures > 0);
	assert_int_equal(rig->n_departures +
	                         rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER] +
	                         rig_report(rig, "y")->counters.drops[REASON_NO_BUFFER],
	                 2000);
	rig_close(rig);
}

GROUP(link)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_saturated_leaky_bucket_spaces_departures_by_8l_over_r),
	        cmocka_unit_test(
	                a_million_packets_through_a_saturated_link_end_within_a_nanosecond),
	        cmocka_unit_test(a_token_bucket_passes_its_burst_at_once_and_paces_the_rest),
	        cmocka_unit_test(a_limit_in_bytes_counts_what_waits_and_not_what_is_being_sent),
	        cmocka_unit_test(a_head_leaves_before_a_packet_that_comes_at_the_same_instant),
	        cmocka_unit_test(a_smaller_packet_may_find_the_room_that_a_larger_did_not),
	        cmocka_unit_test(a_limit_in_packets_counts_packets),
	        cmocka_unit_test(dropping_the_head_keeps_the_latest_and_what_is_being_sent),
	        cmocka_unit_test(a_change_to_drop_head_holds_for_the_next_packet),
	        cmocka_unit_test(overhead_counts_for_the_rate_and_for_the_queue),
	        cmocka_unit_test(a_limit_in_time_follows_the_rate),
	        cmocka_unit_test(a_queue_that_is_not_given_is_rate_times_delay_and_at_least_64_kb),
	        cmocka_unit_test(
	                a_change_of_rate_acts_on_what_is_queued_and_on_the_packet_being_sent),
	        cmocka_unit_test(a_rate_that_is_removed_drains_the_queue_at_once_and_in_order),
	        cmocka_unit_test(a_rate_that_is_added_holds_what_comes_after_it),
	        cmocka_unit_test(a_rate_that_comes_back_begins_without_debt),
	        cmocka_unit_test(an_algorithm_may_change_under_load),
	        cmocka_unit_test(one_bit_a_second_and_400_gbit_a_second_are_exact),
	        cmocka_unit_test(a_shared_link_may_take_years_over_a_packet_and_holds_up_nobody),
	        cmocka_unit_test(a_packet_of_an_impossible_length_on_the_wire_does_no_harm),
	        cmocka_unit_test(shared_links_go_on_when_memory_is_used_up),
	};

	return cmocka_run_group_tests_name("link", tests, rig_group_setup, rig_group_teardown);
}
