/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss by bit errors at its edges; its statistics are in tests/statistics. */
#include "trial.h"
#include "runner/group.h"

static void probabilities_of_nought_and_one_hundred_percent_are_exact(void **state)
{
	static const struct {
		const char *statement;
		uint32_t bytes;
		uint64_t lost;
	} rows[] = {
	        {"loss bit-error 0", 1500, 0},      {"loss bit-error 100%", 1, 500},
	        {"loss bit-error 100%", 1500, 500}, {"loss bit-error 1e-18", 1500, 0},
	        {"loss bit-error 50%", 1500, 500},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 1);

		trial_send(trial, 500, rows[i].bytes);
		assert_int_equal(trial_count(trial, TRIAL_LOST), rows[i].lost);
		trial_close(trial);
	}
}

static void the_size_of_bursts_does_not_matter(void **state)
{
	(void)state;
	trial_assert_bursts_agree("loss bit-error 1e-4", 2000, 200);
}

/* There is one draw a packet: if a packet is lost, a longer one in its place is lost, too. */
static void a_longer_packet_is_lost_whenever_a_shorter_one_is(void **state)
{
	struct trial *small = trial_open("loss bit-error 1e-4", 1);
	struct trial *large = trial_open("loss bit-error 1e-4", 1);
	uint64_t more = 0;

	(void)state;
	trial_send(small, 3000, 100);
	trial_send(large, 3000, 600);
	for (uint64_t i = 1; i <= 3000; i++) {
		if (small->fate[i] & TRIAL_LOST)
			assert_true(large->fate[i] & TRIAL_LOST);
		else
			more += large->fate[i] & TRIAL_LOST;
	}
	assert_true(more > 500);
	trial_close(small);
	trial_close(large);
}

/* The cache of lengths must not take one length for another. */
static void lengths_in_turn_are_lost_as_each_alone(void **state)
{
	struct trial *mixed = trial_open("loss bit-error 2e-4", 9);
	struct trial *alone[20];

	(void)state;
	for (uint32_t i = 0; i < LENGTH(alone); i++)
		alone[i] = trial_open("loss bit-error 2e-4", 9);
	for (uint32_t n = 0; n < 2000; n++) {
		for (uint32_t i = 0; i < LENGTH(alone); i++)
			trial_send(alone[i], 1, 60 + 8 * i);
		trial_send(mixed, 1, 60 + 8 * (n % 20));
	}
	for (uint32_t n = 0; n < 2000; n++)
		assert_int_equal(mixed->fate[n + 1], alone[n % 20]->fate[n + 1]);
	for (uint32_t i = 0; i < LENGTH(alone); i++)
		trial_close(alone[i]);
	trial_close(mixed);
}

GROUP(loss_bit_error)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(probabilities_of_nought_and_one_hundred_percent_are_exact),
	        cmocka_unit_test(the_size_of_bursts_does_not_matter),
	        cmocka_unit_test(a_longer_packet_is_lost_whenever_a_shorter_one_is),
	        cmocka_unit_test(lengths_in_turn_are_lost_as_each_alone),
	};

	return cmocka_run_group_tests_name("loss_bit_error", tests, rig_group_setup,
	                                   rig_group_teardown);
}
