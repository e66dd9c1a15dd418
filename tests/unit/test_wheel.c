/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wheel compared with a sorted reference: a binary heap over (due, order of insertion). The
 * heap determines what must come out at each instant; the wheel must agree to the record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "holding/wheel.h"
#include "random/draw.h"
#include "runner/group.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The width of a slot in each level. With other widths, the tests would hold as well, except for
 * the amounts of memory. */
static const uint32_t slot_bits[WHEEL_LEVELS] = {6, 14, 30, 40};

#define SLOT_NS(level) (UINT64_C(1) << slot_bits[level])
#define TURN           (UINT64_C(1) << 52) /* of the highest level */
#define EPOCH          UINT64_C(1700000000123456789)

struct item {
	simtime due;
	uint32_t cloud;
	uint32_t order; /* of insertion */
	uint32_t stored;
};

struct bench {
	struct arena arena;
	void *memory;
	uint32_t chunks;
	struct wheel *wheel;
	struct item *heap;
	uint32_t n, room, inserted;
	simtime now;
};

static bool before(const struct item *a, const struct item *b)
{
	if (a->due != b->due)
		return a->due < b->due;
	return a->order < b->order;
}

static void swap(struct item *a, struct item *b)
{
	struct item c = *a;

	*a = *b;
	*b = c;
}

static void heap_push(struct bench *bench, struct item item)
{
	uint32_t i = bench->n++;

	if (bench->n > bench->room) {
		bench->room = bench->room ? 2 * bench->room : 1024;
		bench->heap = realloc(bench->heap, bench->room * sizeof(struct item));
		assert_non_null(bench->heap);
	}
	bench->heap[i] = item;
	for (; i > 0 && before(&bench->heap[i], &bench->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&bench->heap[i], &bench->heap[(i - 1) / 2]);
}

static struct item heap_pop(struct bench *bench)
{
	struct item first = bench->heap[0];
	uint32_t i = 0;

	bench->heap[0] = bench->heap[--bench->n];
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < bench->n && before(&bench->heap[child + 1], &bench->heap[child]))
			child++;
		if (child >= bench->n || !before(&bench->heap[child], &bench->heap[i]))
			return first;
		swap(&bench->heap[i], &bench->heap[child]);
		i = child;
	}
}

static struct bench *bench_make(uint32_t chunks, simtime now)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	assert_non_null(bench);
	bench->chunks = chunks;
	bench->memory = aligned_alloc(64, (size_t)chunks * CHUNK_BYTES);
	assert_non_null(bench->memory);
	arena_init(&bench->arena, bench->memory, (size_t)chunks * CHUNK_BYTES);
	bench->wheel = wheel_make(&bench->arena);
	assert_non_null(bench->wheel);
	assert_true(wheel_finds_nothing(bench->wheel, now));
	bench->now = now;
	return bench;
}

static bool insert(struct bench *bench, simtime due, uint32_t cloud, uint32_t stored)
{
	struct held *held = wheel_append(bench->wheel, due, cloud, stored);

	if (!held)
		return false;
	held->wire_bytes = bench->inserted;
	held->stored_bytes = (uint16_t)stored;
	held->flags = 0;
	memset(held->data, (uint8_t)bench->inserted, stored);
	heap_push(bench, (struct item){due, cloud, bench->inserted++, stored});
	return true;
}

static void pop_and_compare(struct bench *bench, struct held *held, simtime due)
{
	struct item item = heap_pop(bench);

	assert_int_equal(due, item.due);
	assert_int_equal(held->t_ns, item.order);
	assert_int_equal(held->cloud, item.cloud);
	assert_int_equal(held->wire_bytes, item.order);
	assert_int_equal(held->stored_bytes, item.stored);
	if (item.stored) {
		assert_int_equal(held->data[0], (uint8_t)item.order);
		assert_int_equal(held->data[item.stored - 1], (uint8_t)item.order);
	}
	wheel_pass(bench->wheel, 1);
	assert_int_equal(bench->wheel->records, bench->n);
}

