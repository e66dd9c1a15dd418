/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of frames, and time stamps that cannot be right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/frame_order.h"
#include "random/draw.h"
#include "runner/group.h"

#define MS       INT64_C(1000000)
#define S        (1000 * MS)
#define HOUR     (3600 * S)
#define START    (INT64_C(1700000000) * S)
#define MOST     1000
#define TIMELESS INT64_MIN

/* Stamps of a file, in its order, and what came out. */
struct play {
	uint32_t n, depth;
	int64_t stamps[MOST];
	uint32_t frames[MOST]; /* the number of the frame, from 0 */
	int64_t instants[MOST];
	struct frame_order order;
};

static void push(struct play *play, uint32_t i)
{
	*frame_order_place(&play->order) = (struct record){
	        .stamp_ns = play->stamps[i] == TIMELESS ? 0 : play->stamps[i],
	        .timeless = play->stamps[i] == TIMELESS,
	        .at = i,
	};
	frame_order_push(&play->order);
}

/* Asserts what holds for any file: each frame comes once, and time does not go back. */
static void run(struct play *play)
{
	uint32_t pushed = 0, taken = 0;
	bool seen[MOST] = {false};

	frame_order_open(&play->order);
	while (true) {
		const struct record *record;

		while (pushed < play->n && play->order.n < play->depth)
			push(play, pushed++);
		if (play->order.n == 0)
			break;
		record = frame_order_take(&play->order, &play->instants[taken]);
		play->frames[taken] = (uint32_t)record->at;
		assert_false(seen[record->at]);
		seen[record->at] = true;
		if (taken > 0)
			assert_true(play->instants[taken] >= play->instants[taken - 1]);
		taken++;
	}
	assert_int_equal(taken, play->n);
}

static struct play *play_make(uint32_t n, int64_t gap_ns)
{
	struct play *play = test_calloc(1, sizeof(*play));

	play->n = n;
	play->depth = FRAME_ORDER_MAX;
	for (uint32_t i = 0; i < n; i++)
		play->stamps[i] = START + i * gap_ns;
	return play;
}

static void what_is_in_order_comes_as_it_is(void **state)
{
	struct play *play = play_make(300, 10 * MS);

	(void)state;
	for (uint32_t i = 200; i < 300; i++)
		play->stamps[i] += 20 * HOUR; /* a pause */
	run(play);
	for (uint32_t i = 0; i < 300; i++) {
		assert_int_equal(play->frames[i], i);
		assert_int_equal(play->instants[i], play->stamps[i]);
	}
	assert_memory_equal(&play->order.counts, &(struct frame_order_counts){0},
	                    sizeof(play->order.counts));
	test_free(play);
}

static void one_wrong_stamp_harms_one_frame_wherever_it_is(void **state)
{
	static const int64_t off[] = {18 * HOUR, -18 * HOUR,           2 * S,
	                              -2 * S,    40 * 365 * 24 * HOUR, -START};

	(void)state;
	for (uint32_t at = 0; at < 200; at++) {
		for (uint32_t k = 0; k < sizeof(off) / sizeof(off[0]); k++) {
			struct play *play = play_make(200, 10 * MS);
			const int64_t right = play->stamps[at];

			/* The last frame may as well come after a pause. The first may come before
			 * one. */
			if ((at == 199 && off[k] > 0) || (at == 0 && off[k] < 0)) {
				test_free(play);
				continue;
			}
			play->stamps[at] += off[k];
			run(play);
			for (uint32_t i = 0; i < 200; i++) {
				assert_int_equal(play->frames[i], i);
				if (i != at)
					assert_int_equal(play->instants[i], play->stamps[i]);
			}
			assert_in_range(play->instants[at] - right + 10 * MS, 0, 20 * MS);
			assert_int_equal(play->order.counts.wrong, 1);
			assert_int_equal(play->order.counts.odd_frame, at + 1);
			assert_int_equal(play->order.counts.odd_stamp_ns, right + off[k]);
			test_free(play);
		}
	}
}

static void several_wrong_stamps_in_a_row_harm_no_others(void **state)
{
	(void)state;
	for (uint32_t in_row = 2; in_row <= 12; in_row++) {
		struct play *play = play_make(200, 10 * MS);

		for (uint32_t i = 0; i < in_row; i++)
			play->stamps[50 + i] += (in_row & 1 ? 1 : -1) * 5 * HOUR;
		run(play);
		for (uint32_t i = 0; i < 200; i++) {
			assert_int_equal(play->frames[i], i);
			if (i < 50 || i >= 50 + in_row)
				assert_int_equal(play->instants[i], play->stamps[i]);
			else
				assert_int_equal(play->instants[i], play->stamps[49]);
		}
		assert_int_equal(play->order.counts.wrong, in_row);
		test_free(play);
	}
}

