/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose fault it is that packets wait or are missed: the thread's, or that of who had its processor.
 * Two clocks that are made up, and a ring at one packet a microsecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/bench_away.h"
#include "measure/bench_sink.h"
#include "measure/bench_source.h"
#include "runner/group.h"

#define US SIMTIME_US

/* A thread, its rounds, and what it has of its processor. */
struct thread {
	struct bench_away away;
	simtime now;
	uint64_t cpu_ns;
};

/* A round: the thread works, and others have the processor. What is said of them. */
static uint64_t round_of(struct thread *thread, uint64_t own_ns, uint64_t others_ns)
{
	thread->now += own_ns + others_ns;
	thread->cpu_ns += own_ns;
	if (!bench_away_is_unsure(&thread->away, thread->now)) {
		bench_away_round(&thread->away, thread->now);
		return 0;
	}
	return bench_away_read(&thread->away, thread->now, thread->cpu_ns);
}

static struct thread thread_make(void)
{
	struct thread thread = {.now = 5 * SIMTIME_S, .cpu_ns = SIMTIME_MS};

	assert_int_equal(round_of(&thread, 0, 0), 0);
	return thread;
}

static void what_others_had_of_a_round_is_no_part_of_the_own_one(void **state)
{
	struct thread thread = thread_make();

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(round_of(&thread, US, 0), 0);
	assert_int_equal(thread.away.longest_own_ns, US);
	assert_int_equal(round_of(&thread, 30 * US, 4000 * US), 4000 * US);
	assert_int_equal(thread.away.longest_own_ns, 30 * US);
	/* One that works for long is not away. */
	assert_int_equal(round_of(&thread, 2000 * US, 0), 0);
	assert_int_equal(thread.away.longest_own_ns, 2000 * US);
}

/* Rounds that are too short to be looked into are looked into together. */
static void short_absences_are_seen_within_a_millisecond(void **state)
{
	struct thread thread = thread_make();
	uint64_t sum = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		sum += round_of(&thread, US, 9 * US);
	assert_in_range(sum, 9000 * US - 1000 * US, 9000 * US);
}

/* Behind an absence of 100 us: of what was due meanwhile, and while that was worked off. */
static void what_others_have_made_late_is_left_out_until_the_worker_has_caught_up(void **state)
{
	struct bench_sink sink = {.own = true};
	static const struct {
		simtime handed, due;
		bool own;
	} rows[] = {
	        {1000 * US, 900 * US, false},  {1001 * US, 1000 * US - 1, false},
	        {1100 * US, 1050 * US, false}, {1101 * US, 1099 * US, true},
	        {1200 * US, 1100 * US, true}, /* weir's own again */
	};

	(void)state;
	assert_true(bench_sink_is_own(&sink, 900 * US, 800 * US));
	sink.behind_ns = 1000 * US;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(bench_sink_is_own(&sink, rows[i].handed, rows[i].due),
		                 rows[i].own);
}

/* A worker at a ring that a packet enters each microsecond. Empties it at the end of the round. */
static void poll(struct bench_source *source, uint64_t *waiting, uint64_t own_us,
                 uint64_t others_us, uint64_t taken)
{
	*waiting = bench_source_arrive(source, *waiting, own_us + others_us, others_us);
	*waiting -= taken < *waiting ? taken : *waiting;
}

static void what_is_missed_without_others_is_the_own_fault(void **state)
{
	static const struct {
		uint64_t own_us, others_us, missed, by_others;
	} rows[] = {
	        {1024, 0, 0, 0},          {0, 1024, 0, 0},          {3000, 0, 1976, 0},
	        {1, 50000, 48977, 48977}, {2000, 1000, 1976, 1000}, {300, 1700, 976, 976},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bench_source source = {.period_ps = 1000000};
		uint64_t waiting = 0;

		poll(&source, &waiting, rows[i].own_us, rows[i].others_us, 64);
		assert_int_equal(source.missed, rows[i].missed);
		assert_int_equal(source.missed_away, rows[i].by_others);
	}
}

static void what_others_have_left_waiting_is_their_fault_until_it_is_worked_off(void **state)
{
	struct bench_source source = {.period_ps = 1000000};
	uint64_t waiting = 0;

	(void)state;
	poll(&source, &waiting, 0, 1024, 64);
	poll(&source, &waiting, 100, 0, 2000); /* 36 too many, and then none waits */
	assert_int_equal(source.missed, 36);
	assert_int_equal(source.missed_away, 36);
	assert_int_equal(waiting, 0);
	poll(&source, &waiting, 1, 0, 2000);
	poll(&source, &waiting, 1034, 0, 0);
	assert_int_equal(source.missed, 46);
	assert_int_equal(source.missed_away, 36);
}

GROUP(bench_away)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_others_had_of_a_round_is_no_part_of_the_own_one),
	        cmocka_unit_test(short_absences_are_seen_within_a_millisecond),
	        cmocka_unit_test(
	                what_others_have_made_late_is_left_out_until_the_worker_has_caught_up),
	        cmocka_unit_test(what_is_missed_without_others_is_the_own_fault),
	        cmocka_unit_test(
	                what_others_have_left_waiting_is_their_fault_until_it_is_worked_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
