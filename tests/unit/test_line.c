/* SPDX-License-Identifier: BSD-3-Clause */
/* The line as seen from outside: packets enter and leave at certain instants. */
#include "rig.h"
#include "runner/group.h"

#include <stdlib.h>

#include "holding/log.h"
#include "random/distribution.h"

#define EPOCH UINT64_C(1700000000123456789)

static void a_constant_delay_is_exact_for_every_packet(void **state)
{
	static const uint64_t delays[] = {0, 1, 255, 100 * SIMTIME_MS, 5 * SIMTIME_S, DELAY_MAX_NS};
	static const simtime origins[] = {0, EPOCH};

	(void)state;
	for (size_t d = 0; d < LENGTH(delays); d++) {
		for (size_t o = 0; o < LENGTH(origins); o++) {
			struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

			rig_cloud(rig, "x", 0, 1);
			rig_delay(rig, "x", delays[d], 0, DELAY_UNIFORM, ORDER_KEEP);
			rig_apply(rig, origins[o]);
			for (uint32_t i = 0; i < 200; i++)
				rig_send(rig, 0, 60 + 10 * i, origins[o] + 777 * i);
			rig_run_out(rig);
			assert_int_equal(rig->n_departures, 200);
			for (uint32_t i = 0; i < 200; i++) {
				assert_int_equal(rig->departures[i].due_ns,
				                 origins[o] + 777 * i + delays[d]);
				assert_int_equal(rig->departures[i].number, i + 1);
				assert_int_equal(rig->departures[i].port, 1);
				assert_true(rig->departures[i].intact);
			}
			assert_int_equal(rig_report(rig, "x")->delay_ns.min, delays[d]);
			assert_int_equal(rig_report(rig, "x")->delay_ns.max, delays[d]);
			rig_close(rig);
		}
	}
}

static void nothing_leaves_a_nanosecond_before_it_is_due(void **state)
{
	static const enum delay_order orders[] = {ORDER_KEEP, ORDER_ALLOW};

	(void)state;
	for (size_t o = 0; o < LENGTH(orders); o++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

		rig_cloud(rig, "x", 0, 1);
		rig_delay(rig, "x", 10 * SIMTIME_MS, 0, DELAY_UNIFORM, orders[o]);
		rig_apply(rig, 0);
		rig_send(rig, 0, 60, 1000);
		rig_advance(rig, 10 * SIMTIME_MS + 999);
		assert_int_equal(rig->n_departures, 0);
		rig_advance(rig, 10 * SIMTIME_MS + 1000);
		assert_int_equal(rig->n_departures, 1);
		rig_close(rig);
	}
}

static struct rig *jittered(enum delay_distribution distribution, enum delay_order order,
                            simtime origin, simtime gap, uint32_t n)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3});

	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 40 * SIMTIME_MS, 10 * SIMTIME_MS, distribution, order);
	rig_apply(rig, origin);
	for (uint32_t i = 0; i < n; i++)
		rig_send(rig, 0, 60, origin + gap * i);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, n);
	return rig;
}

static void order_keep_never_lets_a_packet_overtake(void **state)
{
	(void)state;
	for (int distribution = DELAY_UNIFORM; distribution <= DELAY_NORMAL; distribution++) {
		struct rig *rig = jittered((enum delay_distribution)distribution, ORDER_KEEP, EPOCH,
		                           SIMTIME_US, 5000);

		for (uint32_t i = 0; i < 5000; i++) {
			assert_int_equal(rig->departures[i].number, i + 1);
			if (i)
				assert_true(rig->departures[i].due_ns >=
				            rig->departures[i - 1].due_ns);
		}
		assert_int_equal(rig_report(rig, "x")->counters.reordered, 0);
		rig_close(rig);
	}
}

/* With a gap wider than the jitter, order does not matter: the delay drawn is the delay
 * measured. */