/* Asserts that wheel_next is not later than the first record, and `never` only if there is none. */
static void next_is_sound(const struct bench *bench)
{
	if (bench->n == 0)
		assert_int_equal(wheel_next(bench->wheel), SIMTIME_NEVER);
	else
		assert_true(wheel_next(bench->wheel) <= bench->heap[0].due);
}

/* Asserts that everything due at `now` comes out, nothing else, and in order. */
static void advance(struct bench *bench, simtime now)
{
	struct held *held;
	simtime due;

	bench->now = now;
	while ((held = wheel_front(bench->wheel, now, &due)) != NULL) {
		assert_true(bench->n > 0 && due <= now);
		pop_and_compare(bench, held, due);
	}
	assert_true(bench->n == 0 || bench->heap[0].due > now);
	next_is_sound(bench);
}

/* Advances from wheel_next to wheel_next, as a replay does. */
static void run_out(struct bench *bench)
{
	uint32_t idle = 0;

	while (bench->n) {
		uint32_t before_it = bench->n;
		simtime next = wheel_next(bench->wheel);

		assert_int_not_equal(next, SIMTIME_NEVER);
		advance(bench, next > bench->now ? next : bench->now);
		idle = bench->n == before_it ? idle + 1 : 0;
		assert_true(idle < 10);
	}
}

/* Asserts that the wheel is empty, and that every chunk is returned once the cursor has left the
 * slots. */
static void bench_free(struct bench *bench)
{
	uint32_t n = 0;

	assert_int_equal(bench->n, 0);
	advance(bench, bench->now + SLOT_NS(3) + 1);
	assert_int_equal(bench->arena.used_chunks, 0);
	wheel_free(bench->wheel);
	assert_int_equal(bench->arena.used_chunks, 0);
	while (arena_get(&bench->arena))
		n++;
	assert_int_equal(n, bench->chunks);
	free(bench->memory);
	free(bench->heap);
	free(bench);
}

static void an_empty_wheel_has_nothing_and_waits_for_nothing(void **state)
{
	struct bench *bench = bench_make(4, 0);

	(void)state;
	advance(bench, 0);
	advance(bench, SIMTIME_S);
	advance(bench, SIMTIME_NEVER / 2);
	bench_free(bench);
}

static void a_record_leaves_at_its_instant_and_not_a_nanosecond_before(void **state)
{
	const simtime delays[] = {0,
	                          1,
	                          255,
	                          256,
	                          257,
	                          SLOT_NS(1) - 1,
	                          SLOT_NS(1),
	                          SLOT_NS(1) + 1,
	                          SLOT_NS(2) - 1,
	                          SLOT_NS(2),
	                          SLOT_NS(2) + 1,
	                          5 * SIMTIME_S,
	                          SLOT_NS(3) - 1,
	                          SLOT_NS(3),
	                          SLOT_NS(3) + 1,
	                          5 * 3600 * SIMTIME_S,
	                          86400 * SIMTIME_S,
	                          10 * 86400 * SIMTIME_S};
	const simtime starts[] = {0,    1, 255, 256, SLOT_NS(1) - 1, SLOT_NS(2) - 1, SLOT_NS(3) - 1,
	                          EPOCH};

	(void)state;
	for (size_t s = 0; s < LENGTH(starts); s++) {
		for (size_t d = 0; d < LENGTH(delays); d++) {
			struct bench *bench = bench_make(4, starts[s]);
			simtime due = starts[s] + delays[d];

			assert_true(insert(bench, due, 0, 60));
			if (delays[d] > 0) {
				advance(bench, due - 1);
				assert_int_equal(bench->n, 1);
			}
			advance(bench, due);
			assert_int_equal(bench->n, 0);
			bench_free(bench);
		}
	}
}

