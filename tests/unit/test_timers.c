/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers of shared clouds compared with a reference that searches all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/events.h"
#include "random/draw.h"
#include "runner/group.h"

#define SLOTS 300u

struct bench {
	struct timers timers;
	simtime t_ns[SLOTS]; /* SIMTIME_NEVER: not set */
	uint32_t set[SLOTS];
	uint32_t number;
};

static uint64_t dice(uint64_t sides)
{
	static const struct draw_key key = {{17, 4}};
	static uint64_t drawn;

	return draw_index(draw_u64(key, drawn++, 0), sides);
}

static void set(struct bench *bench, uint32_t slot, simtime t_ns)
{
	bench->t_ns[slot] = t_ns;
	bench->set[slot] = bench->number;
	timers_set(&bench->timers, slot, t_ns, bench->number++);
}

static void unset(struct bench *bench, uint32_t slot)
{
	bench->t_ns[slot] = SIMTIME_NEVER;
	timers_unset(&bench->timers, slot);
}

/* Asserts that the first timer is that of the reference. Returns its slot; SLOTS: none is set. */
static uint32_t first(const struct bench *bench)
{
	uint32_t found = SLOTS;

	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		if (bench->t_ns[slot] == SIMTIME_NEVER)
			continue;
		if (found == SLOTS || bench->t_ns[slot] < bench->t_ns[found] ||
		    (bench->t_ns[slot] == bench->t_ns[found] &&
		     (int32_t)(bench->set[slot] - bench->set[found]) < 0))
			found = slot;
	}
	if (found == SLOTS) {
		assert_int_equal(timers_next(&bench->timers), SIMTIME_NEVER);
		return SLOTS;
	}
	assert_int_equal(timers_next(&bench->timers), bench->t_ns[found]);
	assert_int_equal(bench->timers.heap[0].slot, found);
	return found;
}

static void open(struct bench *bench, uint32_t number)
{
	assert_int_equal(timers_make(&bench->timers, SLOTS), 0);
	bench->number = number;
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		bench->t_ns[slot] = SIMTIME_NEVER;
}

/* Timers of few instants, so that many share one. The numbers wrap around. */
static void the_earliest_fires_first_and_of_one_instant_the_one_that_was_set_first(void **state)
{
	static struct bench bench;

	(void)state;
	open(&bench, UINT32_MAX - 20000);
	for (uint32_t i = 0; i < 60000; i++) {
		const uint32_t slot = (uint32_t)dice(SLOTS);

		if (dice(4) > 0)
			set(&bench, slot, dice(40));
		else
			unset(&bench, dice(2) ? slot : RTE_MIN(first(&bench), SLOTS - 1));
		first(&bench);
	}
	for (uint32_t slot; (slot = first(&bench)) < SLOTS;)
		unset(&bench, slot);
	assert_int_equal(bench.timers.n, 0);
	timers_free(&bench.timers);
}

/* It is set again, or unset, afterwards. */
static void a_timer_that_fires_does_not_count_meanwhile(void **state)
{
	static struct bench bench;

	(void)state;
	open(&bench, 0);
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		set(&bench, slot, 1000 + dice(500));
	for (uint32_t i = 0; i < 5000 && bench.timers.n > 1; i++) {
		const uint32_t slot = first(&bench);
		simtime fires_ns = bench.t_ns[slot], next;

		bench.timers.firing = true;
		next = timers_next(&bench.timers);
		bench.timers.firing = false;
		assert_true(next >= fires_ns);
		if (dice(16) > 0)
			set(&bench, slot, fires_ns + dice(500));
		else
			unset(&bench, slot);
		assert_true(bench.t_ns[slot] < next || timers_next(&bench.timers) == next);
		first(&bench);
	}
	timers_free(&bench.timers);
}

static void more_room_keeps_all_timers(void **state)
{
	static struct bench bench;
	struct timers larger;

	(void)state;
	open(&bench, 0);
	for (uint32_t slot = 0; slot < SLOTS; slot += 2)
		set(&bench, slot, dice(40));
	assert_int_equal(timers_make(&larger, 2 * SLOTS), 0);
	timers_take_over(&larger, &bench.timers);
	timers_free(&bench.timers);
	bench.timers = larger;
	for (uint32_t slot; (slot = first(&bench)) < SLOTS;)
		unset(&bench, slot);
	timers_free(&bench.timers);
}

static void a_timer_stands_among_packets_by_its_number(void **state)
{
	static struct bench bench;

	(void)state;
	open(&bench, 5);
	assert_false(timers_precede(&bench.timers, 10, 0));
	set(&bench, 1, 10);
	assert_true(timers_precede(&bench.timers, 11, 0));
	assert_false(timers_precede(&bench.timers, 9, 9));
	assert_false(timers_precede(&bench.timers, 10, 4));
	assert_true(timers_precede(&bench.timers, 10, 6));
	timers_free(&bench.timers);
}

GROUP(timers)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(
	                the_earliest_fires_first_and_of_one_instant_the_one_that_was_set_first),
	        cmocka_unit_test(a_timer_that_fires_does_not_count_meanwhile),
	        cmocka_unit_test(more_room_keeps_all_timers),
	        cmocka_unit_test(a_timer_stands_among_packets_by_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
