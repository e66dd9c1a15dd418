/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine that takes over the state of another in the middle of traffic continues as that one
 * would have, whatever clouds, links, lines and schedules there are, and whatever was changed
 * before.
 */
#include <stdlib.h>

#include "play.h"

static struct played seen; /* sums over the cases of one test */

static void goes_on(uint64_t seed, uint32_t what)
{
	static struct script script;
	struct played whole, parts;

	property_begin(seed);
	script_make(&script, seed, what);
	whole = script_play(&script, PLAY_BURSTS, 7, seed);
	parts = script_play(&script, PLAY_SNAPSHOTS, 7, seed);
	if (!played_equal(&whole, &parts)) {
		script_print(&script);
		played_print_difference(&whole, &parts);
		fail_msg("seed %lu: another engine goes on in another way", seed);
	}
	seen.taken_over += parts.taken_over;
	seen.held += parts.held;
	played_free(&whole);
	played_free(&parts);
	property_begin(0);
}

static void cases(uint64_t from, uint64_t n, uint32_t what)
{
	seen = (struct played){.n = 0};
	n = property_cases(n);
	for (uint64_t seed = from; seed < from + n; seed++)
		goes_on(seed, what);
	assert_true(seen.taken_over > n);
	assert_true(seen.held > n);
}

static void delays_rates_and_losses_are_taken_over(void **state)
{
	(void)state;
	cases(31000000, 300, SCRIPT_LOSS | SCRIPT_JITTER);
	cases(32000000, 300, SCRIPT_ALL);
}

static void chains_and_several_clouds_from_one_place_are_taken_over(void **state)
{
	(void)state;
	cases(33000000, 300, SCRIPT_CHAINS | SCRIPT_ALL);
	cases(34000000, 300, SCRIPT_CLASSIFIERS | SCRIPT_CHAINS | SCRIPT_ALL);
}

static void links_of_all_kinds_are_taken_over(void **state)
{
	(void)state;
	cases(35000000, 400, SCRIPT_LINKS | SCRIPT_LOSS | SCRIPT_JITTER);
	cases(36000000, 400, SCRIPT_LINKS | SCRIPT_ALL | SCRIPT_CHAINS);
}

static void schedules_are_taken_over(void **state)
{
	(void)state;
	cases(37000000, 300, SCRIPT_TIMES | SCRIPT_ALL);
	cases(38000000, 300, SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_ALL | SCRIPT_CHAINS);
}

static void delays_with_a_limit_are_taken_over(void **state)
{
	(void)state;
	cases(39000000, 300, SCRIPT_LIMITS | SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_ALL);
}

static void clouds_of_templates_are_taken_over(void **state)
{
	(void)state;
	cases(40000000, 300, SCRIPT_TEMPLATES | SCRIPT_ALL | SCRIPT_LIMITS);
	cases(41000000, 300, SCRIPT_TEMPLATES | SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_ALL);
}

static void what_is_keyed_by_flow_is_taken_over(void **state)
{
	(void)state;
	cases(46000000, 200, SCRIPT_KEYED | SCRIPT_ALL | SCRIPT_CHAINS);
	cases(47000000, 200, SCRIPT_KEYED | SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_ALL);
	cases(48000000, 100, SCRIPT_KEYED | SCRIPT_TEMPLATES | SCRIPT_ALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_teardown(delays_rates_and_losses_are_taken_over,
	                                  property_teardown),
	        cmocka_unit_test_teardown(chains_and_several_clouds_from_one_place_are_taken_over,
	                                  property_teardown),
	        cmocka_unit_test_teardown(links_of_all_kinds_are_taken_over, property_teardown),
	        cmocka_unit_test_teardown(schedules_are_taken_over, property_teardown),
	        cmocka_unit_test_teardown(delays_with_a_limit_are_taken_over, property_teardown),
	        cmocka_unit_test_teardown(clouds_of_templates_are_taken_over, property_teardown),
	        cmocka_unit_test_teardown(what_is_keyed_by_flow_is_taken_over, property_teardown),
	};

	return cmocka_run_group_tests_name("snapshots", tests, rig_group_setup, rig_group_teardown);
}