/* Due times are spread over all four levels, with insertions between advances of all sizes. */
static void random_records_over_all_levels_come_out_as_the_reference_says(void **state)
{
	const simtime origins[] = {0, EPOCH, TURN - 3 * SIMTIME_S, 378 * TURN - SIMTIME_S};

	(void)state;
	for (size_t o = 0; o < LENGTH(origins); o++) {
		struct draw_key key = draw_key_make(o, "wheel", "random");
		struct bench *bench = bench_make(16384, origins[o]);
		uint64_t draw = 0;

		for (int round = 0; round < 3000; round++) {
			uint64_t inserts = draw_u64(key, draw++, 0) % 40;
			/* up to 2^6 ns ... 2^47 ns: 39 h */
			uint64_t step_bits = draw_u64(key, draw++, 0) % 36, step;

			for (uint64_t i = 0; i < inserts; i++) {
				uint64_t bits = 1 + draw_u64(key, draw++, 0) % 47;
				uint64_t ahead = draw_u64(key, draw++, 0) >> (64 - bits);

				assert_true(insert(bench, bench->now + ahead,
				                   (uint32_t)(draw_u64(key, draw, 1) % 5),
				                   (uint32_t)(draw_u64(key, draw, 2) % 300)));
			}
			step = draw_u64(key, draw++, 0) & ((UINT64_C(1) << step_bits) - 1);
			advance(bench, bench->now + step);
		}
		run_out(bench);
		bench_free(bench);
	}
}

static void ties_leave_in_the_order_of_insertion_whatever_their_clouds(void **state)
{
	static const simtime aheads[] = {
	        0, 100, 5000, 2 * SIMTIME_MS, 6 * SIMTIME_S, 20000 * SIMTIME_S};
	struct draw_key key = draw_key_make(2, "wheel", "ties");

	(void)state;
	for (size_t a = 0; a < LENGTH(aheads); a++) {
		struct bench *bench = bench_make(64, 1000);
		simtime due = bench->now + aheads[a];

		/* some while the slot is in a high level, some after its records moved down */
		for (uint32_t i = 0; i < 600; i++) {
			assert_true(insert(bench, due, (uint32_t)(draw_u64(key, i, 0) % 3), 10));
			if (i % 50 == 49)
				advance(bench, bench->now + (due - bench->now) * 9 / 10);
		}
		run_out(bench);
		assert_int_equal(bench->inserted, 600);
		bench_free(bench);
	}
}

static void insertion_into_the_open_slot_finds_its_place(void **state)
{
	struct bench *bench = bench_make(64, SLOT_NS(1) * 7);
	simtime slot = bench->now;

	(void)state;
	for (uint32_t i = 0; i < 16; i++)
		assert_true(insert(bench, slot + 16 * i, 1, 20));
	advance(bench, slot + 100); /* opened, half read */
	for (uint32_t i = 0; i < 256; i += 3) {
		assert_true(insert(bench, slot + i, i % 3, 20)); /* some in the past */
		if (i % 5 == 0)
			advance(bench, slot + 100 + i / 2);
	}
	advance(bench, slot + 255);
	assert_int_equal(bench->n, 0);
	/* the slot is read to its end, and the cursor is still there */
	assert_true(insert(bench, slot + 255, 0, 20));
	assert_true(insert(bench, slot + 3, 0, 20));
	advance(bench, slot + 255);
	assert_int_equal(bench->n, 0);
	bench_free(bench);
}

static void at_an_instant_of_the_open_slot_what_comes_last_leaves_last(void **state)
{
	struct bench *bench = bench_make(64, SLOT_NS(1) * 7);
	simtime slot = bench->now;

	(void)state;
	advance(bench, slot + 1); /* what comes now goes to level 0: nothing else takes it */
	for (uint32_t i = 0; i < 48; i++)
		assert_true(insert(bench, slot + 1000 + i % 16, i % 3, 20));
	advance(bench, slot + 1004); /* opened, a quarter read */
	for (uint32_t i = 0; i < 64; i++) {
		assert_true(insert(bench, slot + 1000 + i % 16, i % 3, 20));
		advance(bench, slot + 1004 + i / 8);
	}
	advance(bench, slot + 1015);
	assert_int_equal(bench->n, 0);
	bench_free(bench);
}

