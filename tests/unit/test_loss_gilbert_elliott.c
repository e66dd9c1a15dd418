/* SPDX-License-Identifier: BSD-3-Clause */
/* The two-state channel at its edges; its statistics are in tests/statistics. */
#include "trial.h"
#include "runner/group.h"

static void probabilities_of_nought_and_one_hundred_percent_are_exact(void **state)
{
	static const struct {
		const char *statement;
		uint64_t lost;
	} rows[] = {
	        {"loss gilbert-elliott p 0% r 0%", 0},
	        {"loss gilbert-elliott p 0% r 100%", 0},
	        {"loss gilbert-elliott p 100% r 0%", 1000},
	        {"loss gilbert-elliott p 100% r 100%", 500},
	        {"loss gilbert-elliott p 0% r 0% good 100%", 1000},
	        {"loss gilbert-elliott p 50% r 50% bad 0%", 0},
	        {"loss gilbert-elliott p 50% r 50% bad 100% good 100%", 1000},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 1);

		trial_send(trial, 1000, 60);
		assert_int_equal(trial_count(trial, TRIAL_LOST), rows[i].lost);
		trial_close(trial);
	}
}

static void a_channel_that_always_changes_loses_every_other_packet(void **state)
{
	struct trial *trial = trial_open("loss gilbert-elliott r 100% p 100%", 1);
	static const uint64_t lost[] = {1, 3, 5, 7, 9, 0};

	(void)state;
	trial_send(trial, 10, 60);
	trial_assert_lost(trial, lost);
	trial_close(trial);
}

static void the_size_of_bursts_does_not_matter(void **state)
{
	(void)state;
	trial_assert_bursts_agree("loss gilbert-elliott p 5% r 20% bad 70% good 1%", 3000, 60);
}

static void a_change_keeps_the_state_of_the_channel(void **state)
{
	struct trial *trial = trial_open("loss gilbert-elliott p 100% r 0%", 1);

	(void)state;
	trial_send(trial, 10, 60);
	trial_set(trial, "loss gilbert-elliott p 0% r 0%");
	trial_send(trial, 10, 60);
	assert_int_equal(trial_count(trial, TRIAL_LOST), 20);
	trial_close(trial);
}

GROUP(loss_gilbert_elliott)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(probabilities_of_nought_and_one_hundred_percent_are_exact),
	        cmocka_unit_test(a_channel_that_always_changes_loses_every_other_packet),
	        cmocka_unit_test(the_size_of_bursts_does_not_matter),
	        cmocka_unit_test(a_change_keeps_the_state_of_the_channel),
	};

	return cmocka_run_group_tests_name("loss-gilbert-elliott", tests, rig_group_setup,
	                                   rig_group_teardown);
}
