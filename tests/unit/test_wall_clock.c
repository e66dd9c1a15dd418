/* SPDX-License-Identifier: BSD-3-Clause */
/* Stamps of the wall clock as instants of weir's, whatever happens to the wall clock meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/clock.h"
#include "runner/group.h"

#define EPOCH (UINT64_C(1790000000) * SIMTIME_S)

/* A wall clock that reads EPOCH + now + ahead_ns, as the latest reading found it. */
static struct wall_clock read_at(simtime now, int64_t ahead_ns)
{
	struct wall_clock wall = {0};

	wall_clock_note(&wall, EPOCH + now + (uint64_t)ahead_ns, now);
	return wall;
}

static simtime instant(const struct wall_clock *wall, simtime true_ns, int64_t ahead_ns)
{
	return wall_clock_instant(wall, EPOCH + true_ns + (uint64_t)ahead_ns);
}

static void a_stamp_is_the_instant_at_which_the_wall_clock_read_it(void **state)
{
	struct wall_clock wall = read_at(SIMTIME_S, 5000);
	(void)state;

	assert_int_equal(instant(&wall, SIMTIME_S, 5000), SIMTIME_S);
	assert_int_equal(instant(&wall, SIMTIME_S - 12345, 5000), SIMTIME_S - 12345);
	assert_int_equal(instant(&wall, 0, 5000), 0);
}

/* The two readings of a pair are some tens of ns apart. */
static void a_stamp_is_never_after_the_reading_nor_before_the_clock_began(void **state)
{
	struct wall_clock wall = read_at(SIMTIME_S, 0);
	(void)state;

	assert_int_equal(instant(&wall, SIMTIME_S + 40, 0), SIMTIME_S);
	assert_int_equal(wall_clock_instant(&wall, EPOCH - SIMTIME_S), 0);
	assert_int_equal(wall_clock_instant(&wall, 0), 0);
}

/* 500 ppm, the most that adjtimex(2) bends the clock; read ten times a second. */
static void a_bent_rate_is_no_step(void **state)
{
	struct wall_clock wall = {0};
	(void)state;

	for (simtime now = 0; now < 10 * SIMTIME_S; now += 100 * SIMTIME_MS) {
		const int64_t ahead_ns = (int64_t)(now / 2000);

		wall_clock_note(&wall, EPOCH + now + (uint64_t)ahead_ns, now);
		assert_int_equal(wall.unsettled, 0);
		assert_int_equal(instant(&wall, now - now / 10, ahead_ns), now - now / 10);
	}
}

/* Between two readings the wall clock steps. Frames from before and after the step wait. None gets
 * an instant after the reading, or before its true one: its packet would leave early. Frames from
 * before a step get their true instant, unless the step is smaller than their age. */
static void a_step_makes_no_packet_leave_early(void **state)
{
	static const int64_t steps_ns[] = {3600 * (int64_t)SIMTIME_S, -3600 * (int64_t)SIMTIME_S,
	                                   5 * (int64_t)SIMTIME_MS,   -5 * (int64_t)SIMTIME_MS,
	                                   100 * (int64_t)SIMTIME_US, -100 * (int64_t)SIMTIME_US};
	(void)state;

	for (size_t i = 0; i < sizeof(steps_ns) / sizeof(steps_ns[0]); i++) {
		const int64_t step_ns = steps_ns[i];
		const simtime size_ns = (simtime)(step_ns < 0 ? -step_ns : step_ns);
		const simtime stepped = 4000 * SIMTIME_S, now = stepped + 8 * SIMTIME_MS;
		struct wall_clock wall = read_at(stepped - 8 * SIMTIME_MS, 0);

		wall_clock_note(&wall, EPOCH + now + (uint64_t)step_ns, now);
		for (simtime at = stepped - 8 * SIMTIME_MS; at <= now; at += 50 * SIMTIME_US) {
			simtime got = instant(&wall, at, at < stepped ? 0 : step_ns);

			assert_true(got >= at && got <= now);
			if (size_ns > now - at)
				assert_int_equal(got, at);
		}
		assert_int_equal(instant(&wall, now + 40, step_ns), now);
	}
}

static void a_step_is_settled_when_no_frame_from_before_it_can_be_left(void **state)
{
	struct wall_clock wall = read_at(SIMTIME_S, 0);
	const int64_t step_ns = -5 * (int64_t)SIMTIME_MS;
	const simtime now = 2 * SIMTIME_S;
	(void)state;

	wall_clock_note(&wall, EPOCH + now + (uint64_t)step_ns, now);
	wall_clock_settle(&wall);
	/* This one came after the socket was emptied, and before the clock was read. */
	assert_int_equal(instant(&wall, now - 100, 0), now - 100);
	wall_clock_settle(&wall);
	assert_int_equal(wall.former_ns, wall.ahead_ns);
	wall_clock_note(&wall, EPOCH + now + SIMTIME_S + (uint64_t)step_ns, now + SIMTIME_S);
	assert_int_equal(instant(&wall, now + SIMTIME_MS, step_ns), now + SIMTIME_MS);
}

static void a_reading_is_of_both_clocks_at_once(void **state)
{
	struct wall_clock wall = {0};
	struct clock clock;
	simtime before, now;
	(void)state;

	assert_int_equal(clock_calibrate(&clock), 0);
	before = clock_now(&clock);
	now = wall_clock_read(&wall, &clock);
	assert_true(now >= before && now <= clock_now(&clock));
	assert_int_equal(wall.read, now);
	assert_true(wall.ahead_ns > 0);
}

GROUP(wall_clock)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_stamp_is_the_instant_at_which_the_wall_clock_read_it),
	        cmocka_unit_test(a_stamp_is_never_after_the_reading_nor_before_the_clock_began),
	        cmocka_unit_test(a_bent_rate_is_no_step),
	        cmocka_unit_test(a_step_makes_no_packet_leave_early),
	        cmocka_unit_test(a_step_is_settled_when_no_frame_from_before_it_can_be_left),
	        cmocka_unit_test(a_reading_is_of_both_clocks_at_once),
	};

	return cmocka_run_group_tests_name("wall-clock", tests, NULL, NULL);
}
