/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "link/shaper.h"
#include "runner/group.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define KBIT          UINT64_C(1000)
#define MBIT          UINT64_C(1000000)
#define GBIT          UINT64_C(1000000000)

typedef unsigned __int128 u128;

static struct shaper shaper_at(uint64_t rate_bps, uint64_t depth_bytes)
{
	return (struct shaper){
	        .rate_bps = rate_bps,
	        .depth_work = (int64_t)depth_bytes * SHAPER_WORK_PER_BYTE,
	};
}

/* Returns ceil(bits / rate) in ns, for that many bytes sent back to back from 0 on. */
static simtime sent_at(u128 bytes, uint64_t rate_bps)
{
	return (simtime)((bytes * 8 * SIMTIME_S + rate_bps - 1) / rate_bps);
}

static void a_packet_of_1250_bytes_at_10_mbit_takes_a_millisecond(void **state)
{
	struct shaper shaper = shaper_at(10 * MBIT, 0);

	(void)state;
	shaper_idle_until(&shaper, 5 * SIMTIME_S);
	assert_int_equal(shaper_departure(&shaper, 1250), 5 * SIMTIME_S + SIMTIME_MS);
}

/* Departure k of a saturated link is the exact instant of its last bit, rounded up to a whole ns:
 * the remainder is carried, so no error accumulates. */
static void a_million_packets_at_odd_rates_leave_less_than_a_nanosecond_late_in_total(void **state)
{
	static const struct {
		uint64_t rate_bps;
		uint32_t bytes[3];
	} rows[] = {
	        {10 * MBIT, {1250, 1250, 1250}},
	        {9999991, {1514, 60, 777}},
	        {3, {1, 1, 1}},
	        {7 * GBIT + 1, {64, 64, 64}},
	        {UINT64_C(399999999989), {1514, 9014, 60}},
	        {UINT64_C(400000000000), {60, 61, 62}},
	        {UINT64_C(1234567891), {60, 1514, 9018}},
	        {999999937, {1, 2, 3}},
	};

	(void)state;
	for (size_t row = 0; row < LENGTH(rows); row++) {
		struct shaper shaper = shaper_at(rows[row].rate_bps, 0);
		u128 bytes = 0;

		for (uint32_t i = 0; i < 1000000; i++) {
			uint32_t length = rows[row].bytes[i % 3];
			simtime departure = shaper_departure(&shaper, length);

			bytes += length;
			assert_int_equal(departure, sent_at(bytes, rows[row].rate_bps));
			shaper_depart(&shaper, departure, length);
		}
	}
}

static void a_token_bucket_lets_exactly_its_depth_through_and_then_paces(void **state)
{
	enum { DEPTH = 15000, BYTES = 1500 };
	const uint64_t rate = 10 * MBIT;
	struct shaper shaper = shaper_at(rate, DEPTH);
	const simtime start = 7 * SIMTIME_S;

	(void)state;
	shaper_idle_until(&shaper, start);
	for (uint32_t i = 1; i <= 1000; i++) {
		simtime departure = shaper_departure(&shaper, BYTES);

		if (i <= DEPTH / BYTES)
			assert_int_equal(departure, start);
		else
			assert_int_equal(departure, start + sent_at(i * BYTES - DEPTH, rate));
		shaper_depart(&shaper, departure, BYTES);
	}
}

static void a_packet_that_the_bucket_misses_by_a_byte_waits_for_that_byte(void **state)
{
	struct shaper shaper = shaper_at(8 * KBIT, 1000); /* a byte is a millisecond */

	(void)state;
	shaper_idle_until(&shaper, 100);
	assert_int_equal(shaper_departure(&shaper, 1000), 100);
	assert_int_equal(shaper_departure(&shaper, 1001), 100 + SIMTIME_MS);
	shaper_depart(&shaper, 100, 1000);
	assert_int_equal(shaper_departure(&shaper, 1), 100 + SIMTIME_MS);
}

static void a_bucket_fills_again_to_its_depth_and_no_further(void **state)
{
	struct shaper shaper = shaper_at(8 * KBIT, 100);
	static const struct {
		simtime pause;
		uint32_t passes; /* the largest packet that leaves at once */
	} rows[] = {
	        {0, 0},
	        {40 * SIMTIME_MS, 40},
	        {100 * SIMTIME_MS, 100},
	        {101 * SIMTIME_MS, 100},
	        {86400 * SIMTIME_S, 100},
	        {UINT64_C(9000000000) * SIMTIME_S, 100}, /* 285 years: time ends at 292 */
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		simtime now = 12345;

		shaper = shaper_at(8 * KBIT, 100);
		shaper_idle_until(&shaper, now);
		shaper_depart(&shaper, now, 100);
		now += rows[i].pause;
		shaper_idle_until(&shaper, now);
		assert_int_equal(shaper_departure(&shaper, rows[i].passes), now);
		assert_true(shaper_departure(&shaper, rows[i].passes + 1) > now);
	}
}

