/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What leaves is a function of what came in, the scenario and the seed: it does not depend on
 * bursts, nor on when the engine is advanced. The rig asserts throughout conservation, and that
 * nothing leaks.
 */
#include <stdlib.h>

#include "play.h"

static struct played seen; /* sums over the cases of one test */

static void same_in_every_way(uint64_t seed, uint32_t what)
{
	static const struct {
		enum play_way way;
		uint32_t burst;
	} ways[] = {
	        {PLAY_BURSTS, 1}, {PLAY_BURSTS, 7}, {PLAY_BURSTS, 32},
	        {PLAY_LAZY, 32},  {PLAY_LAZY, 1},   {PLAY_LIVE, 0},
	};
	static struct script script;
	struct played first;

	property_begin(seed);
	script_make(&script, seed, what);
	first = script_play(&script, ways[0].way, ways[0].burst, seed);
	for (size_t i = 1; i < LENGTH(ways); i++) {
		struct played other = script_play(&script, ways[i].way, ways[i].burst, seed);

		if (!played_equal(&first, &other)) {
			script_print(&script);
			played_print_difference(&first, &other);
			fail_msg("seed %lu: way %zu differs from the first", seed, i);
		}
		played_free(&other);
	}
	seen.limited += first.limited;
	seen.without_cloud += first.without_cloud;
	seen.of_templates += first.of_templates;
	played_free(&first);
	property_begin(0);
}

static void cases(uint64_t from, uint64_t n, uint32_t what)
{
	n = property_cases(n);
	for (uint64_t seed = from; seed < from + n; seed++)
		same_in_every_way(seed, what);
}

static void clouds_that_are_alone_do_not_feel_how_they_are_driven(void **state)
{
	(void)state;
	cases(1000000, 800, SCRIPT_LOSS | SCRIPT_JITTER);
}

static void clouds_that_share_a_port_do_not_feel_how_they_are_driven(void **state)
{
	(void)state;
	cases(2000000, 800, SCRIPT_SHARED | SCRIPT_LOSS | SCRIPT_JITTER);
}

static void changes_act_at_their_instant_however_clouds_are_driven(void **state)
{
	(void)state;
	cases(3000000, 800, SCRIPT_CHANGES | SCRIPT_LOSS | SCRIPT_JITTER);
}

static void changes_of_clouds_that_share_a_port_act_at_their_instant(void **state)
{
	(void)state;
	cases(4000000, 800, SCRIPT_ALL);
}

static void clouds_behind_clouds_do_not_feel_how_they_are_driven(void **state)
{
	(void)state;
	cases(8000000, 400, SCRIPT_CHAINS | SCRIPT_SHARED | SCRIPT_LOSS | SCRIPT_JITTER);
}

static void changes_of_chains_act_at_their_instant(void **state)
{
	(void)state;
	cases(9000000, 400, SCRIPT_ALL | SCRIPT_CHAINS);
}

static void clouds_from_one_place_do_not_feel_how_they_are_driven(void **state)
{
	(void)state;
	cases(11000000, 400, SCRIPT_CLASSIFIERS | SCRIPT_SHARED | SCRIPT_LOSS | SCRIPT_JITTER);
	cases(12000000, 400, SCRIPT_CLASSIFIERS | SCRIPT_CHAINS | SCRIPT_ALL);
}

/* Overhead, queues that drop their head, slots, classes and their schedulers, marks; and changes
 * between all of these. */
static void links_do_not_feel_how_they_are_driven(void **state)
{
	(void)state;
	cases(13000000, 400, SCRIPT_LINKS | SCRIPT_LOSS | SCRIPT_JITTER);
	cases(14000000, 400, SCRIPT_LINKS | SCRIPT_ALL | SCRIPT_CHAINS);
}

