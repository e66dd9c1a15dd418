/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts onto a wheel, through a line with `order allow`: whatever a burst contains, the result is
 * that of its packets one by one. The rig compares every packet's bytes, and gets every mbuf back
 * in the end.
 */
#include <stdlib.h>
#include <string.h>

#include "holding/log.h"
#include "random/draw.h"
#include "rig.h"
#include "runner/group.h"

#define PACKETS (190u * BURST_MAX)

/* Bursts of one kind of packet, with another kind among them, and with lengths on both sides of the
 * limit of copying. */
enum mix { MIX_SMALL, MIX_LENGTHS, MIX_SHAPES, MIXES };

static enum rig_shape shape_of(enum mix mix, uint64_t draw)
{
	return mix == MIX_SHAPES && draw % 17 == 0 ? (enum rig_shape)(draw / 17 % RIG_SHAPES)
	                                           : RIG_PLAIN;
}

static uint32_t bytes_of(enum mix mix, uint64_t draw)
{
	if (mix == MIX_SMALL)
		return 60;
	return 60 + (uint32_t)(draw >> 20) % (mix == MIX_SHAPES && draw % 19 == 0 ? 1400 : 450);
}

static struct rig *played(enum mix mix, simtime delay, simtime jitter, uint16_t burst,
                          size_t memory)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 7, .memory_bytes = memory});
	struct draw_key key = draw_key_make(3, "wheel burst", "packets");
	struct rte_mbuf *mbufs[BURST_MAX];
	uint16_t ready = 0;

	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", delay, jitter, DELAY_UNIFORM, ORDER_ALLOW);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < PACKETS; i++) {
		uint64_t draw = draw_u64(key, i, 0);
		simtime t = SIMTIME_MS + i / BURST_MAX * 1000;

		mbufs[ready++] =
		        rig_packet(rig, shape_of(mix, draw), 0, i + 1, bytes_of(mix, draw), 0, t);
		if (ready < burst)
			continue;
		rig_ingress(rig, mbufs, ready);
		rig_advance(rig, t);
		ready = 0;
	}
	rig_run_out(rig);
	return rig;
}

static void a_burst_is_as_its_packets_one_by_one(void **state)
{
	/* Stays in one class of the store, in several, and in the open slot. */
	static const struct {
		simtime delay, jitter;
	} rows[] = {{10 * SIMTIME_MS, SIMTIME_MS},
	            {10 * SIMTIME_MS, 9 * SIMTIME_MS},
	            {5000, 5000},
	            {2 * SIMTIME_S, 2 * SIMTIME_S}};

	(void)state;
	for (int mix = 0; mix < MIXES; mix++) {
		for (size_t i = 0; i < LENGTH(rows); i++) {
			simtime delay = rows[i].delay, jitter = rows[i].jitter;
			struct rig *whole = played(mix, delay, jitter, BURST_MAX, 0);
			struct rig *single = played(mix, delay, jitter, 1, 0);

			assert_int_equal(whole->n_departures, PACKETS);
			assert_int_equal(single->n_departures, PACKETS);
			for (uint32_t k = 0; k < PACKETS; k++) {
				const struct departure *a = &whole->departures[k];
				const struct departure *b = &single->departures[k];

				assert_true(a->intact);
				assert_int_equal(a->number, b->number);
				assert_int_equal(a->due_ns, b->due_ns);
				assert_int_equal(a->digest, b->digest);
			}
			rig_close(whole);
			rig_close(single);
		}
	}
}

/* Packets that find no memory are dropped. In the end, no memory is in use, except for the keys of
 * the slot that was open last. */
static void of_a_burst_as_many_are_held_as_there_is_memory_for(void **state)
{
	static const uint32_t chunks[] = {2, 3, 5, 17, 60};

	(void)state;
	for (int mix = 0; mix < MIXES; mix++) {
		for (size_t i = 0; i < LENGTH(chunks); i++) {
			struct rig *rig = played(mix, 10 * SIMTIME_MS, 9 * SIMTIME_MS, BURST_MAX,
			                         (size_t)chunks[i] * CHUNK_BYTES);
			uint64_t dropped = rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER];

			assert_true(dropped > 0);
			assert_int_equal(rig->n_departures + dropped, PACKETS);
			assert_true(engine_memory_used(rig->engine) <= CHUNK_BYTES);
			rig_close(rig);
		}
	}
}