static void the_delay_of_a_packet_is_the_draw_of_its_ordinal(void **state)
{
	static struct distribution uniform;
	struct draw_key key = draw_key_make(3, "x", "delay");
	struct rig *keep = jittered(DELAY_UNIFORM, ORDER_KEEP, EPOCH, 30 * SIMTIME_MS, 300);
	struct rig *allow = jittered(DELAY_UNIFORM, ORDER_ALLOW, EPOCH, 30 * SIMTIME_MS, 300);

	(void)state;
	distribution_uniform(&uniform, 10 * SIMTIME_MS);
	for (uint32_t i = 0; i < 300; i++) {
		simtime due = EPOCH + i * 30 * SIMTIME_MS + 40 * SIMTIME_MS +
		              (uint64_t)distribution_draw(&uniform, draw_u64(key, i, 0));

		assert_int_equal(keep->departures[i].due_ns, due);
		assert_int_equal(allow->departures[i].due_ns, due);
	}
	rig_close(keep);
	rig_close(allow);
}

static void order_allow_lets_packets_leave_as_their_delays_say(void **state)
{
	static struct distribution normal;
	struct draw_key key = draw_key_make(3, "x", "delay");
	struct rig *rig = jittered(DELAY_NORMAL, ORDER_ALLOW, EPOCH, SIMTIME_US, 5000);
	uint64_t overtaking = 0;
	simtime latest = 0;

	(void)state;
	distribution_normal(&normal, 10 * SIMTIME_MS);
	for (uint32_t i = 1; i < 5000; i++)
		assert_true(rig->departures[i].due_ns >= rig->departures[i - 1].due_ns);
	for (uint32_t i = 0; i < 5000; i++) {
		uint64_t number = rig->departures[i].number;
		int64_t deviation = distribution_draw(&normal, draw_u64(key, number - 1, 0));

		if (deviation < -40 * (int64_t)SIMTIME_MS)
			deviation = -40 * (int64_t)SIMTIME_MS;
		assert_int_equal(rig->departures[i].due_ns, EPOCH + (number - 1) * SIMTIME_US +
		                                                    40 * SIMTIME_MS +
		                                                    (uint64_t)deviation);
	}
	for (uint32_t i = 0; i < 5000; i++) {
		int64_t deviation = distribution_draw(&normal, draw_u64(key, i, 0));
		simtime due = EPOCH + i * SIMTIME_US + 40 * SIMTIME_MS + (uint64_t)deviation;

		overtaking += due < latest;
		latest = due > latest ? due : latest;
	}
	assert_int_equal(rig_report(rig, "x")->counters.reordered, overtaking);
	assert_true(overtaking > 1000);
	rig_close(rig);
}

static void a_delay_is_never_negative(void **state)
{
	static const enum delay_order orders[] = {ORDER_KEEP, ORDER_ALLOW};

	(void)state;
	for (size_t o = 0; o < LENGTH(orders); o++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 3});

		rig_cloud(rig, "x", 0, 1);
		rig_delay(rig, "x", SIMTIME_MS, 20 * SIMTIME_MS, DELAY_NORMAL, orders[o]);
		rig_apply(rig, 0);
		for (uint32_t i = 0; i < 2000; i++) {
			rig_send(rig, 0, 60, i * 200 * SIMTIME_MS);
			rig_advance(rig, (i + 1) * 200 * SIMTIME_MS - 1);
			assert_int_equal(rig->n_departures, i + 1);
			assert_true(rig->departures[i].due_ns >= i * 200 * SIMTIME_MS);
		}
		assert_int_equal(rig_report(rig, "x")->delay_ns.min, 0);
		rig_close(rig);
	}
}

/* Packets in flight keep their delay; packets after the change have the new one. */
static void a_shorter_delay_makes_later_packets_wait_in_order_keep(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 100 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_send(rig, 0, 60, 0);
	rig_delay(rig, "x", 10 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, SIMTIME_MS);
	rig_send(rig, 0, 60, 2 * SIMTIME_MS);
	rig_send(rig, 0, 60, 95 * SIMTIME_MS);
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].due_ns, 100 * SIMTIME_MS);
	assert_int_equal(rig->departures[1].due_ns, 100 * SIMTIME_MS);
	assert_int_equal(rig->departures[2].due_ns, 105 * SIMTIME_MS);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(rig->departures[i].number, i + 1);
	rig_close(rig);
}