static void schedules_act_at_their_instants_however_clouds_are_driven(void **state)
{
	(void)state;
	cases(15000000, 300, SCRIPT_TIMES | SCRIPT_LOSS | SCRIPT_JITTER);
	cases(16000000, 300, SCRIPT_TIMES | SCRIPT_ALL);
	cases(17000000, 200, SCRIPT_TIMES | SCRIPT_ALL | SCRIPT_CHAINS | SCRIPT_CLASSIFIERS);
}

/* Includes schedules of what links have besides a rate. */
static void schedules_of_all_kinds_of_links_do_not_feel_how_they_are_driven(void **state)
{
	(void)state;
	cases(18000000, 400, SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_LOSS);
	cases(19000000, 300, SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_ALL | SCRIPT_CHAINS);
}

/* Delays with a limit, with queues, schedules and losses besides, and on shared ports. */
static void delays_with_a_limit_do_not_feel_how_they_are_driven(void **state)
{
	(void)state;
	seen = (struct played){.n = 0};
	cases(20000000, 400, SCRIPT_LIMITS | SCRIPT_LOSS | SCRIPT_JITTER);
	cases(21000000, 400, SCRIPT_LIMITS | SCRIPT_ALL | SCRIPT_CHAINS);
	cases(22000000, 200, SCRIPT_LIMITS | SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_ALL);
	assert_true(seen.limited > 0);
}

/* One cloud for each address or flow; some templates have fewer clouds than there are of these. */
static void templates_do_not_feel_how_they_are_driven(void **state)
{
	(void)state;
	seen = (struct played){.n = 0};
	cases(23000000, 300, SCRIPT_TEMPLATES | SCRIPT_LOSS | SCRIPT_JITTER);
	cases(24000000, 300, SCRIPT_TEMPLATES | SCRIPT_ALL | SCRIPT_LIMITS);
	cases(25000000, 200, SCRIPT_TEMPLATES | SCRIPT_ALL | SCRIPT_CHAINS | SCRIPT_CLASSIFIERS);
	cases(28000000, 200, SCRIPT_TEMPLATES | SCRIPT_ALL | SCRIPT_LINKS);
	cases(27000000, 200, SCRIPT_TEMPLATES | SCRIPT_TIMES | SCRIPT_SHARED | SCRIPT_JITTER);
	cases(26000000, 200, SCRIPT_TEMPLATES | SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_ALL);
	assert_true(seen.limited > 0 && seen.without_cloud > 0 && seen.of_templates > 0);
}

static void what_is_keyed_by_flow_does_not_feel_how_clouds_are_driven(void **state)
{
	(void)state;
	cases(42000000, 200, SCRIPT_KEYED | SCRIPT_LOSS | SCRIPT_JITTER);
	cases(43000000, 200, SCRIPT_KEYED | SCRIPT_ALL | SCRIPT_CHAINS | SCRIPT_CLASSIFIERS);
	cases(44000000, 200, SCRIPT_KEYED | SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_ALL);
	cases(45000000, 100, SCRIPT_KEYED | SCRIPT_TEMPLATES | SCRIPT_LIMITS | SCRIPT_ALL);
}

static void the_same_seed_gives_the_same_and_another_seed_another(void **state)
{
	static struct script script;
	uint32_t different = 0, n = (uint32_t)property_cases(200);

	(void)state;
	for (uint64_t seed = 5000000; seed < 5000000 + n; seed++) {
		struct played a, b, c;

		property_begin(seed);
		script_make(&script, seed, SCRIPT_ALL);
		a = script_play(&script, PLAY_BURSTS, 32, 1);
		b = script_play(&script, PLAY_BURSTS, 32, 1);
		c = script_play(&script, PLAY_BURSTS, 32, 2);
		assert_true(played_equal(&a, &b));
		different += !played_equal(&a, &c);
		played_free(&a);
		played_free(&b);
		played_free(&c);
	}
	property_begin(0);
	/* Some scripts are deterministic, or have too few packets to show a difference. */
	assert_true(different > n / 2);
}