/* With loss, and with a token bucket that has enough tokens for some bursts only. */
static struct rig *stamped_by(bool engine, enum delay_order order, simtime jitter, uint64_t depth)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 7});
	struct rte_mbuf *mbufs[BURST_MAX];

	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 3 * SIMTIME_MS, jitter, DELAY_NORMAL, order);
	rig_loss(rig, "x", PROBABILITY_ONE / 50);
	if (depth)
		rig_rate(rig, "x", UINT64_C(6) * 1000 * 1000 * 1000, depth, LIMIT_BYTES, 4000);
	rig_apply(rig, 0);
	for (uint32_t burst = 0; burst < 300; burst++) {
		uint16_t n = (uint16_t)(1 + burst * 7 % BURST_MAX);
		simtime t = SIMTIME_MS + burst * 1000;

		for (uint16_t i = 0; i < n; i++) {
			mbufs[i] = rig_packet(rig, RIG_PLAIN, 0, rig->sent + 1 + i,
			                      60 + (burst % 3 ? 0 : i), 0, t);
			if (engine)
				memset(packet_of(mbufs[i]), 0xee, sizeof(struct packet));
		}
		if (engine) {
			rig_receive(rig, 0, mbufs, n, t);
			rig->sent += n;
			rig->now = t;
		} else {
			rig_ingress(rig, mbufs, n);
		}
		rig_advance(rig, t);
	}
	for (simtime t = rig->now; t < 50 * SIMTIME_MS; t += 10000)
		rig_advance(rig, t);
	rig_run_out(rig);
	return rig;
}

static void a_burst_that_the_engine_stamps_is_as_one_that_came_stamped(void **state)
{
	static const uint64_t depths[] = {0, 1500, 100 * 1000};

	(void)state;
	for (uint32_t row = 0; row < 4 * LENGTH(depths); row++) {
		enum delay_order order = row & 1 ? ORDER_KEEP : ORDER_ALLOW;
		simtime jitter = row & 2 ? 0 : SIMTIME_MS;
		uint64_t depth = depths[row / 4];
		struct rig *a = stamped_by(true, order, jitter, depth);
		struct rig *b = stamped_by(false, order, jitter, depth);

		assert_int_equal(a->n_departures, b->n_departures);
		for (uint32_t k = 0; k < a->n_departures; k++) {
			assert_int_equal(a->departures[k].number, b->departures[k].number);
			assert_int_equal(a->departures[k].due_ns, b->departures[k].due_ns);
			assert_int_equal(a->departures[k].wire_bytes, b->departures[k].wire_bytes);
			assert_int_equal(a->departures[k].digest, b->departures[k].digest);
		}
		assert_int_equal(rig_report(a, "x")->counters.drops[REASON_QUEUE_FULL],
		                 rig_report(b, "x")->counters.drops[REASON_QUEUE_FULL]);
		if (depth == 1500)
			assert_true(rig_report(a, "x")->counters.drops[REASON_QUEUE_FULL] > 0);
		rig_close(a);
		rig_close(b);
	}
}