/* As link_configure does it: advance, then the new rate. */
static void a_change_of_rate_in_the_middle_of_a_packet_is_exact(void **state)
{
	static const struct {
		uint64_t before, after;
		simtime changed, leaves; /* of 1250 bytes that begin at 0 */
	} rows[] = {
	        {10 * MBIT, 5 * MBIT, 500000, 1500000},
	        {10 * MBIT, 20 * MBIT, 500000, 750000},
	        {10 * MBIT, 1, 999999, 999999 + 10000000},  /* a hundredth of a bit was left */
	        {1, 400 * GBIT, SIMTIME_S, SIMTIME_S + 25}, /* 9999 bits at 400 a ns: 24.9975 */
	        {10 * MBIT, 10 * MBIT, 123456, 1000000},
	        {3, 7, SIMTIME_S, SIMTIME_S + 1428142858}, /* 9997 bits at 7 a second */
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct shaper shaper = shaper_at(rows[i].before, 0);
		simtime expected = rows[i].leaves;

		if (rows[i].before == 3)
			expected = SIMTIME_S + (9997 * SIMTIME_S + 6) / 7;
		shaper_idle_until(&shaper, 0);
		shaper_catch_up(&shaper, rows[i].changed);
		shaper.rate_bps = rows[i].after;
		assert_int_equal(shaper_departure(&shaper, 1250), expected);
	}
}

static void a_thousand_changes_of_rate_lose_no_work(void **state)
{
	/* 1000 steps of 1 us at 1, 2, 3 ... Mbit/s send 1 + 2 + 3 ... = 500500 bits. */
	struct shaper shaper = shaper_at(1 * MBIT, 0);
	simtime now = 0;

	(void)state;
	shaper_idle_until(&shaper, now);
	for (uint32_t i = 1; i <= 1000; i++) {
		shaper.rate_bps = i * MBIT;
		now += SIMTIME_US;
		shaper_catch_up(&shaper, now);
	}
	shaper.rate_bps = 1 * MBIT;
	/* 500500 bits are sent; of a packet of 100000 bytes 299500 bits remain. */
	assert_int_equal(shaper_departure(&shaper, 100000), now + UINT64_C(299500) * SIMTIME_US);
}

static void the_slowest_and_the_fastest_link_are_exact(void **state)
{
	struct shaper slow = shaper_at(1, 0), fast = shaper_at(400 * GBIT, 0);

	(void)state;
	assert_int_equal(shaper_departure(&slow, 1518), UINT64_C(12144) * SIMTIME_S);
	assert_int_equal(shaper_departure(&slow, 1 << 18), (UINT64_C(8) << 18) * SIMTIME_S);
	assert_int_equal(shaper_departure(&fast, 60), 2);         /* 1.2 */
	assert_int_equal(shaper_departure(&fast, 1 << 18), 5243); /* 5242.88 */
	/* The deepest bucket at the slowest rate, emptied by a change to depth 0. */
	slow = shaper_at(1, UINT64_C(1000000000));
	for (uint32_t i = 0; i < 1000000000 / 250000; i++)
		shaper_depart(&slow, 0, 250000);
	slow.depth_work = 0;
	assert_int_equal(shaper_departure(&slow, 1000), UINT64_C(8000008000) * SIMTIME_S);
}

static void idle_time_is_not_saved_up_however_long(void **state)
{
	static const simtime idle[] = {1, SIMTIME_S, DELAY_MAX_NS,
	                               UINT64_C(1700000000) * SIMTIME_S, /* the epoch to 2023 */
	                               SIMTIME_HORIZON - 2};

	(void)state;
	for (size_t i = 0; i < LENGTH(idle); i++) {
		struct shaper shaper = shaper_at(400 * GBIT, 0);

		shaper_idle_until(&shaper, idle[i]);
		assert_int_equal(shaper_departure(&shaper, 50), idle[i] + 1);
		shaper_depart(&shaper, idle[i] + 1, 50);
		assert_int_equal(shaper_departure(&shaper, 50), idle[i] + 2);
	}
}

/* Beyond the horizon, no departure has to be on time (simtime.h), and no sum wraps. */
static void a_departure_is_the_horizon_at_the_latest(void **state)
{
	static const struct {
		simtime at;
		uint64_t bytes;
		simtime leaves;
	} cases[] = {
	        {SIMTIME_HORIZON - 8 * SIMTIME_S - 1, 1, SIMTIME_HORIZON - 1},
	        {SIMTIME_HORIZON - 8 * SIMTIME_S, 1, SIMTIME_HORIZON},
	        {SIMTIME_HORIZON - 8 * SIMTIME_S + 1, 1, SIMTIME_HORIZON},
	        {SIMTIME_HORIZON - 1, 1 << 18, SIMTIME_HORIZON},
	        {SIMTIME_HORIZON, 1 << 18, SIMTIME_HORIZON},
	        {UINT64_MAX - 1, 1 << 18, SIMTIME_HORIZON},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct shaper shaper = shaper_at(1, 0);

		shaper.at = cases[i].at;
		assert_int_equal(shaper_departure(&shaper, (uint32_t)cases[i].bytes),
		                 cases[i].leaves);
	}
}

