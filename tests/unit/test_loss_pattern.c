/* SPDX-License-Identifier: BSD-3-Clause */
/* Periodic patterns of loss. */
#include "trial.h"
#include "runner/group.h"

static void the_named_packets_of_each_period_are_lost(void **state)
{
	static const struct {
		const char *statement;
		uint64_t lost[16];
	} rows[] = {
	        {"loss pattern 3,4,5 of 7", {3, 4, 5, 10, 11, 12, 17, 18, 19, 0}},
	        {"loss pattern 5, 3, 4 of 7", {3, 4, 5, 10, 11, 12, 17, 18, 19, 0}},
	        {"loss pattern 1 of 10", {1, 11, 0}},
	        {"loss pattern 10 of 10", {10, 20, 0}},
	        {"loss pattern 1,3 of 4294967296", {1, 3, 0}},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 1);

		trial_send(trial, 20, 60);
		trial_assert_lost(trial, rows[i].lost);
		trial_close(trial);
		trial_assert_bursts_agree(rows[i].statement, 100, 60);
	}
}

static void a_pattern_of_all_loses_all(void **state)
{
	struct trial *trial = trial_open("loss pattern 1 of 1", 1);

	(void)state;
	trial_send(trial, 100, 60);
	assert_int_equal(trial_count(trial, TRIAL_LOST), 100);
	trial_close(trial);
}

static void a_number_twice_or_beyond_the_length_is_refused(void **state)
{
	(void)state;
	assert_string_equal(trial_problem("loss pattern 3,4,3 of 7"),
	                    "packet 3 is given twice; give it once");
	assert_string_equal(trial_problem("loss pattern 8,1 of 7"),
	                    "there is no packet 8 of 7: the numbers go from 1 to 7");
	assert_string_equal(trial_problem("loss pattern 7,1 of 7"), "");
}

static void a_change_goes_on_where_the_old_pattern_was(void **state)
{
	struct trial *trial = trial_open("loss pattern 10 of 10", 1);
	static const uint64_t lost[] = {6, 8, 14, 16, 0};

	(void)state;
	trial_send(trial, 4, 60);
	trial_set(trial, "loss pattern 2,6,8 of 8");
	trial_send(trial, 5, 60);
	trial_set(trial, "loss pattern 6,8 of 8");
	trial_send(trial, 8, 60);
	trial_assert_lost(trial, lost);
	trial_close(trial);
}

GROUP(loss_pattern)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_named_packets_of_each_period_are_lost),
	        cmocka_unit_test(a_pattern_of_all_loses_all),
	        cmocka_unit_test(a_number_twice_or_beyond_the_length_is_refused),
	        cmocka_unit_test(a_change_goes_on_where_the_old_pattern_was),
	};

	return cmocka_run_group_tests_name("loss-pattern", tests, rig_group_setup,
	                                   rig_group_teardown);
}
