/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of every length and mbufs of every kind, through everything that holds packets. */
#include "rig.h"
#include "runner/group.h"

#include <stdlib.h>

enum path { PLAIN, ALLOW, LINK, LINK_ALLOW, SHARED, SHARED_LINK, PATHS };

static struct rig *through(enum path path, uint32_t copy_bytes_max)
{
	struct rig *rig = rig_open(&(struct rig_setup){.copy_bytes_max = copy_bytes_max});

	rig_cloud(rig, "x", 0, 1);
	if (path >= SHARED)
		rig_cloud(rig, "y", 2, 1);
	rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM,
	          path == ALLOW || path == LINK_ALLOW ? ORDER_ALLOW : ORDER_KEEP);
	if (path == LINK || path == LINK_ALLOW || path == SHARED_LINK)
		rig_rate(rig, "x", UINT64_C(100000000000), 0, LIMIT_PACKETS, 1000);
	rig_apply(rig, 0);
	return rig;
}

static bool fits(enum rig_shape shape, uint32_t frame_bytes)
{
	return shape != RIG_CLONED || frame_bytes > 0;
}

static void pass(struct rig *rig, enum rig_shape shape, uint32_t frame_bytes)
{
	uint32_t n = rig->n_departures;
	struct rte_mbuf *mbuf =
	        rig_packet(rig, shape, 0, rig->sent + 1, frame_bytes, frame_bytes + 7, rig->now);
	const struct departure *departure;
	uint64_t sent = rig->sent + 1;

	rig_ingress(rig, &mbuf, 1);
	rig_advance(rig, rig->now + 3 * SIMTIME_MS);
	assert_int_equal(rig->n_departures, n + 1);
	departure = &rig->departures[n];
	assert_true(departure->intact);
	assert_int_equal(departure->frame_bytes, frame_bytes);
	assert_int_equal(departure->wire_bytes, frame_bytes + 7);
	if (frame_bytes >= 8)
		assert_int_equal(departure->number, sent);
}

static void frames_of_every_length_pass_as_they_are(void **state)
{
	(void)state;
	for (int path = 0; path < PATHS; path++) {
		struct rig *rig = through((enum path)path, 0);

		for (uint32_t bytes = 0; bytes <= 9300; bytes += bytes < 2300 ? 1 : 61)
			pass(rig, RIG_PLAIN, bytes);
		rig_close(rig);
	}
}

static void mbufs_of_every_kind_pass_as_they_are(void **state)
{
	static const uint32_t lengths[] = {0,    1,    3,    60,   64,   128,  511,  512,  513,
	                                   1514, 2047, 2048, 2049, 4000, 9000, 9300, 10240};

	(void)state;
	for (int path = 0; path < PATHS; path++) {
		struct rig *rig = through((enum path)path, 0);

		for (int shape = 0; shape < RIG_SHAPES; shape++) {
			for (size_t i = 0; i < LENGTH(lengths); i++) {
				if (fits((enum rig_shape)shape, lengths[i]))
					pass(rig, (enum rig_shape)shape, lengths[i]);
			}
		}
		rig_close(rig);
	}
}

/* The border between copied and kept frames may have any value. If it exceeds what a chunk or an
 * mbuf of the pool can take, it is lowered. */
static void the_border_between_copied_and_kept_frames_may_lie_anywhere(void **state)
{
	static const uint32_t borders[] = {1,    60,   64,   512,    1984,
	                                   2048, 3992, 4096, 100000, UINT32_MAX};

	(void)state;
	for (int path = 0; path < PATHS; path++) {
		for (size_t b = 0; b < LENGTH(borders); b++) {
			struct rig *rig = through((enum path)path, borders[b]);

			for (uint32_t bytes = 0; bytes <= 4200; bytes += 1 + bytes / 40) {
				pass(rig, RIG_PLAIN, bytes);
				pass(rig, RIG_FOREIGN, bytes);
			}
			for (uint32_t bytes = 1900; bytes < 2060; bytes++)
				pass(rig, RIG_FOREIGN, bytes);
			rig_close(rig);
		}
	}
}