static void a_shorter_delay_lets_later_packets_overtake_in_order_allow(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 100 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_ALLOW);
	rig_apply(rig, 0);
	rig_send(rig, 0, 60, 0);
	rig_delay(rig, "x", 10 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_ALLOW);
	rig_apply(rig, SIMTIME_MS);
	rig_send(rig, 0, 60, 2 * SIMTIME_MS);
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].number, 2);
	assert_int_equal(rig->departures[0].due_ns, 12 * SIMTIME_MS);
	assert_int_equal(rig->departures[1].due_ns, 100 * SIMTIME_MS);
	assert_int_equal(rig_report(rig, "x")->counters.reordered, 1);
	rig_close(rig);
}

/* A wheel looks 52 days ahead. A wheel that was not advanced for longer, or that was made at
 * instant 0 and has its first packet at an instant since 1970, must not take the future for the
 * past. */
static void a_wheel_that_stood_still_is_brought_to_the_present(void **state)
{
	static const simtime starts[] = {EPOCH, EPOCH + 40 * 86400 * SIMTIME_S,
	                                 EPOCH + 400 * 86400 * SIMTIME_S};
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 100 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_ALLOW);
	rig_apply(rig, 0);
	for (uint32_t s = 0; s < LENGTH(starts); s++) {
		rig_send(rig, 0, 60, starts[s]);
		rig_advance(rig, starts[s] + 1);
		rig_delay(rig, "x", 10 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_ALLOW);
		rig_apply(rig, starts[s] + 2);
		rig_send(rig, 0, 60, starts[s] + 3);
		rig_advance(rig, starts[s] + 10 * SIMTIME_MS + 3);
		assert_int_equal(rig->n_departures, 2 * s + 1);
		rig_run_out(rig);
		assert_int_equal(rig->departures[2 * s].number, 2 * s + 2);
		assert_int_equal(rig->departures[2 * s].due_ns, starts[s] + 10 * SIMTIME_MS + 3);
		assert_int_equal(rig->departures[2 * s + 1].due_ns, starts[s] + 100 * SIMTIME_MS);
		rig_delay(rig, "x", 100 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_ALLOW);
		rig_apply(rig, rig->now);
	}
	rig_close(rig);
}

static void order_may_change_from_keep_to_allow_and_back_while_packets_are_on_the_way(void **state)
{
	static const struct {
		simtime change, send, delay;
		enum delay_order order;
		simtime due;
		uint64_t place; /* in the order of departure */
	} rows[] = {
	        {0, 1, 1000, ORDER_KEEP, 1001, 2},   {2, 3, 500, ORDER_ALLOW, 503, 1},
	        {4, 5, 996, ORDER_ALLOW, 1001, 3}, /* ties with the first, and came later */
	        {6, 7, 100, ORDER_KEEP, 1001, 4},  /* held back */
	        {8, 9, 10, ORDER_ALLOW, 19, 0},      {10, 11, 990, ORDER_ALLOW, 1001, 5},
	        {12, 13, 5000, ORDER_KEEP, 5013, 6}, {14, 15, 0, ORDER_KEEP, 5013, 7},
	};
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		rig_delay(rig, "x", rows[i].delay, 0, DELAY_UNIFORM, rows[i].order);
		rig_apply(rig, rows[i].change);
		rig_send(rig, 0, 60, rows[i].send);
	}
	rig_run_out(rig);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct departure *departure = &rig->departures[rows[i].place];

		assert_int_equal(departure->number, i + 1);
		assert_int_equal(departure->due_ns, rows[i].due);
	}
	rig_close(rig);
}

static void a_line_without_a_delay_statement_lets_packets_leave_as_they_come(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_apply(rig, 5);
	rig_send(rig, 0, 60, 10);
	rig_advance(rig, 10);
	assert_int_equal(rig->n_departures, 1);
	assert_int_equal(rig->departures[0].due_ns, 10);
	rig_close(rig);
}

