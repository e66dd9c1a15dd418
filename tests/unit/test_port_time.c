/* SPDX-License-Identifier: BSD-3-Clause */
/* A device's clock: how it is followed, and its time stamps, whatever their values. The device is a
 * fake. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "port/port_time.h"
#include "runner/group.h"

#define BORN_TICKS UINT64_C(1234567890123)

/* 156.25 MHz, 37 ppm fast. */
static uint64_t ticks_at(simtime ns)
{
	return BORN_TICKS + (uint64_t)((double)ns * 0.15625 * (1.0 + 37e-6));
}

struct stamp {
	bool there;
	uint64_t ticks;
};

/* The mbuf is the stamp. */
static bool stamp_read(const void *device, const struct rte_mbuf *mbuf, uint64_t *ticks)
{
	const struct stamp *stamp = (const struct stamp *)(const void *)mbuf;
	(void)device;

	*ticks = stamp->ticks;
	return stamp->there;
}

static void stamp_launch(const void *device, struct rte_mbuf *mbuf, uint64_t ticks)
{
	struct stamp *stamp = (struct stamp *)(void *)mbuf;
	(void)device;

	*stamp = (struct stamp){.there = true, .ticks = ticks};
}

static const struct port_time_ops fake = {.stamp = stamp_read, .launch = stamp_launch};

static void follow(struct port_time *time, simtime from, simtime to)
{
	for (simtime ns = from; ns <= to; ns += 100 * SIMTIME_MS)
		clock_discipline(&time->line,
		                 &(struct clock_sample){.tsc = ticks_at(ns), .raw_ns = ns});
}

/* The port starts when weir's clock reads 5 s. */
static struct port_time started(void)
{
	const simtime begin = 5 * SIMTIME_S;
	struct port_time time;

	assert_int_equal(port_time_start_from(
	                         &time, &fake, NULL,
	                         &(struct clock_sample){.tsc = ticks_at(begin), .raw_ns = begin},
	                         &(struct clock_sample){.tsc = ticks_at(begin + CLOCK_START_NS),
	                                                .raw_ns = begin + CLOCK_START_NS}),
	                 0);
	follow(&time, begin + 100 * SIMTIME_MS, begin + 30 * SIMTIME_S);
	return time;
}

static uint32_t age_of(struct port_time *time, const struct stamp *stamp, simtime reading)
{
	struct rte_mbuf *mbuf = (struct rte_mbuf *)(uintptr_t)stamp;
	uint32_t age_ns;

	port_time_ages(time, &mbuf, 1, reading, &age_ns);
	return age_ns;
}

static void a_stamp_becomes_an_instant_of_weirs_clock_to_the_device_s_tick(void **state)
{
	struct port_time time = started();
	(void)state;

	/* The 100 ms until the line is corrected. */
	for (simtime ns = 35 * SIMTIME_S; ns < 35100 * SIMTIME_MS; ns += 1234567) {
		struct stamp stamp = {.there = true, .ticks = ticks_at(ns)};

		/* A tick is 6.4 ns: one is cut off here, and one at the sample with which the line
		 * begins. */
		assert_in_range(age_of(&time, &stamp, ns + 900), 900 - 13, 900 + 13);
	}
	assert_int_equal(time.ahead + time.backward + time.stale + time.unstamped, 0);
}

static void a_device_is_told_to_send_at_its_own_tick_of_an_instant_of_weirs_clock(void **state)
{
	struct port_time time = started();
	(void)state;

	/* Before and after the correction of the line. */
	for (simtime ns = 34900 * SIMTIME_MS; ns < 35100 * SIMTIME_MS; ns += 1234567) {
		struct stamp stamp = {.there = false};
		struct rte_mbuf *mbuf = (struct rte_mbuf *)(void *)&stamp;
		simtime due = ns - 20 * SIMTIME_US;

		port_time_launch(&time, &mbuf, &due, 1, 20 * SIMTIME_US);
		assert_true(stamp.there);
		assert_in_range(stamp.ticks, ticks_at(ns) - 2, ticks_at(ns) + 2);
	}
}

static void what_is_not_stamped_came_when_it_was_seen(void **state)
{
	struct port_time time = started();
	struct stamp stamp = {.there = false};
	(void)state;

	assert_int_equal(age_of(&time, &stamp, 35 * SIMTIME_S), 0);
	assert_int_equal(time.unstamped, 1);
	assert_int_equal(time.stamped, 0);
}