/* Two queues of a NIC are read in turns, sixteen frames at a time. */
static void frames_of_several_queues_come_in_the_order_of_their_stamps(void **state)
{
	struct play *play = play_make(320, MS);

	(void)state;
	for (uint32_t i = 0; i < 320; i++)
		play->stamps[i] = START + (i / 32 * 32 + i % 16 * 2 + i % 32 / 16) * MS;
	run(play);
	for (uint32_t i = 0; i < 320; i++)
		assert_int_equal(play->instants[i], START + i * MS);
	assert_int_equal(play->order.counts.late, 0);
	assert_int_equal(play->order.counts.wrong, 0);
	assert_true(play->order.counts.sorted > 100);
	assert_int_equal(play->order.counts.back, 10);
	assert_int_equal(play->order.counts.back_max_ns, 29 * MS);
	test_free(play);
}

static void a_clock_that_is_set_back_keeps_the_distances(void **state)
{
	struct play *play = play_make(600, 10 * MS);

	(void)state;
	/* Set back by an hour at frame 200, and forward again at frame 400. */
	for (uint32_t i = 200; i < 400; i++)
		play->stamps[i] -= HOUR;
	run(play);
	for (uint32_t i = 0; i < 600; i++) {
		assert_int_equal(play->frames[i], i);
		if (i < 200 || i >= 400)
			assert_int_equal(play->instants[i], play->stamps[i]);
		else
			assert_int_equal(play->instants[i], START + (i - 1) * 10 * MS);
	}
	assert_int_equal(play->order.counts.set_back, 1);
	assert_int_equal(play->order.counts.wrong, 0);
	assert_int_equal(play->order.counts.odd_frame, 201);
	test_free(play);
}

/* A live pipe shows no frame before its time. */
static void
without_a_look_ahead_the_second_frame_that_is_back_shows_that_the_clock_was_set(void **state)
{
	struct play *play = play_make(100, 10 * MS);

	(void)state;
	play->depth = 1;
	for (uint32_t i = 50; i < 100; i++)
		play->stamps[i] -= HOUR;
	run(play);
	for (uint32_t i = 52; i < 100; i++)
		assert_int_equal(play->instants[i] - play->instants[i - 1], 10 * MS);
	assert_int_equal(play->order.counts.wrong, 1);
	assert_int_equal(play->order.counts.set_back, 1);
	test_free(play);
}

static void what_has_no_stamp_comes_with_what_is_ahead_of_it(void **state)
{
	struct play *play = play_make(100, 10 * MS);

	(void)state;
	for (uint32_t i = 0; i < 100; i += 4)
		play->stamps[i] = TIMELESS;
	run(play);
	assert_int_equal(play->instants[0], play->stamps[1]);
	for (uint32_t i = 1; i < 100; i++) {
		assert_int_equal(play->frames[i], i);
		assert_int_equal(play->instants[i],
		                 i % 4 == 0 ? play->instants[i - 1] : play->stamps[i]);
	}
	assert_int_equal(play->order.counts.timeless, 25);
	assert_int_equal(play->order.counts.back, 0);
	test_free(play);

	play = play_make(10, 0);
	for (uint32_t i = 0; i < 10; i++)
		play->stamps[i] = TIMELESS;
	run(play);
	assert_int_equal(play->instants[9], 0);
	test_free(play);
}

/* run() asserts that each frame comes once and time does not go back. */
static void any_stamps_come_out_in_order_and_each_once(void **state)
{
	static const struct draw_key key = {{7, 9}};
	static const int64_t spans[] = {1, MS, 3 * S, 100 * HOUR, 10000 * HOUR};

	(void)state;
	for (uint32_t way = 0; way < 200; way++) {
		struct play *play = play_make(MOST, way % 3 * MS);

		play->depth = way % 5 == 0 ? 1 : FRAME_ORDER_MAX;
		for (uint32_t i = 0; i < MOST; i++) {
			const uint64_t drawn = draw_u64(key, (uint64_t)way << 32 | i, 0);
			const int64_t span = spans[drawn >> 8 & 3];

			if (drawn % (1 + way) == 0)
				play->stamps[i] += (int64_t)(drawn >> 20) % span - span / 2;
			if (drawn % 1000 == 1)
				play->stamps[i] = TIMELESS;
			if (drawn % 1000 == 2)
				play->stamps[i] = drawn & 1024 ? spans[4] : -spans[4];
		}
		run(play);
		test_free(play);
	}
}

GROUP(frame_order)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_is_in_order_comes_as_it_is),
	        cmocka_unit_test(one_wrong_stamp_harms_one_frame_wherever_it_is),
	        cmocka_unit_test(several_wrong_stamps_in_a_row_harm_no_others),
	        cmocka_unit_test(frames_of_several_queues_come_in_the_order_of_their_stamps),
	        cmocka_unit_test(a_clock_that_is_set_back_keeps_the_distances),
	        cmocka_unit_test(
	                without_a_look_ahead_the_second_frame_that_is_back_shows_that_the_clock_was_set),
	        cmocka_unit_test(what_has_no_stamp_comes_with_what_is_ahead_of_it),
	        cmocka_unit_test(any_stamps_come_out_in_order_and_each_once),
	};

	return cmocka_run_group_tests_name("frame_order", tests, NULL, NULL);
}