static void what_is_inserted_in_the_past_leaves_at_once_and_first(void **state)
{
	const simtime behind[] = {1, 255, 256, SLOT_NS(1), SLOT_NS(2), SLOT_NS(3), EPOCH};
	struct bench *bench = bench_make(64, EPOCH + 100);

	(void)state;
	for (size_t i = 0; i < LENGTH(behind); i++) {
		assert_true(insert(bench, bench->now, 0, 10));
		assert_true(insert(bench, bench->now - behind[i], 1, 10));
		assert_true(insert(bench, bench->now + 50, 0, 10));
		assert_true(insert(bench, bench->now - behind[i], 0, 10));
		assert_int_equal(bench->n, 4);
		advance(bench, bench->now);
		assert_int_equal(bench->n, 1);
		advance(bench, bench->now + 300 + behind[i] / 1000);
		assert_int_equal(bench->n, 0);
	}
	bench_free(bench);
}

static void a_million_records_at_one_instant_keep_their_order(void **state)
{
	struct bench *bench = bench_make(30000, SIMTIME_S);

	(void)state;
	for (uint32_t i = 0; i < 1000000; i++)
		assert_true(insert(bench, 2 * SIMTIME_S, i & 1, 60));
	advance(bench, 2 * SIMTIME_S - 1);
	assert_int_equal(bench->n, 1000000);
	advance(bench, 2 * SIMTIME_S);
	assert_int_equal(bench->n, 0);
	bench_free(bench);
}

static void the_cursor_may_jump_any_distance(void **state)
{
	const simtime jumps[] = {SLOT_NS(0),     SLOT_NS(1),        SLOT_NS(2),
	                         SLOT_NS(3),     SLOT_NS(3) * 17,   UINT64_C(1) << 51,
	                         SLOT_NS(0) - 1, SLOT_NS(2) * 3 - 1};
	struct bench *bench = bench_make(64, 12345);

	(void)state;
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < LENGTH(jumps); i++) {
			assert_true(insert(bench, bench->now + jumps[i] / 2, 0, 10));
			assert_true(insert(bench, bench->now + jumps[i], 0, 10));
			assert_true(insert(bench, bench->now + jumps[i] + 1, 0, 10));
			advance(bench, bench->now + jumps[i]);
			assert_int_equal(bench->n, 1);
			advance(bench, bench->now + 1);
			assert_int_equal(bench->n, 0);
		}
	}
	bench_free(bench);
}

/* The highest level goes round every 2^52 ns, which is 52 days: a live run or a capture may cross
 * such an instant. */
static void records_beyond_the_turn_of_the_highest_level_leave_when_they_are_due(void **state)
{
	static const uint64_t turns[] = {1, 2, 16, 24 * 16, 379};

	(void)state;
	for (size_t t = 0; t < LENGTH(turns); t++) {
		struct bench *bench = bench_make(64, turns[t] * TURN - 100 * SIMTIME_MS);

		for (uint32_t i = 0; i < 20; i++)
			assert_true(insert(bench, bench->now + i * 10 * SIMTIME_MS + i, 0, 10));
		assert_true(insert(bench, turns[t] * TURN + 3 * SLOT_NS(3) + 5, 0, 10));
		assert_true(insert(bench, bench->now + TURN / 2, 0, 10));
		assert_true(insert(bench, bench->now + TURN - SLOT_NS(3), 0, 10));
		run_out(bench);
		bench_free(bench);
	}
}

static void advancing_past_a_turn_in_one_step_leaves_nothing_behind(void **state)
{
	struct bench *bench = bench_make(64, TURN - 1000);

	(void)state;
	assert_true(insert(bench, TURN + 5, 0, 10));
	assert_true(insert(bench, TURN + 5 * SLOT_NS(3), 0, 10));
	advance(bench, TURN + 700 * SLOT_NS(3));
	assert_int_equal(bench->n, 0);
	bench_free(bench);
}