static void
no_instant_is_after_the_reading_before_the_last_or_older_than_a_millisecond(void **state)
{
	struct port_time time = started();
	const simtime now = 35 * SIMTIME_S;
	struct stamp stamp = {.there = true};
	(void)state;

	stamp.ticks = ticks_at(now - 500);
	assert_in_range(age_of(&time, &stamp, now), 487, 513);
	stamp.ticks = ticks_at(now - 5000); /* before the last */
	assert_in_range(age_of(&time, &stamp, now + 100), 587, 613);
	assert_int_equal(time.backward, 1);
	stamp.ticks = ticks_at(now + 100000); /* after the reading */
	assert_int_equal(age_of(&time, &stamp, now + 200), 0);
	assert_int_equal(time.ahead, 1);
	stamp.ticks = ticks_at(now - 2 * SIMTIME_MS); /* too old */
	assert_int_equal(age_of(&time, &stamp, now + 300), 0);
	assert_int_equal(time.stale, 1);
	stamp.ticks = 0; /* before the device's birth */
	assert_int_equal(age_of(&time, &stamp, now + 400), 0);
	assert_int_equal(time.stale, 2);
	assert_int_equal(time.stamped, 5);
}

static void whatever_a_device_says_instants_go_forward_and_not_beyond_the_reading(void **state)
{
	struct port_time time = started();
	simtime now = 35 * SIMTIME_S, last = 0;
	uint64_t random = 12345;
	(void)state;

	for (int i = 0; i < 100000; i++) {
		struct stamp stamp = {.there = true};
		uint32_t age_ns;

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		now += random >> 54;
		/* one in four is arbitrary, the others are within 4 us */
		stamp.ticks = random >> 62          ? ticks_at(now) - (random >> 40) % 600
		              : random & (1u << 20) ? random * random
		                                    : random >> 26;
		age_ns = age_of(&time, &stamp, now);
		assert_true(age_ns <= PORT_TIME_AGE_MAX);
		assert_true(now - age_ns >= last);
		last = now - age_ns;
	}
	assert_int_equal(time.stamped, 100000);
	assert_true(time.ahead > 1000 && time.backward > 1000 && time.stale > 1000);
}

/* ---- starting, on the real clock ---- */

static int read_half_tsc(const void *device, uint64_t *ticks)
{
	(void)device;
	*ticks = rte_rdtsc() / 2;
	return 0;
}

static int read_standing(const void *device, uint64_t *ticks)
{
	(void)device;
	*ticks = 7;
	return 0;
}

static int read_nothing(const void *device, uint64_t *ticks)
{
	(void)device;
	(void)ticks;
	return -ENOTSUP;
}

static void a_device_whose_clock_goes_is_followed_and_one_whose_does_not_is_refused(void **state)
{
	static const struct port_time_ops goes = {.stamp = stamp_read, .read = read_half_tsc};
	static const struct port_time_ops stands = {.stamp = stamp_read, .read = read_standing};
	static const struct port_time_ops mute = {.stamp = stamp_read, .read = read_nothing};
	struct port_time time;
	struct stamp stamp = {.there = true};
	struct clock clock;
	simtime before, after;
	(void)state;

	assert_int_equal(clock_calibrate(&clock), 0);
	assert_int_equal(port_time_start(&time, &stands, NULL, &clock), -ERANGE);
	assert_int_equal(port_time_start(&time, &mute, NULL, &clock), -ENOTSUP);
	assert_int_equal(port_time_start(&time, &goes, NULL, &clock), 0);
	port_time_discipline(&time, &clock);
	before = clock_now(&clock);
	read_half_tsc(NULL, &stamp.ticks);
	after = clock_now(&clock);
	/* Both clocks are the TSC. The rest is the error of the samples' readings: under 1 us, even
	 * if the processor was taken away during one of the eight. */
	assert_in_range(after - age_of(&time, &stamp, after) + 1000, before, after + 1000);
}

GROUP(port_time)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_stamp_becomes_an_instant_of_weirs_clock_to_the_device_s_tick),
	        cmocka_unit_test(
	                a_device_is_told_to_send_at_its_own_tick_of_an_instant_of_weirs_clock),
	        cmocka_unit_test(what_is_not_stamped_came_when_it_was_seen),
	        cmocka_unit_test(
	                no_instant_is_after_the_reading_before_the_last_or_older_than_a_millisecond),
	        cmocka_unit_test(
	                whatever_a_device_says_instants_go_forward_and_not_beyond_the_reading),
	        cmocka_unit_test(
	                a_device_whose_clock_goes_is_followed_and_one_whose_does_not_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