/* Little headroom, or none behind the frame: a copy in whole blocks must not read beyond the
 * mbuf. */
static void frames_may_lie_anywhere_in_their_mbufs(void **state)
{
	(void)state;
	for (int path = 0; path < PATHS; path++) {
		struct rig *rig = through((enum path)path, 0);

		for (uint32_t off = 0; off <= RIG_DATA_ROOM - 60; off += 31) {
			struct rte_mbuf *mbuf =
			        rig_packet(rig, RIG_PLAIN, 0, rig->sent + 1, 60, 0, rig->now);
			uint8_t frame[60];

			memcpy(frame, rte_pktmbuf_mtod(mbuf, void *), 60);
			mbuf->data_off = (uint16_t)off;
			memcpy(rte_pktmbuf_mtod(mbuf, void *), frame, 60);
			rig_ingress(rig, &mbuf, 1);
			rig_advance(rig, rig->now + 3 * SIMTIME_MS);
			assert_true(rig->departures[rig->n_departures - 1].intact);
		}
		rig_close(rig);
	}
}

/* All at once, so that they lie side by side in the logs. */
static void kinds_may_be_mixed_in_a_burst(void **state)
{
	(void)state;
	for (int path = 0; path < PATHS; path++) {
		struct rig *rig = through((enum path)path, 0);

		for (uint32_t round = 0; round < 50; round++) {
			struct rte_mbuf *mbufs[BURST_MAX];

			for (uint32_t i = 0; i < BURST_MAX; i++)
				mbufs[i] = rig_packet(
				        rig, (enum rig_shape)(i % RIG_SHAPES), 0, rig->sent + i + 1,
				        8 + (i * 337 + round * 91) % 5000, 0, rig->now);
			rig_ingress(rig, mbufs, BURST_MAX);
			if (round % 7 == 6)
				rig_advance(rig, rig->now + SIMTIME_MS);
		}
		rig_run_out(rig);
		assert_int_equal(rig->n_departures, 50 * BURST_MAX);
		for (uint32_t i = 0; i < rig->n_departures; i++) {
			assert_true(rig->departures[i].intact);
			assert_int_equal(rig->departures[i].number, i + 1);
		}
		rig_close(rig);
	}
}

static void mbufs_of_every_kind_are_freed_wherever_they_are_dropped(void **state)
{
	(void)state;
	for (int reason = 0; reason < 4; reason++) {
		struct rig *rig = rig_open(&(struct rig_setup){
		        .memory_bytes = reason == 2 ? 1 : 0,
		});

		rig_cloud(rig, "x", 0, 1);
		if (reason == 0)
			rig_loss(rig, "x", PROBABILITY_ONE);
		if (reason == 1)
			rig_rate(rig, "x", 1, 0, LIMIT_PACKETS, 1);
		rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
		rig_apply(rig, 0);
		for (uint32_t round = 0; round < 10; round++) {
			for (int shape = 0; shape < RIG_SHAPES; shape++) {
				struct rte_mbuf *mbuf =
				        rig_packet(rig, (enum rig_shape)shape, reason == 3 ? 5 : 0,
				                   rig->sent + 1, 60 + 600 * round, 0, rig->now);

				rig_ingress(rig, &mbuf, 1);
			}
		}
		assert_int_equal(engine_held_packets(rig->engine), reason == 1 ? 2 : 0);
		rig_close(rig);
	}
}

GROUP(frames)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(frames_of_every_length_pass_as_they_are),
	        cmocka_unit_test(mbufs_of_every_kind_pass_as_they_are),
	        cmocka_unit_test(the_border_between_copied_and_kept_frames_may_lie_anywhere),
	        cmocka_unit_test(frames_may_lie_anywhere_in_their_mbufs),
	        cmocka_unit_test(kinds_may_be_mixed_in_a_burst),
	        cmocka_unit_test(mbufs_of_every_kind_are_freed_wherever_they_are_dropped),
	};

	return cmocka_run_group_tests_name("frames", tests, rig_group_setup, rig_group_teardown);
}
