/* SPDX-License-Identifier: BSD-3-Clause */
/* A policer: exactly the tokens of the bucket pass. */
#include "trial.h"
#include "runner/group.h"

#include <string.h>

static void a_full_bucket_lets_its_burst_pass_and_no_more(void **state)
{
	static const struct {
		const char *statement;
		uint32_t bytes;
		uint64_t passed; /* of 100 at one instant */
	} rows[] = {
	        {"police 1mbit burst 1000B", 100, 10}, {"police 1mbit burst 1099B", 100, 10},
	        {"police 1mbit burst 1100B", 100, 11}, {"police 1mbit burst 99B", 100, 0},
	        {"police 1mbit burst 100B", 100, 1},   {"police 400gbit burst 1000MB", 9000, 100},
	        {"police 1bit burst 1B", 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 1);

		trial->gap_ns = 0;
		trial_send(trial, 100, rows[i].bytes);
		assert_int_equal(trial_count(trial, TRIAL_DELIVERED), rows[i].passed);
		assert_int_equal(trial_counters(trial)->drops[REASON_POLICE], 100 - rows[i].passed);
		trial_close(trial);
	}
}

/* 8 Mbit/s is a byte a microsecond: an emptied bucket of 1000 B accepts the next packet of 100 B
 * after 100 us, not 1 ns before. */
static void the_bucket_fills_exactly_at_the_rate(void **state)
{
	struct trial *trial = trial_open("police 8mbit burst 1000B", 1);

	(void)state;
	trial->gap_ns = 0;
	trial_send(trial, 10, 100);
	trial->now = 100 * SIMTIME_US - 1;
	trial_send(trial, 1, 100);
	assert_int_equal(trial->fate[11], TRIAL_LOST);
	trial->now = 100 * SIMTIME_US;
	trial_send(trial, 2, 100);
	assert_int_equal(trial->fate[12], TRIAL_DELIVERED);
	assert_int_equal(trial->fate[13], TRIAL_LOST);
	/* After a day, the bucket has its burst, not the tokens of a day. */
	trial->now = DELAY_MAX_NS;
	trial_send(trial, 100, 100);
	assert_int_equal(trial_count(trial, TRIAL_DELIVERED), 21);
	trial_close(trial);
}

static void a_change_keeps_what_is_in_the_bucket(void **state)
{
	struct trial *trial = trial_open("police 8mbit burst 1000B", 1);

	(void)state;
	trial->gap_ns = 0;
	trial_send(trial, 6, 100); /* 400 tokens are left */
	trial_set(trial, "police 8mbit burst 5000B");
	trial_send(trial, 10, 100);
	assert_int_equal(trial_count(trial, TRIAL_DELIVERED), 10);
	trial->now += SIMTIME_MS; /* 1000 tokens are there */
	trial_send(trial, 1, 100);
	trial_set(trial, "police 8mbit burst 300B");
	trial_send(trial, 10, 100);
	assert_int_equal(trial_count(trial, TRIAL_DELIVERED), 14);
	trial_close(trial);
}

static void the_size_of_bursts_does_not_matter(void **state)
{
	(void)state;
	trial_assert_bursts_agree("police 300mbit burst 3kB", 3000, 60);
}

GROUP(police)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_full_bucket_lets_its_burst_pass_and_no_more),
	        cmocka_unit_test(the_bucket_fills_exactly_at_the_rate),
	        cmocka_unit_test(a_change_keeps_what_is_in_the_bucket),
	        cmocka_unit_test(the_size_of_bursts_does_not_matter),
	};

	return cmocka_run_group_tests_name("police", tests, rig_group_setup, rig_group_teardown);
}