static void times_are_added_up_to_the_horizon(void **state)
{
	static const uint64_t cases[][3] = {
	        {0, 0, 0},
	        {1, 2, 3},
	        {SIMTIME_HORIZON - 1, 0, SIMTIME_HORIZON - 1},
	        {SIMTIME_HORIZON - 1, 1, SIMTIME_HORIZON},
	        {SIMTIME_HORIZON - 1, 2, SIMTIME_HORIZON},
	        {SIMTIME_HORIZON - 1, UINT64_MAX, SIMTIME_HORIZON},
	        {UINT64_MAX, UINT64_MAX, SIMTIME_HORIZON},
	        {0, UINT64_MAX, SIMTIME_HORIZON},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_int_equal(simtime_add(cases[i][0], cases[i][1]), cases[i][2]);
}

static void no_rate_is_no_wait(void **state)
{
	struct shaper shaper = shaper_at(0, 0);

	(void)state;
	shaper_idle_until(&shaper, 77);
	assert_int_equal(shaper_departure(&shaper, 1 << 18), 77);
}

/* A capture may claim any length on the wire: the link does not overflow, but treats the packet as
 * the longest possible one. */
static void a_packet_of_an_impossible_length_is_served_as_the_longest(void **state)
{
	struct shaper shaper = shaper_at(400 * GBIT, 0);
	simtime departure = shaper_departure(&shaper, UINT32_MAX);

	(void)state;
	assert_int_equal(departure, shaper_departure(&shaper, SHAPER_BYTES_MAX));
	for (int i = 0; i < 100; i++) {
		departure = shaper_departure(&shaper, UINT32_MAX);
		shaper_depart(&shaper, departure, UINT32_MAX);
		assert_true(shaper.debt_work > -(int64_t)shaper.rate_bps && shaper.debt_work <= 0);
	}
}

/* Packets back to back, after idle times of any length. */
static void to_serve_is_to_tell_the_instant_and_to_depart(void **state)
{
	static const struct {
		uint64_t rate_bps, depth_bytes;
	} rows[] = {{10 * MBIT, 0},         {3, 0},          {UINT64_C(399999999989), 0},
	            {400 * GBIT, 100000},   {1, 1000000000}, {UINT64_C(1234567891), 1500},
	            {999999937, 999999937}, {8 * MBIT, 1}};

	(void)state;
	for (size_t row = 0; row < LENGTH(rows); row++) {
		struct shaper one = shaper_at(rows[row].rate_bps, rows[row].depth_bytes), other;
		struct shaper_pace pace = {0};

		for (uint64_t i = 0; i < 100000; i++) {
			/* The same length for a while; also the impossible lengths of a capture. */
			uint32_t bytes =
			        i % 1000 ? (uint32_t)(i / 3 * 2654435761u % 9019) : UINT32_MAX;
			simtime departure;

			if (i % 100 == 0)
				shaper_idle_until(&one, one.at + i * i % 1000003);
			other = one;
			departure = shaper_departure(&one, bytes);
			shaper_depart(&one, departure, bytes);
			assert_int_equal(shaper_serve(&other, &pace, bytes), departure);
			assert_memory_equal(&other, &one, sizeof(one));
		}
	}
}

GROUP(shaper)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_packet_of_1250_bytes_at_10_mbit_takes_a_millisecond),
	        cmocka_unit_test(
	                a_million_packets_at_odd_rates_leave_less_than_a_nanosecond_late_in_total),
	        cmocka_unit_test(a_token_bucket_lets_exactly_its_depth_through_and_then_paces),
	        cmocka_unit_test(a_packet_that_the_bucket_misses_by_a_byte_waits_for_that_byte),
	        cmocka_unit_test(a_bucket_fills_again_to_its_depth_and_no_further),
	        cmocka_unit_test(a_change_of_rate_in_the_middle_of_a_packet_is_exact),
	        cmocka_unit_test(a_thousand_changes_of_rate_lose_no_work),
	        cmocka_unit_test(the_slowest_and_the_fastest_link_are_exact),
	        cmocka_unit_test(idle_time_is_not_saved_up_however_long),
	        cmocka_unit_test(a_departure_is_the_horizon_at_the_latest),
	        cmocka_unit_test(times_are_added_up_to_the_horizon),
	        cmocka_unit_test(no_rate_is_no_wait),
	        cmocka_unit_test(a_packet_of_an_impossible_length_is_served_as_the_longest),
	        cmocka_unit_test(to_serve_is_to_tell_the_instant_and_to_depart),
	};

	return cmocka_run_group_tests_name("shaper", tests, NULL, NULL);
}
