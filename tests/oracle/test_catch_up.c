/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State that is updated at fixed times catches up on missed updates at the next event, in one step
 * where the updates are alike. The result must be that of one call for each update, and the time
 * taken must not grow with the time missed.
 */
#include "rig.h"
#include "runner/group.h"

#include <string.h>

#include "aqm/pie.h"
#include "schedule_rig.h"

#define CASES 300
#define YEAR  (31536000 * SIMTIME_S)

static struct draw_key key;
static uint64_t rolled;

static uint64_t roll(uint64_t below)
{
	return draw_index(draw_u64(key, rolled++, 0), below);
}

/* Returns a number of any order of magnitude, including 0. */
static uint64_t roll_magnitude(uint32_t bits)
{
	return roll(UINT64_C(1) << roll(bits + 1));
}

static struct pie_rule roll_pie(void)
{
	return (struct pie_rule){
	        .target_ns = SIMTIME_US + roll_magnitude(33),
	        .tupdate_ns = 100 * SIMTIME_US + roll_magnitude(30),
	        .alpha = roll_magnitude(34),
	        .beta = roll_magnitude(34),
	        .max_burst_ns = roll_magnitude(33),
	        .cap = roll(2),
	        .decay_half = roll(2),
	        .mean_bytes = 1000,
	};
}

static void pie_comes_to_the_same_update_by_update(void **state)
{
	(void)state;
	key = draw_key_make(1, "catch-up", "pie");
	for (int i = 0; i < CASES; i++) {
		struct pie_rule rule = roll_pie();
		struct pie at_once, each;
		simtime now = 0;

		memset(&at_once, 0, sizeof(at_once));
		pie_advance(&at_once, &rule, 0);
		at_once.probability = roll_magnitude(63);
		each = at_once;
		for (int jump = 0; jump < 8; jump++) {
			simtime later = now + roll(4000) * rule.tupdate_ns + roll_magnitude(20);

			while (each.update <= later)
				pie_advance(&each, &rule, each.update);
			pie_advance(&at_once, &rule, later);
			now = later;
			assert_memory_equal(&at_once, &each, sizeof(each));
			at_once.delay_ns = each.delay_ns = roll(3) ? roll_magnitude(34) : 0;
		}
	}
}

static void pi2_comes_to_the_same_update_by_update(void **state)
{
	(void)state;
	key = draw_key_make(1, "catch-up", "pi2");
	for (int i = 0; i < CASES; i++) {
		struct pi2_rule rule = {
		        .target_ns = SIMTIME_US + roll_magnitude(33),
		        .tupdate_ns = 100 * SIMTIME_US + roll_magnitude(30),
		        .alpha = roll(4) ? roll_magnitude(34) : 0,
		        .beta = roll(4) ? roll_magnitude(34) : 0,
		        .coupling = 2 * FACTOR_ONE,
		};
		struct pi2 at_once, each;
		simtime now = 0;

		memset(&at_once, 0, sizeof(at_once));
		pi2_advance(&at_once, &rule, SIMTIME_NEVER, 0);
		each = at_once;
		for (int jump = 0; jump < 8; jump++) {
			simtime later = now + roll(4000) * rule.tupdate_ns + roll_magnitude(20);
			simtime first = roll(3) ? now - roll(now + 1) : SIMTIME_NEVER;

			while (each.update <= later)
				pi2_advance(&each, &rule, first, each.update);
			pi2_advance(&at_once, &rule, first, later);
			now = later;
			assert_memory_equal(&at_once, &each, sizeof(each));
		}
	}
}

/* 250 years of updates every 100 us are 8e13 updates: one by one they would take days for each of
 * these rules. */