/* A poll that received nothing is no packet, and must not hold back the packets after it. */
static void an_empty_burst_leaves_no_trace(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 100 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_receive(rig, 0, NULL, 0, 50 * SIMTIME_MS);
	rig_delay(rig, "x", 10 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 50 * SIMTIME_MS);
	rig_send(rig, 0, 60, 60 * SIMTIME_MS);
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].due_ns, 70 * SIMTIME_MS);
	assert_int_equal(rig_report(rig, "x")->delay_ns.count, 1);
	rig_close(rig);
}

/* Whether each packet has a struct packet, or the burst was received at one instant without. */
static void of_a_burst_each_packet_that_waits_for_its_turn_is_counted(void **state)
{
	(void)state;
	for (int received = 0; received < 2; received++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
		struct rte_mbuf *mbufs[8];

		rig_cloud(rig, "x", 0, 1);
		rig_delay(rig, "x", 10 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
		rig_apply(rig, 0);
		rig_send(rig, 0, 60, SIMTIME_MS);
		rig_delay(rig, "x", 4 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
		rig_apply(rig, SIMTIME_MS);
		for (uint32_t i = 0; i < LENGTH(mbufs); i++)
			mbufs[i] = rig_packet(rig, RIG_PLAIN, 0, i + 2, 60, 0, 2 * SIMTIME_MS);
		if (received) {
			rig_receive(rig, 0, mbufs, LENGTH(mbufs), 2 * SIMTIME_MS);
			rig->sent += LENGTH(mbufs);
			rig->now = 2 * SIMTIME_MS;
		} else {
			rig_ingress(rig, mbufs, LENGTH(mbufs));
		}
		assert_int_equal(rig_report(rig, "x")->order_waits, LENGTH(mbufs));
		assert_int_equal(rig_report(rig, "x")->order_waited_ns,
		                 LENGTH(mbufs) * 5 * SIMTIME_MS);
		rig_run_out(rig);
		rig_close(rig);
	}
}

/* If packets are on a line when another cloud is put behind it, they continue into that cloud. */
static void go_on_into_a_cloud_that_comes_later(enum delay_order order)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1, .live = true});
	struct rte_mbuf *mbufs[8];
	uint32_t seen = 0;

	rig_cloud(rig, "x", 0, 1);
	/* `order allow` uses a wheel. */
	rig_delay(rig, "x", 10 * SIMTIME_MS, order == ORDER_ALLOW, DELAY_BIMODAL, order);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < LENGTH(mbufs); i++) {
		mbufs[i] = rig_packet(rig, RIG_PLAIN, 0, i + 1, 60, 0, SIMTIME_MS);
		memset(packet_of(mbufs[i]), 0xee, sizeof(struct packet));
	}
	rig_receive(rig, 0, mbufs, LENGTH(mbufs), SIMTIME_MS);
	rig->sent = LENGTH(mbufs);
	rig->now = SIMTIME_MS;
	rig_chain(rig, "y", "x", 2);
	rig_delay(rig, "y", 5 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 2 * SIMTIME_MS);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, LENGTH(mbufs));
	for (uint32_t i = 0; i < LENGTH(mbufs); i++) {
		uint64_t number = rig->departures[i].number;

		assert_true(rig->departures[i].intact && number >= 1 && number <= LENGTH(mbufs));
		seen |= 1u << (number - 1);
		assert_int_equal(rig->departures[i].port, 2);
		assert_in_range(rig->departures[i].due_ns, 16 * SIMTIME_MS - 1,
		                16 * SIMTIME_MS + 1);
	}
	assert_int_equal(seen, (1u << LENGTH(mbufs)) - 1);
	assert_int_equal(rig_report(rig, "y")->counters.rx_bytes, LENGTH(mbufs) * 60);
	rig_close(rig);
}

static void packets_on_a_line_go_on_into_a_cloud_that_comes_behind_it(void **state)
{
	(void)state;
	go_on_into_a_cloud_that_comes_later(ORDER_KEEP);
	go_on_into_a_cloud_that_comes_later(ORDER_ALLOW);
}

/* Departures wait for an mbuf, and continue with the first free one: otherwise packets that are
 * held in mbufs of their own would never return them. */
