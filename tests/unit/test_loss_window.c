/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of time in which everything is lost. */
#include "trial.h"
#include "runner/group.h"

static void a_window_is_closed_at_its_beginning_and_open_at_its_end(void **state)
{
	static const struct {
		const char *statement;
		uint64_t lost[16];
	} rows[] = {
	        /* packet i arrives at i - 1 us */
	        {"loss window from 3us for 2us", {4, 5, 0}},
	        {"loss window from 0s for 1ns", {1, 0}},
	        {"loss window from 2001ns for 999ns", {0}},
	        {"loss window from 2001ns for 1000ns", {4, 0}},
	        {"loss window from 1us for 1us every 5us", {2, 7, 12, 17, 0}},
	        {"loss window from 18us for 1s every 2s", {19, 20, 0}},
	        {"loss window from 20us for 1s", {0}},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 1);

		trial_send(trial, 20, 60);
		trial_assert_lost(trial, rows[i].lost);
		trial_close(trial);
		trial_assert_bursts_agree(rows[i].statement, 50, 60);
	}
}

static void a_window_as_long_as_its_period_loses_all(void **state)
{
	struct trial *trial = trial_open("loss window from 0ms for 1ms every 1ms", 1);

	(void)state;
	trial_send(trial, 5000, 60);
	assert_int_equal(trial_count(trial, TRIAL_LOST), 5000);
	trial_close(trial);
}

/* Beyond 2.1 s, 4.3 s and 60 s, where 32 bits of ns or of us overflow. */
static void long_windows_are_exact(void **state)
{
	struct trial *trial = trial_open("loss window from 100s for 70s every 500s", 1);

	(void)state;
	trial->gap_ns = SIMTIME_S;
	trial_send(trial, 1200, 60);
	for (uint64_t i = 0; i < 1200; i++) {
		bool lost = i >= 100 && (i - 100) % 500 < 70;

		assert_int_equal(trial->fate[i + 1], lost ? TRIAL_LOST : TRIAL_DELIVERED);
	}
	trial_close(trial);
}

/* As in a replay, whose instants come from the capture. */
static void time_counts_from_the_beginning_of_the_run(void **state)
{
	const simtime epoch = UINT64_C(1700000000) * SIMTIME_S;
	struct trial *trial = trial_open_at("loss window from 2us for 2us", 1, epoch);
	static const uint64_t lost[] = {3, 4, 0};

	(void)state;
	trial_send(trial, 10, 60);
	trial_assert_lost(trial, lost);
	/* A window that is set later counts from the same beginning. */
	trial_set(trial, "loss window from 12us for 1us");
	trial_send(trial, 10, 60);
	assert_int_equal(trial->fate[13], TRIAL_LOST);
	assert_int_equal(trial_count(trial, TRIAL_LOST), 3);
	trial_close(trial);
}

static void a_period_shorter_than_the_window_is_refused(void **state)
{
	(void)state;
	assert_string_equal(trial_problem("loss window from 1s for 2s every 1s"),
	                    "the next window would begin before this one ends: `every` must be at "
	                    "least as long as `for`");
}

GROUP(loss_window)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_window_is_closed_at_its_beginning_and_open_at_its_end),
	        cmocka_unit_test(a_window_as_long_as_its_period_loses_all),
	        cmocka_unit_test(long_windows_are_exact),
	        cmocka_unit_test(time_counts_from_the_beginning_of_the_run),
	        cmocka_unit_test(a_period_shorter_than_the_window_is_refused),
	};

	return cmocka_run_group_tests_name("loss-window", tests, rig_group_setup,
	                                   rig_group_teardown);
}
