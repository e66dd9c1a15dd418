/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether packets wait or are missed because of the thread itself, or because others had its
 * processor. Uses two synthetic clocks, and a ring that receives a packet a microsecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/bench_source.h"
#include "runner/group.h"

#define US SIMTIME_US

/* A thread, its current time, and its time on the processor. */
struct thread {
	struct bench_preempted preempted;
	simtime now;
	uint64_t cpu_ns;
};

/* Does one round: the thread works for own_ns, and others have the processor for others_ns. Returns
 * how much of the round is attributed to the others. */
static uint64_t round_of(struct thread *thread, uint64_t own_ns, uint64_t others_ns)
{
	thread->now += own_ns + others_ns;
	thread->cpu_ns += own_ns;
	if (!bench_preempted_is_unsure(&thread->preempted, thread->now)) {
		bench_preempted_round(&thread->preempted, thread->now);
		return 0;
	}
	return bench_preempted_read(&thread->preempted, thread->now, thread->cpu_ns);
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
	assert_int_equal(thread.preempted.longest_own_ns, US);
	assert_int_equal(round_of(&thread, 30 * US, 4000 * US), 4000 * US);
	assert_int_equal(thread.preempted.longest_own_ns, 30 * US);
}

static void a_thread_that_works_for_long_is_not_preempted(void **state)
{
	struct thread thread = thread_make();

	(void)state;
	assert_int_equal(round_of(&thread, 2000 * US, 0), 0);
	assert_int_equal(thread.preempted.longest_own_ns, 2000 * US);
}

/* Rounds too short to be examined one by one are examined together. */
static void short_absences_are_seen_within_a_millisecond(void **state)
{
	struct thread thread = thread_make();
	uint64_t sum = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		sum += round_of(&thread, US, 9 * US);
	/* The thread's own part of a round behind an absence is excused, too. */
	assert_in_range(sum, 8000 * US, 10000 * US);
}

/* Behind 10 ms of others, the thread is excused for 40 ms at most. Any time beyond is its own. */
static void behind_an_absence_the_thread_is_excused_for_four_times_as_long(void **state)
{
	struct thread thread = thread_make();
	uint64_t excused = 0;

	(void)state;
	assert_int_equal(round_of(&thread, US, 10000 * US), 10000 * US);
	assert_int_equal(round_of(&thread, 37000 * US, 0), 37000 * US);
	assert_int_equal(thread.preempted.longest_own_ns, US);
	for (int i = 0; i < 10; i++)
		excused += round_of(&thread, 1000 * US, 0);
	assert_int_equal(excused, 3000 * US);
	assert_int_equal(thread.preempted.longest_own_ns, 1000 * US);
	/* A second absence begins before the first has been worked off. */
	round_of(&thread, US, 100 * US);
	round_of(&thread, US, 100 * US);
	assert_in_range(thread.preempted.behind_until_ns - thread.now, 400 * US, 800 * US);
}

static void one_that_has_caught_up_is_excused_no_longer(void **state)
{
	struct thread thread = thread_make();

	(void)state;
	round_of(&thread, US, 10000 * US);
	bench_preempted_caught_up(&thread.preempted);
	assert_int_equal(round_of(&thread, 1000 * US, 0), 0);
	assert_int_equal(thread.preempted.longest_own_ns, 1000 * US);
}

/* Others had the processor for 100 us, until 1000 us. */
static void what_others_have_made_late_is_left_out_until_the_worker_has_caught_up(void **state)
{
	const struct bench_sink sink = {
	        .own = true,
	        .preempted = {.returned_ns = 1000 * US, .behind_until_ns = 1100 * US},
	};
	static const struct {
		simtime handed, due;
		bool own;
	} rows[] = {
	        {1000 * US, 900 * US, false},  {1200 * US, 1000 * US - 1, false},
	        {1099 * US, 1050 * US, false}, {1099 * US, 1090 * US, true},
	        {1101 * US, 1050 * US, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(bench_sink_is_own(&sink, rows[i].handed, rows[i].due),
		                 rows[i].own);
}

/* Polls a ring that a packet enters each microsecond. Takes up to `taken` packets out of it at the
 * end of the round. */
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
		assert_int_equal(source.missed_preempted, rows[i].by_others);
	}
}

static void what_others_have_left_waiting_is_their_fault_until_it_is_worked_off(void **state)
{
	struct bench_source source = {.period_ps = 1000000};
	uint64_t waiting = 0;

	(void)state;
	poll(&source, &waiting, 0, 1024, 64);
	poll(&source, &waiting, 100, 0, 2000); /* 36 do not fit; then none waits */
	assert_int_equal(source.missed, 36);
	assert_int_equal(source.missed_preempted, 36);
	assert_int_equal(waiting, 0);
	poll(&source, &waiting, 1, 0, 2000);
	poll(&source, &waiting, 1034, 0, 0);
	assert_int_equal(source.missed, 46);
	assert_int_equal(source.missed_preempted, 36);
}

GROUP(bench_preempted)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_others_had_of_a_round_is_no_part_of_the_own_one),
	        cmocka_unit_test(a_thread_that_works_for_long_is_not_preempted),
	        cmocka_unit_test(short_absences_are_seen_within_a_millisecond),
	        cmocka_unit_test(behind_an_absence_the_thread_is_excused_for_four_times_as_long),
	        cmocka_unit_test(one_that_has_caught_up_is_excused_no_longer),
	        cmocka_unit_test(
	                what_others_have_made_late_is_left_out_until_the_worker_has_caught_up),
	        cmocka_unit_test(what_is_missed_without_others_is_the_own_fault),
	        cmocka_unit_test(
	                what_others_have_left_waiting_is_their_fault_until_it_is_worked_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
