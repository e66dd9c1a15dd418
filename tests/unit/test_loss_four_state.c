/* SPDX-License-Identifier: BSD-3-Clause */
/* The four-state chain at its edges; its statistics are in tests/statistics. */
#include "trial.h"
#include "runner/group.h"

static void probabilities_of_nought_and_one_hundred_percent_are_exact(void **state)
{
	static const struct {
		const char *statement;
		uint64_t lost;
	} rows[] = {
	        {"loss four-state p13 0% p31 0%", 0},
	        {"loss four-state p13 0% p31 100% p23 0%", 0},
	        {"loss four-state p13 100% p31 0%", 1200},
	        {"loss four-state p13 100% p31 100%", 600},
	        {"loss four-state p13 0% p31 0% p14 100%", 600},
	        {"loss four-state p13 100% p31 0% p32 100%", 600},
	        {"loss four-state p13 100% p31 0% p32 100% p23 0%", 1},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 1);

		trial_send(trial, 1200, 60);
		assert_int_equal(trial_count(trial, TRIAL_LOST), rows[i].lost);
		trial_close(trial);
	}
}

/* If p13 + p14 = 1, state 1 is left at every packet, so no two in a row are received there. If p31
 * + p32 = 1, no two in a row are lost in state 3. In binary, most of these sums are not exactly
 * 1. */
static void probabilities_that_sum_to_one_leave_no_gap(void **state)
{
	static const char *const rows[] = {
	        "loss four-state p13 30% p14 70% p31 100%",
	        "loss four-state p13 10% p14 90% p31 100%",
	        "loss four-state p13 33.3% p14 66.7% p31 100%",
	        "loss four-state p13 1e-15 p14 99.9999999999999% p31 100%",
	        "loss four-state p13 100% p14 0% p31 100%",
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i], i);

		trial_send(trial, 20000, 60);
		for (uint64_t n = 1; n <= trial->sent; n++)
			assert_int_equal(trial->fate[n], n & 1 ? TRIAL_LOST : TRIAL_DELIVERED);
		trial_close(trial);
	}
}

static void what_leaves_a_state_with_more_than_certainty_is_refused(void **state)
{
	(void)state;
	assert_string_equal(trial_problem("loss four-state p13 60% p31 1% p14 41%"),
	                    "p13 and p14 are more than 100% together: both leave state 1");
	assert_string_equal(trial_problem("loss four-state p13 1% p31 60% p32 41%"),
	                    "p31 and p32 are more than 100% together: both leave state 3");
	assert_string_equal(trial_problem("loss four-state p13 70% p31 10% p32 90% p14 30%"), "");
}

static void the_size_of_bursts_does_not_matter(void **state)
{
	(void)state;
	trial_assert_bursts_agree("loss four-state p13 5% p31 30% p32 20% p23 60% p14 1%", 3000,
	                          60);
}

static void a_change_keeps_the_state_of_the_chain(void **state)
{
	struct trial *trial = trial_open("loss four-state p13 100% p31 0%", 1);

	(void)state;
	trial_send(trial, 10, 60);
	trial_set(trial, "loss four-state p13 0% p31 0%");
	trial_send(trial, 10, 60);
	assert_int_equal(trial_count(trial, TRIAL_LOST), 20);
	trial_close(trial);
}

GROUP(loss_four_state)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(probabilities_of_nought_and_one_hundred_percent_are_exact),
	        cmocka_unit_test(probabilities_that_sum_to_one_leave_no_gap),
	        cmocka_unit_test(what_leaves_a_state_with_more_than_certainty_is_refused),
	        cmocka_unit_test(the_size_of_bursts_does_not_matter),
	        cmocka_unit_test(a_change_keeps_the_state_of_the_chain),
	};

	return cmocka_run_group_tests_name("loss-four-state", tests, rig_group_setup,
	                                   rig_group_teardown);
}
