/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts onto a wheel, by way of a line with `order allow`: whatever a burst is made of, it is as if its packets had
 * come one by one. The rig compares every packet's bytes, and has every mbuf back in the end.
 */
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "rig.h"

#define PACKETS (190u * BURST_MAX)

/* Bursts of one kind of packet, of another kind in their midst, of lengths on both sides of what is copied. */
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
		rig_ingress(rig, 0, mbufs, ready);
		rig_advance(rig, t);
		ready = 0;
	}
	rig_run_out(rig);
	return rig;
}

static void a_burst_is_as_its_packets_one_by_one(void **state)
{
	/* Stays of one class of the depot, of several, and in the slot that is open. */
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

/* What finds none is dropped, and in the end no memory is in use but for keys of the slot that was open last. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_burst_is_as_its_packets_one_by_one),
	        cmocka_unit_test(of_a_burst_as_many_are_held_as_there_is_memory_for),
	};

	return cmocka_run_group_tests_name("wheel burst", tests, rig_group_setup,
	                                   rig_group_teardown);
}
