/* SPDX-License-Identifier: BSD-3-Clause */
/* Losses in bursts; their statistics are in tests/statistics. */
#include "trial.h"
#include "runner/group.h"

static void nought_loses_nothing_and_one_hundred_percent_everything(void **state)
{
	static const struct {
		const char *statement;
		uint64_t lost;
	} rows[] = {
	        {"loss burst 0% length 2..16", 0},
	        {"loss burst 100% length 1", 1000},
	        {"loss burst 100% length 2..16", 1000},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 1);

		trial_send(trial, 1000, 60);
		assert_int_equal(trial_count(trial, TRIAL_LOST), rows[i].lost);
		trial_close(trial);
	}
}

/* At 0.1 %, no two bursts of this seed touch, so each run is one burst. */
static void every_run_is_as_long_as_it_was_asked_for(void **state)
{
	struct trial *trial = trial_open("loss burst 0.1% length 5..9", 4);
	uint32_t run = 0, runs = 0;

	(void)state;
	trial_send(trial, 50000, 60);
	for (uint64_t i = 1; i <= 49000; i++) {
		if (trial->fate[i] & TRIAL_LOST) {
			run++;
		} else if (run > 0) {
			assert_in_range(run, 5, 9);
			runs++;
			run = 0;
		}
	}
	assert_in_range(runs, 20, 80);
	trial_close(trial);
}

static void the_size_of_bursts_handed_over_does_not_matter(void **state)
{
	(void)state;
	trial_assert_bursts_agree("loss burst 2% length 2..40", 3000, 60);
}

static void a_change_lets_the_present_burst_go_on_within_the_new_length(void **state)
{
	struct trial *trial = trial_open("loss burst 100% length 1000", 1);

	(void)state;
	trial_send(trial, 10, 60);
	trial_set(trial, "loss burst 1e-15 length 1..20");
	trial_send(trial, 100, 60);
	assert_int_equal(trial_count(trial, TRIAL_LOST), 30);
	trial_set(trial, "loss burst 0% length 1..20");
	trial_send(trial, 100, 60);
	assert_int_equal(trial_count(trial, TRIAL_LOST), 30);
	trial_close(trial);
}

GROUP(loss_burst)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(nought_loses_nothing_and_one_hundred_percent_everything),
	        cmocka_unit_test(every_run_is_as_long_as_it_was_asked_for),
	        cmocka_unit_test(the_size_of_bursts_handed_over_does_not_matter),
	        cmocka_unit_test(a_change_lets_the_present_burst_go_on_within_the_new_length),
	};

	return cmocka_run_group_tests_name("loss-burst", tests, rig_group_setup,
	                                   rig_group_teardown);
}