static void order_keep_is_first_in_first_out_in_every_cloud(void **state)
{
	static struct script script;
	uint64_t n = property_cases(500);

	(void)state;
	for (uint64_t seed = 6000000; seed < 6000000 + n; seed++) {
		uint64_t last[SCRIPT_CLOUDS][2] = {{0}};
		struct played played;

		property_begin(seed);
		/* Ends before a removal: a cloud of the same name that is added again is another
		 * cloud. */
		script_make(&script, seed, SCRIPT_ALL | SCRIPT_KEEP);
		for (uint32_t i = 0; i < script.n_steps; i++) {
			if (script.steps[i].kind == STEP_REMOVE)
				script.n_steps = i;
		}
		played = script_play(&script, PLAY_LIVE, 0, seed);
		for (uint32_t i = 0; i < played.n; i++) {
			const struct departure *departure = &played.departures[i];
			uint64_t *before;

			if (departure->number == 0 || departure->frame_bytes < 8)
				continue;
			before = &last[script.packets[departure->number - 1].port]
			              [departure->port & 1];
			assert_true(departure->number > *before);
			*before = departure->number;
		}
		played_free(&played);
	}
	property_begin(0);
}

static void what_is_due_first_leaves_first_at_every_port(void **state)
{
	static struct script script;
	uint64_t n = property_cases(500);

	(void)state;
	for (uint64_t seed = 7000000; seed < 7000000 + n; seed++) {
		simtime last[RIG_PORTS] = {0};
		struct played played;

		property_begin(seed);
		script_make(&script, seed, SCRIPT_ALL | (seed & 1 ? SCRIPT_CHAINS : 0));
		played = script_play(&script, PLAY_LAZY, 32, seed);
		for (uint32_t i = 0; i < played.n; i++) {
			assert_true(played.departures[i].due_ns >= last[played.departures[i].port]);
			last[played.departures[i].port] = played.departures[i].due_ns;
		}
		played_free(&played);
	}
	property_begin(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_teardown(clouds_that_are_alone_do_not_feel_how_they_are_driven,
	                                  property_teardown),
	        cmocka_unit_test_teardown(clouds_that_share_a_port_do_not_feel_how_they_are_driven,
	                                  property_teardown),
	        cmocka_unit_test_teardown(changes_act_at_their_instant_however_clouds_are_driven,
	                                  property_teardown),
	        cmocka_unit_test_teardown(changes_of_clouds_that_share_a_port_act_at_their_instant,
	                                  property_teardown),
	        cmocka_unit_test_teardown(clouds_behind_clouds_do_not_feel_how_they_are_driven,
	                                  property_teardown),
	        cmocka_unit_test_teardown(changes_of_chains_act_at_their_instant,
	                                  property_teardown),
	        cmocka_unit_test_teardown(clouds_from_one_place_do_not_feel_how_they_are_driven,
	                                  property_teardown),
	        cmocka_unit_test_teardown(links_do_not_feel_how_they_are_driven, property_teardown),
	        cmocka_unit_test_teardown(schedules_act_at_their_instants_however_clouds_are_driven,
	                                  property_teardown),
	        cmocka_unit_test_teardown(
	                schedules_of_all_kinds_of_links_do_not_feel_how_they_are_driven,
	                property_teardown),
	        cmocka_unit_test_teardown(delays_with_a_limit_do_not_feel_how_they_are_driven,
	                                  property_teardown),
	        cmocka_unit_test_teardown(templates_do_not_feel_how_they_are_driven,
	                                  property_teardown),
	        cmocka_unit_test_teardown(what_is_keyed_by_flow_does_not_feel_how_clouds_are_driven,
	                                  property_teardown),
	        cmocka_unit_test_teardown(the_same_seed_gives_the_same_and_another_seed_another,
	                                  property_teardown),
	        cmocka_unit_test_teardown(order_keep_is_first_in_first_out_in_every_cloud,
	                                  property_teardown),
	        cmocka_unit_test_teardown(what_is_due_first_leaves_first_at_every_port,
	                                  property_teardown),
	};

	return cmocka_run_group_tests_name("drives", tests, rig_group_setup, rig_group_teardown);
}