static void controllers_take_no_longer_for_a_longer_time(void **state)
{
	(void)state;
	key = draw_key_make(2, "catch-up", "years");
	for (int i = 0; i < 100; i++) {
		struct pie_rule rule = roll_pie();
		struct pi2_rule pi2_rule = {.target_ns = rule.target_ns,
		                            .tupdate_ns = rule.tupdate_ns,
		                            .alpha = i % 2 ? rule.alpha : 0,
		                            .beta = i % 4 / 2 ? rule.beta : 0,
		                            .coupling = FACTOR_ONE};
		struct pie pie;
		struct pi2 pi2;

		memset(&pie, 0, sizeof(pie));
		memset(&pi2, 0, sizeof(pi2));
		pie_advance(&pie, &rule, 0);
		pie.probability = roll_magnitude(63);
		pie.delay_ns = roll(3) ? roll_magnitude(34) : 0;
		pie_advance(&pie, &rule, 250 * YEAR);
		pi2_advance(&pi2, &pi2_rule, 0, 0);
		pi2_advance(&pi2, &pi2_rule, i % 3 ? 0 : SIMTIME_NEVER, 250 * YEAR);
		assert_true(pie.update > 250 * YEAR && pi2.update > 250 * YEAR);
	}
}

/* A packet, and another 100 years later: each with a schedule, a meter or a controller that would
 * have had updates in between. */
static void a_century_without_packets_is_passed_over(void **state)
{
	static const char *const clouds[] = {
	        "every 1ms for 1us delay 1ms",
	        "flap down 1us every 2us",
	        "wave delay 1ms..2ms period 1ms",
	        "wave loss 0%..1% period 1ms; wave rate 1mbit..2mbit period 1ms",
	        "markov good 1ms then bad 1ms delay 1ms",
	        "meter window 1us",
	        "rate 1mbit queue 100kB; red min 10kB max 20kB weight 1e-10; ecn on",
	        "rate 1mbit queue 100kB; codel target 1us interval 10us",
	        "rate 1mbit queue 100kB; fq-codel target 1us interval 10us",
	        "rate 1mbit queue 100kB; pie tupdate 100us",
	        "rate 1mbit queue 100kB; dualpi2 tupdate 100us",
	        "rate 1mbit algorithm token-bucket burst 15kB queue 100kB",
	        ("rate 1bit algorithm token-bucket burst 15kB queue 100kB; every 1us for 500ns "
	         "delay 1us"),
	        "rate 1mbit queue 100kB; slots min 1us max 2us packets 1",
	        "police 1mbit burst 15kB",
	        "delay 1ms jitter 1ms order allow",
	        "delay 1ms limit 10pkt",
	        "delay 1ms; reorder every 2 wait 1ms",
	        "rate 1mbit queue 100kB; xcp",
	};
	static const struct arrival arrivals[] = {
	        {0, 1000}, {1, 1000}, {100 * YEAR, 1000}, {100 * YEAR + 5, 1000}};

	(void)state;
	for (size_t i = 0; i < LENGTH(clouds); i++) {
		simtime due[LENGTH(arrivals)];

		schedule_play_once(clouds[i], arrivals, LENGTH(arrivals), due);
	}
}

/* The path, of two states of 1 and 3 ms, is in the first for a quarter of the time. It is sampled
 * 100 times, a quarter of a year apart, with 4 10^9 stays in between: the standard error is 4.3,
 * the bound 4.6 of them. */
static void after_a_long_time_a_markov_path_is_where_it_is_for_its_share(void **state)
{
	enum { TIMES = 100 };
	static struct arrival arrivals[TIMES];
	static simtime due[TIMES];
	uint32_t lost = 0;

	(void)state;
	for (uint32_t i = 0; i < TIMES; i++)
		arrivals[i] = (struct arrival){(i + 1) * YEAR / 4, 1000};
	schedule_play_once("markov bad 1ms loss random 100% then good 3ms", arrivals, TIMES, due);
	for (uint32_t i = 0; i < TIMES; i++)
		lost += due[i] == SIMTIME_NEVER;
	assert_in_range(lost, TIMES / 4 - 20, TIMES / 4 + 20);
}

GROUP(catch_up)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(pie_comes_to_the_same_update_by_update),
	        cmocka_unit_test(pi2_comes_to_the_same_update_by_update),
	        cmocka_unit_test(controllers_take_no_longer_for_a_longer_time),
	        cmocka_unit_test(a_century_without_packets_is_passed_over),
	        cmocka_unit_test(after_a_long_time_a_markov_path_is_where_it_is_for_its_share),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