/* Equal frames of a burst are stored in cells; frames of a burst of three are not. */
static struct rig *received(uint16_t together, uint32_t bytes, simtime delay, simtime jitter)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 7, .live = true});
	struct draw_key key = draw_key_make(5, "cells", "packets");
	struct rte_mbuf *mbufs[BURST_MAX];

	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", delay, jitter, DELAY_UNIFORM, ORDER_ALLOW);
	rig_apply(rig, 0);
	for (uint32_t burst = 0; burst < 150; burst++) {
		simtime t = SIMTIME_MS + burst * 1000;
		uint64_t draw = draw_u64(key, burst, 0);
		/* one length, another length, several lengths */
		uint32_t more = draw % 3 == 0 ? 7 : 0, spread = draw % 5 == 0;

		for (uint16_t i = 0; i < BURST_MAX; i++)
			mbufs[i] = rig_packet(rig, RIG_PLAIN, 0, rig->sent + 1 + i,
			                      bytes + more + spread * i, 0, t);
		for (uint16_t i = 0; i < BURST_MAX; i += together)
			rig_receive(rig, 0, &mbufs[i], RTE_MIN(together, BURST_MAX - i), t);
		rig->sent += BURST_MAX;
		rig->now = t;
		rig_advance(rig, t);
	}
	return rig;
}

static void what_lies_in_cells_leaves_as_from_records(void **state)
{
	static const uint32_t lengths[] = {33, 40, 41, 57, 58, 60, 64, 65, 128};
	static const struct {
		simtime delay, jitter;
	} rows[] = {{10 * SIMTIME_MS, SIMTIME_MS}, {20000, 10000}, {2 * SIMTIME_S, SIMTIME_S}};

	(void)state;
	for (size_t i = 0; i < LENGTH(lengths) * LENGTH(rows); i++) {
		uint32_t bytes = lengths[i % LENGTH(lengths)];
		simtime delay = rows[i / LENGTH(lengths)].delay;
		simtime jitter = rows[i / LENGTH(lengths)].jitter;
		struct rig *cells = received(BURST_MAX, bytes, delay, jitter);
		struct rig *records = received(3, bytes, delay, jitter);

		/* Neither needs more memory than the other, except for the chunks that are being
		 * filled. */
		assert_true(engine_memory_used(cells->engine) <=
		            engine_memory_used(records->engine) + 4 * CHUNK_BYTES);
		rig_run_out(cells);
		rig_run_out(records);
		assert_int_equal(cells->n_departures, records->n_departures);
		for (uint32_t k = 0; k < cells->n_departures; k++) {
			assert_true(cells->departures[k].intact);
			assert_int_equal(cells->departures[k].number,
			                 records->departures[k].number);
			assert_int_equal(cells->departures[k].due_ns,
			                 records->departures[k].due_ns);
			assert_int_equal(cells->departures[k].digest,
			                 records->departures[k].digest);
		}
		assert_int_equal(rig_report(cells, "x")->counters.tx_bytes,
		                 rig_report(records, "x")->counters.tx_bytes);
		rig_close(cells);
		rig_close(records);
	}
}

/* The cloud is removed, or keeps order from now on, while packets are in cells. */
static void packets_in_cells_outlive_a_change_and_go_with_their_cloud(void **state)
{
	(void)state;
	for (int change = 0; change < 3; change++) {
		struct rig *rig = received(BURST_MAX, 60, 10 * SIMTIME_MS, SIMTIME_MS);
		uint32_t before = rig->n_departures;

		if (change == 1)
			rig_remove(rig, "x");
		if (change == 2)
			rig_delay(rig, "x", 10 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
		rig_apply(rig, rig->now);
		if (change == 2)
			rig_send(rig, 0, 60, rig->now);
		if (change > 0)
			rig_run_out(rig);
		for (uint32_t i = before; i < rig->n_departures; i++)
			assert_true(rig->departures[i].intact);
		rig_close(rig);
	}
}

GROUP(wheel_burst)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_burst_is_as_its_packets_one_by_one),
	        cmocka_unit_test(of_a_burst_as_many_are_held_as_there_is_memory_for),
	        cmocka_unit_test(a_burst_that_the_engine_stamps_is_as_one_that_came_stamped),
	        cmocka_unit_test(what_lies_in_cells_leaves_as_from_records),
	        cmocka_unit_test(packets_in_cells_outlive_a_change_and_go_with_their_cloud),
	};

	return cmocka_run_group_tests_name("wheel burst", tests, rig_group_setup,
	                                   rig_group_teardown);
}
