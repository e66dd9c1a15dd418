/* SPDX-License-Identifier: BSD-3-Clause */
/* Random loss at its edges; its statistics are in tests/statistics. */
#include "trial.h"
#include "runner/group.h"

#include "random/chance.h"

static void nothing_is_lost_at_nought_and_everything_at_one_hundred_percent(void **state)
{
	static const struct {
		const char *statement;
		uint64_t lost;
	} rows[] = {
	        {"loss random 0%", 0},
	        {"loss random 0", 0},
	        {"loss random 100%", 1000},
	        {"loss random 0% correlation 100%", 0},
	        {"loss random 100% correlation 0%", 1000},
	        {"loss random 100% correlation 100%", 1000},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 1);

		trial_send(trial, 1000, 60);
		assert_int_equal(trial_count(trial, TRIAL_LOST), rows[i].lost);
		assert_int_equal(trial_count(trial, TRIAL_DELIVERED), 1000 - rows[i].lost);
		assert_int_equal(trial_counters(trial)->drops[REASON_LOSS], rows[i].lost);
		trial_close(trial);
	}
}

static void full_correlation_lets_the_first_packet_decide_for_all(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct trial *trial = trial_open("loss random 50% correlation 100%", seed);
		uint64_t lost;

		trial_send(trial, 100, 60);
		lost = trial_count(trial, TRIAL_LOST);
		assert_true(lost == 0 || lost == 100);
		trial_close(trial);
	}
}

static void the_size_of_bursts_does_not_matter(void **state)
{
	(void)state;
	trial_assert_bursts_agree("loss random 10%", 2000, 60);
	trial_assert_bursts_agree("loss random 10% correlation 60%", 2000, 60);
}

static void a_change_goes_on_with_the_draws_and_the_last_loss(void **state)
{
	struct trial *changed = trial_open("loss random 20% correlation 90%", 5);
	struct trial *steady = trial_open("loss random 20% correlation 90%", 5);

	(void)state;
	trial_send(changed, 500, 60);
	trial_set(changed, "loss random 30% correlation 80%");
	trial_set(changed, "loss random 20% correlation 90%");
	trial_send(changed, 500, 60);
	trial_send(steady, 1000, 60);
	assert_memory_equal(changed->fate, steady->fate, 1001);
	trial_close(changed);
	trial_close(steady);
}

static void a_change_to_nought_and_to_all_acts_at_once(void **state)
{
	struct trial *trial = trial_open("loss random 50% correlation 99%", 3);

	(void)state;
	trial_send(trial, 100, 60);
	trial_set(trial, "loss random 0% correlation 99%");
	trial_send(trial, 100, 60);
	trial_set(trial, "loss random 100% correlation 99%");
	trial_send(trial, 100, 60);
	for (uint64_t i = 101; i <= 200; i++)
		assert_int_equal(trial->fate[i], TRIAL_DELIVERED);
	for (uint64_t i = 201; i <= 300; i++)
		assert_int_equal(trial->fate[i], TRIAL_LOST);
	trial_close(trial);
}

static void chances_of_a_burst_are_those_of_its_packets(void **state)
{
	static const probability_q63 ps[] = {0,
	                                     1,
	                                     PROBABILITY_ONE / 100,
	                                     PROBABILITY_ONE / 2,
	                                     PROBABILITY_ONE - 1,
	                                     PROBABILITY_ONE};
	const struct draw_key key = draw_key_make(3, "chances", "");

	(void)state;
	for (uint32_t i = 0; i < LENGTH(ps) * 3 * 2; i++) {
		probability_q63 correlation = i / LENGTH(ps) % 3 * (PROBABILITY_ONE / 3);
		struct chance one = chance_make(ps[i % LENGTH(ps)], correlation, i % 2);
		struct chance burst = one;

		for (uint32_t n = 0; n <= 64; n++) {
			uint64_t draw[64], which = 0;

			draw_burst(key, 64 * n, i, n, draw);
			if (n > 3) {
				/* Around the threshold, and at both ends. */
				draw[0] = 2 * ps[i % LENGTH(ps)];
				draw[1] = 2 * ps[i % LENGTH(ps)] - 1;
				draw[2] = UINT64_MAX;
				draw[3] = 0;
			}
			for (uint32_t k = 0; k < n; k++)
				which |= (uint64_t)chance_next(&one, draw[k]) << k;
			assert_int_equal(chance_next_burst(&burst, draw, n), which);
			assert_int_equal(burst.correlated.before, one.correlated.before);
			assert_int_equal(burst.netem.recurrence.last, one.netem.recurrence.last);
		}
	}
}

GROUP(loss_random)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(nothing_is_lost_at_nought_and_everything_at_one_hundred_percent),
	        cmocka_unit_test(full_correlation_lets_the_first_packet_decide_for_all),
	        cmocka_unit_test(the_size_of_bursts_does_not_matter),
	        cmocka_unit_test(chances_of_a_burst_are_those_of_its_packets),
	        cmocka_unit_test(a_change_goes_on_with_the_draws_and_the_last_loss),
	        cmocka_unit_test(a_change_to_nought_and_to_all_acts_at_once),
	};

	return cmocka_run_group_tests_name("loss-random", tests, rig_group_setup,
	                                   rig_group_teardown);
}