static void a_pool_that_is_nearly_empty_does_not_stop_the_line(void **state)
{
	static const struct {
		enum delay_order order;
		uint32_t free, frame_bytes;
	} rows[] = {
	        {ORDER_KEEP, 3, 60},  {ORDER_ALLOW, 3, 60},  {ORDER_KEEP, 1, 60},
	        {ORDER_ALLOW, 1, 60}, {ORDER_KEEP, 0, 1500}, {ORDER_ALLOW, 0, 1500},
	};
	struct rte_mbuf **taken = malloc((RIG_MBUFS + 1) * sizeof(*taken));

	(void)state;
	assert_non_null(taken);
	for (size_t r = 0; r < LENGTH(rows); r++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
		uint32_t n = 0;

		rig_cloud(rig, "x", 0, 1);
		rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM, rows[r].order);
		rig_apply(rig, 0);
		for (uint32_t i = 0; i < 100; i++) {
			struct rte_mbuf *mbuf =
			        rig_packet(rig, i % 10 ? RIG_FOREIGN : RIG_PLAIN, 0, i + 1,
			                   i % 10 ? rows[r].frame_bytes : 1500, 0, i);

			rig_ingress(rig, &mbuf, 1);
		}
		while (rte_mempool_avail_count(rig->pool) > rows[r].free)
			taken[n++] = rte_pktmbuf_alloc(rig->pool);
		for (uint32_t i = 0; i < 100; i++)
			rig_advance(rig, 2 * SIMTIME_MS + i);
		assert_int_equal(rig->n_departures, 100);
		for (uint32_t i = 0; i < 100; i++)
			assert_int_equal(rig->departures[i].due_ns, SIMTIME_MS + i);
		rte_pktmbuf_free_bulk(taken, n);
		rig_close(rig);
	}
	free(taken);
}

static void an_empty_pool_makes_packets_late_and_loses_none(void **state)
{
	struct rte_mbuf **taken = malloc((RIG_MBUFS + 1) * sizeof(*taken));
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	uint32_t n = 0;

	(void)state;
	assert_non_null(taken);
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	/* from another pool, or their own mbufs would be available */
	for (uint32_t i = 0; i < 50; i++) {
		struct rte_mbuf *mbuf = rig_packet(rig, RIG_FOREIGN, 0, i + 1, 60, 0, i);

		rig_ingress(rig, &mbuf, 1);
	}
	while ((taken[n] = rte_pktmbuf_alloc(rig->pool)) != NULL)
		n++;
	rig_advance(rig, SIMTIME_S);
	assert_int_equal(rig->n_departures, 0);
	rte_pktmbuf_free_bulk(taken, n);
	rig_advance(rig, 2 * SIMTIME_S);
	assert_int_equal(rig->n_departures, 50);
	assert_int_equal(rig->departures[49].due_ns, SIMTIME_MS + 49);
	rig_close(rig);
	free(taken);
}

/* The others leave after the worker has received again. Where clouds meet, all of them leave. */
static void an_outlet_full_at_a_time_leaves_a_line_on_which_no_other_cloud_depends(void **state)
{
	static const bool shared[] = {false, true};

	(void)state;
	for (size_t s = 0; s < LENGTH(shared); s++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
		const uint32_t once = shared[s] ? 3 * OUTLET_ROOM : OUTLET_ROOM;

		rig_cloud(rig, "x", 0, 1);
		if (shared[s])
			rig_cloud(rig, "y", 2, 1);
		rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
		rig_apply(rig, 0);
		for (uint32_t i = 0; i < 3 * OUTLET_ROOM; i++)
			rig_send(rig, 0, 60, i);
		assert_int_equal(engine_advance(rig->engine, SIMTIME_S), once);
		assert_int_equal(engine_advance(rig->engine, SIMTIME_S), 0);
		rig_check(rig);
		rig_collect(rig);
		rig_advance(rig, 2 * SIMTIME_S);
		assert_int_equal(rig->n_departures, 3 * OUTLET_ROOM);
		for (uint32_t i = 0; i < 3 * OUTLET_ROOM; i++) {
			assert_int_equal(rig->departures[i].due_ns, SIMTIME_MS + i);
			assert_int_equal(rig->departures[i].number, i + 1);
		}
		rig_close(rig);
	}
}