static void no_memory_is_said_and_does_no_harm(void **state)
{
	(void)state;
	for (uint32_t chunks = 0; chunks < 10; chunks++) {
		struct bench *bench = bench_make(chunks, 0);
		uint32_t refused = 0;

		for (uint32_t i = 0; i < 40; i++) {
			refused += !insert(bench, 1000 + i, 0, 60);
			refused += !insert(bench, 5 * SLOT_NS(1) + i, 0, 60);
			refused += !insert(bench, 5 * SLOT_NS(2) + i, 0, 60);
			refused += !insert(bench, (4 + i) * SLOT_NS(3) + i, 0, 60);
			assert_int_equal(bench->wheel->records, bench->n);
			next_is_sound(bench);
		}
		assert_true(refused > 0);
		run_out(bench);
		assert_int_equal(wheel_next(bench->wheel), SIMTIME_NEVER);
		/* afterwards the wheel holds as much as before */
		advance(bench, bench->now + 2 * SLOT_NS(3));
		assert_true(insert(bench, bench->now + 5, 0, 60) == (chunks >= 2));
		run_out(bench);
		bench_free(bench);
	}
}

/* Chunks are returned slot by slot, not only when the wheel is empty. */
static void memory_comes_back_as_time_goes_on(void **state)
{
	struct bench *bench = bench_make(4096, 0);
	uint64_t most = 0;

	(void)state;
	for (uint32_t ms = 0; ms < 20000; ms++) {
		for (uint32_t i = 0; i < 10; i++)
			assert_true(
			        insert(bench, bench->now + 50 * SIMTIME_MS + i * 100000, 0, 60));
		advance(bench, bench->now + SIMTIME_MS);
		if (bench->arena.used_chunks > most)
			most = bench->arena.used_chunks;
	}
	/* 500 packets are held, each in its own slot of 65.5 us, whose keys take a block of 256
	 * bytes; the packets lie together, 88 bytes each. */
	assert_true(most < 500 / 15 + 500 * 88 / 4000 + 10);
	run_out(bench);
	bench_free(bench);
}

static void a_wheel_that_is_freed_with_records_gives_its_chunks_back(void **state)
{
	struct bench *bench = bench_make(64, 0);
	struct draw_key key = draw_key_make(3, "wheel", "free");

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		insert(bench, draw_u64(key, i, 0) >> (64 - 47 + i % 40), 0, 100);
	advance(bench, SLOT_NS(1) * 3 + 50);
	assert_true(bench->n > 100);
	wheel_free(bench->wheel);
	assert_int_equal(bench->arena.used_chunks, 0);
	free(bench->memory);
	free(bench->heap);
	free(bench);
}

GROUP(wheel)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_empty_wheel_has_nothing_and_waits_for_nothing),
	        cmocka_unit_test(a_record_leaves_at_its_instant_and_not_a_nanosecond_before),
	        cmocka_unit_test(random_records_over_all_levels_come_out_as_the_reference_says),
	        cmocka_unit_test(ties_leave_in_the_order_of_insertion_whatever_their_clouds),
	        cmocka_unit_test(insertion_into_the_open_slot_finds_its_place),
	        cmocka_unit_test(at_an_instant_of_the_open_slot_what_comes_last_leaves_last),
	        cmocka_unit_test(what_is_inserted_in_the_past_leaves_at_once_and_first),
	        cmocka_unit_test(a_million_records_at_one_instant_keep_their_order),
	        cmocka_unit_test(the_cursor_may_jump_any_distance),
	        cmocka_unit_test(
	                records_beyond_the_turn_of_the_highest_level_leave_when_they_are_due),
	        cmocka_unit_test(advancing_past_a_turn_in_one_step_leaves_nothing_behind),
	        cmocka_unit_test(no_memory_is_said_and_does_no_harm),
	        cmocka_unit_test(memory_comes_back_as_time_goes_on),
	        cmocka_unit_test(a_wheel_that_is_freed_with_records_gives_its_chunks_back),
	};

	return cmocka_run_group_tests_name("wheel", tests, NULL, NULL);
}
