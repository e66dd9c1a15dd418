/* SPDX-License-Identifier: BSD-3-Clause */
/* The in-flight count, compared with a list that is searched from end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "line/in_flight.h"
#include "random/draw.h"
#include "runner/group.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define STEPS         20000
#define EPOCH         UINT64_C(1700000000123456789)

struct bench {
	struct arena arena;
	void *memory;
	struct in_flight *in_flight;
	struct draw_key key;
	uint64_t drawn;
	simtime noted[STEPS];
	uint32_t n;
};

static struct bench *bench_open(size_t chunks)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	assert_non_null(bench);
	bench->memory = aligned_alloc(CHUNK_BYTES, chunks * CHUNK_BYTES);
	assert_non_null(bench->memory);
	arena_init(&bench->arena, bench->memory, chunks * CHUNK_BYTES);
	bench->in_flight = in_flight_make();
	bench->key = draw_key_make(1, "in-flight count", "test");
	return bench;
}

static void bench_close(struct bench *bench)
{
	in_flight_clear(bench->in_flight, &bench->arena);
	assert_int_equal(bench->arena.used_chunks, 0);
	in_flight_free(bench->in_flight);
	free(bench->memory);
	free(bench);
}

static uint64_t below(struct bench *bench, uint64_t n)
{
	return draw_u64(bench->key, bench->drawn++, 0) % n;
}

static void note(struct bench *bench, simtime due)
{
	assert_true(in_flight_reserve(bench->in_flight, &bench->arena, 1));
	in_flight_note(bench->in_flight, due);
	bench->noted[bench->n++] = due;
}

static uint64_t later_than(const struct bench *bench, simtime now)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < bench->n; i++)
		n += bench->noted[i] > now;
	return n;
}

static void assert_count(struct bench *bench, simtime now)
{
	assert_int_equal(in_flight_count(bench->in_flight, &bench->arena, now),
	                 later_than(bench, now));
}

static void it_counts_what_is_later_than_now_in_whatever_order_it_was_noted(void **state)
{
	static const struct {
		simtime origin;
		uint64_t gap_ns, delay_ns, spread_ns; /* of steps; of the noted times */
	} rows[] = {
	        {0, 3, 10, 20},
	        {0, 1000, 40000000, 1},
	        {EPOCH, 1000, 40000, 40000},
	        {EPOCH, 100000, 1, 2000000},
	        {EPOCH, 7, 0, UINT64_C(86400000000000)},
	        {UINT64_C(1) << 62, 1000000, 0, 100000000},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct bench *bench = bench_open(128);
		simtime now = rows[i].origin;

		while (bench->n < 4000) {
			now += below(bench, 2 * rows[i].gap_ns);
			/* Sometimes the time jumps far ahead, over several digits at once. */
			if (below(bench, 200) == 0)
				now += below(bench, rows[i].delay_ns + rows[i].spread_ns);
			if (below(bench, 4) > 0)
				assert_count(bench, now);
			note(bench, now + rows[i].delay_ns + below(bench, rows[i].spread_ns));
		}
		while (later_than(bench, now) > 0) {
			now += 1 + (rows[i].delay_ns + rows[i].spread_ns) / 60;
			assert_count(bench, now);
		}
		assert_int_equal(bench->arena.used_chunks, 0);
		bench_close(bench);
	}
}

static void an_instant_counts_until_it_comes_and_not_when_it_has_come(void **state)
{
	struct bench *bench = bench_open(4);

	(void)state;
	note(bench, 100);
	note(bench, 50);
	note(bench, 50);
	assert_int_equal(in_flight_count(bench->in_flight, &bench->arena, 49), 3);
	assert_int_equal(in_flight_count(bench->in_flight, &bench->arena, 50), 1);
	/* A packet that is due by now was never in flight. */
	note(bench, 50);
	note(bench, 12);
	assert_int_equal(in_flight_count(bench->in_flight, &bench->arena, 50), 1);
	assert_int_equal(in_flight_count(bench->in_flight, &bench->arena, 99), 1);
	assert_int_equal(in_flight_count(bench->in_flight, &bench->arena, 100), 0);
	bench_close(bench);
}

static void without_memory_it_says_so_and_counts_on(void **state)
{
	struct bench *bench = bench_open(1);
	uint64_t noted = 0;

	(void)state;
	while (in_flight_reserve(bench->in_flight, &bench->arena, 1))
		in_flight_note(bench->in_flight, 1000 + (noted++ * 7919 & 1023));
	assert_in_range(noted, IN_FLIGHT_RESERVE_MAX, CHUNK_BYTES / sizeof(struct in_flight_note));
	assert_int_equal(in_flight_count(bench->in_flight, &bench->arena, 999), noted);
	assert_int_equal(in_flight_count(bench->in_flight, &bench->arena, 3000), 0);
	assert_true(in_flight_reserve(bench->in_flight, &bench->arena, IN_FLIGHT_RESERVE_MAX));
	bench_close(bench);
}

GROUP(in_flight)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(it_counts_what_is_later_than_now_in_whatever_order_it_was_noted),
	        cmocka_unit_test(an_instant_counts_until_it_comes_and_not_when_it_has_come),
	        cmocka_unit_test(without_memory_it_says_so_and_counts_on),
	};

	return cmocka_run_group_tests_name("in-flight count", tests, NULL, NULL);
}