static void memory_that_is_used_up_drops_with_no_buffer_and_comes_back(void **state)
{
	static const enum delay_order orders[] = {ORDER_KEEP, ORDER_ALLOW};

	(void)state;
	for (size_t o = 0; o < LENGTH(orders); o++) {
		struct rig *rig =
		        rig_open(&(struct rig_setup){.seed = 1, .memory_bytes = 40 * CHUNK_BYTES});
		uint64_t first;

		rig_cloud(rig, "x", 0, 1);
		rig_delay(rig, "x", 10 * SIMTIME_MS, 0, DELAY_UNIFORM, orders[o]);
		rig_apply(rig, 0);
		for (uint32_t i = 0; i < 5000; i++)
			rig_send(rig, 0, 60, i);
		first = rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER];
		assert_in_range(first, 3000, 4500);
		rig_advance(rig, SIMTIME_S);
		assert_int_equal(rig->n_departures, 5000 - first);
		/* chunks that the wheel still keeps are returned when time leaves their slots */
		rig_advance(rig, SIMTIME_S + DELAY_MAX_NS);
		assert_true(engine_memory_used(rig->engine) <= CHUNK_BYTES);
		for (uint32_t i = 0; i < 5000; i++)
			rig_send(rig, 0, 60, SIMTIME_S + DELAY_MAX_NS + i);
		assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER], 2 * first);
		rig_run_out(rig);
		rig_close(rig);
	}
}

static void large_frames_leave_mbufs_for_the_small_one_ahead_of_them(void **state)
{
	enum { BOUND = 100, LARGE = 1500 };
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1, .kept_mbufs_max = BOUND});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 10 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	for (uint32_t round = 0; round < 3; round++) {
		simtime t = round * SIMTIME_S;

		rig_send(rig, 0, 60, t);
		for (uint32_t i = 0; i < BOUND + 7; i++)
			rig_send(rig, 0, LARGE, t + 1 + i);
		assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER],
		                 7 * (round + 1));
		rig_advance(rig, t + SIMTIME_S / 2);
		assert_int_equal(rig->n_departures, (BOUND + 1) * (round + 1));
	}
	rig_close(rig);
}

GROUP(line)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_constant_delay_is_exact_for_every_packet),
	        cmocka_unit_test(nothing_leaves_a_nanosecond_before_it_is_due),
	        cmocka_unit_test(order_keep_never_lets_a_packet_overtake),
	        cmocka_unit_test(the_delay_of_a_packet_is_the_draw_of_its_ordinal),
	        cmocka_unit_test(order_allow_lets_packets_leave_as_their_delays_say),
	        cmocka_unit_test(a_delay_is_never_negative),
	        cmocka_unit_test(a_shorter_delay_makes_later_packets_wait_in_order_keep),
	        cmocka_unit_test(a_shorter_delay_lets_later_packets_overtake_in_order_allow),
	        cmocka_unit_test(a_wheel_that_stood_still_is_brought_to_the_present),
	        cmocka_unit_test(
	                order_may_change_from_keep_to_allow_and_back_while_packets_are_on_the_way),
	        cmocka_unit_test(a_line_without_a_delay_statement_lets_packets_leave_as_they_come),
	        cmocka_unit_test(an_empty_burst_leaves_no_trace),
	        cmocka_unit_test(of_a_burst_each_packet_that_waits_for_its_turn_is_counted),
	        cmocka_unit_test(packets_on_a_line_go_on_into_a_cloud_that_comes_behind_it),
	        cmocka_unit_test(a_pool_that_is_nearly_empty_does_not_stop_the_line),
	        cmocka_unit_test(an_empty_pool_makes_packets_late_and_loses_none),
	        cmocka_unit_test(
	                an_outlet_full_at_a_time_leaves_a_line_on_which_no_other_cloud_depends),
	        cmocka_unit_test(memory_that_is_used_up_drops_with_no_buffer_and_comes_back),
	        cmocka_unit_test(large_frames_leave_mbufs_for_the_small_one_ahead_of_them),
	};

	return cmocka_run_group_tests_name("line", tests, rig_group_setup, rig_group_teardown);
}
