/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots: packets leave in bursts, at instants beyond 32 bits too. */
#include "trial.h"
#include "runner/group.h"

#include <string.h>

#define SECONDS SIMTIME_S

struct left {
	simtime at[4096];
	uint32_t n;
};

static void note(void *argument, struct rte_mbuf *mbuf)
{
	struct left *left = argument;

	assert_true(left->n < LENGTH(left->at));
	left->at[left->n++] = packet_of(mbuf)->t_ns;
}

static struct trial *slotted(const char *slots, const char *rate, struct left *left)
{
	struct trial *trial = trial_open(rate ? rate : slots, 1);

	left->n = 0;
	trial->look = note;
	trial->argument = left;
	trial->gap_ns = 0;
	if (rate)
		trial_set(trial, slots);
	return trial;
}

static void what_waits_leaves_with_the_slot(void **state)
{
	static struct left left;
	struct trial *trial = slotted("slots min 5s max 5s", NULL, &left);

	(void)state;
	trial->now = 7;
	trial_send(trial, 10, 100);
	trial->now = 3 * SECONDS;
	trial_send(trial, 10, 1500);
	trial->now = 5 * SECONDS + 7; /* just in time */
	trial_send(trial, 1, 100);
	trial->now = 5 * SECONDS + 8; /* for the next slot */
	trial_send(trial, 1, 100);
	trial_run_out(trial);
	assert_int_equal(left.n, 22);
	for (uint32_t i = 0; i < 21; i++)
		assert_int_equal(left.at[i], 5 * SECONDS + 7);
	assert_int_equal(left.at[21], 10 * SECONDS + 8);
	trial_close(trial);
}

/* Beyond 4.3 s, and beyond a minute. */
static void a_budget_sends_so_much_a_slot(void **state)
{
	static const struct {
		const char *slots;
		simtime every;
		uint32_t packets; /* of 1000 B in a slot */
	} rows[] = {
	        {"slots min 1ms max 1ms packets 3", SIMTIME_MS, 3},
	        {"slots min 5s max 5s packets 1", 5 * SECONDS, 1},
	        {"slots min 90s max 90s packets 3", 90 * SECONDS, 3},
	        {"slots min 10ms max 10ms bytes 1B", 10 * SIMTIME_MS, 1},
	        {"slots min 10ms max 10ms bytes 2000B", 10 * SIMTIME_MS, 2},
	        {"slots min 10ms max 10ms bytes 2001B", 10 * SIMTIME_MS, 3},
	        {"slots min 10ms max 10ms bytes 5kB packets 4", 10 * SIMTIME_MS, 4},
	};
	static struct left left;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = slotted(rows[i].slots, NULL, &left);

		trial_send(trial, 20, 1000);
		trial_run_out(trial);
		assert_int_equal(left.n, 20);
		for (uint32_t k = 0; k < 20; k++)
			assert_int_equal(left.at[k], (k / rows[i].packets + 1) * rows[i].every);
		trial_close(trial);
	}
}

/* 8 Mbit/s: a packet of 1000 B is ready each ms. A slot of 2.5 ms takes the packets that are ready
 * when it opens. */
static void a_rate_says_when_packets_are_ready(void **state)
{
	static struct left left;
	struct trial *trial =
	        slotted("slots min 2.5ms max 2.5ms", "rate 8mbit queue 100pkt", &left);
	/* ready at 1 ms: the slot at 3.5 takes 1, 2, 3; packet 4 begins the slot at 6.5, which
	 * takes 4, 5, 6 */
	static const simtime expected[] = {3500, 3500, 3500, 6500, 6500, 6500, 9500, 9500};

	(void)state;
	trial_send(trial, 8, 1000);
	trial_run_out(trial);
	assert_int_equal(left.n, 8);
	for (uint32_t k = 0; k < 8; k++)
		assert_int_equal(left.at[k], expected[k] * SIMTIME_US);
	/* the shaper was idle in between, and has no debt */
	trial->now = 20 * SIMTIME_MS;
	trial_send(trial, 1, 1000);
	trial_run_out(trial);
	assert_int_equal(left.at[8], 23500 * SIMTIME_US);
	trial_close(trial);
}

/* Uniform between 1 and 5 ms: 4000 slots of one packet each. The mean has the standard deviation 4
 * ms / sqrt(12 x 4000) = 18.3 us; the bound is 5 of these. Each of 4 equal parts has 1000 +- 5 x
 * 27.4 slots. */
static void slots_are_uniform_between_the_two(void **state)
{
	static struct left left;
	struct trial *trial = slotted("slots min 1ms max 5ms packets 1 queue 4000pkt", NULL, &left);
	uint32_t parts[4] = {0};

	(void)state;
	trial_send(trial, 4000, 100);
	trial_run_out(trial);
	assert_int_equal(left.n, 4000);
	for (uint32_t k = 1; k < 4000; k++) {
		simtime gap = left.at[k] - left.at[k - 1];

		assert_in_range(gap, SIMTIME_MS, 5 * SIMTIME_MS);
		parts[RTE_MIN((gap - SIMTIME_MS) / SIMTIME_MS, 3u)]++;
	}
	assert_in_range(left.at[3999] / 4000, 2908500, 3091500);
	for (int i = 0; i < 4; i++)
		assert_in_range(parts[i], 1000 - 137, 1000 + 137);
	trial_close(trial);
}

static void a_budget_without_a_rate_has_a_queue(void **state)
{
	static const struct {
		const char *slots;
		uint32_t held; /* of 4000 */
	} rows[] = {
	        {"slots min 1s max 1s packets 1", 1000},
	        {"slots min 1s max 1s packets 20", 1280},
	        {"slots min 1s max 1s bytes 1000B", 1500},
	        {"slots min 1s max 1s bytes 1000B queue 10pkt", 10},
	        {"slots min 1s max 1s", 4000},
	};
	static struct left left;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = slotted(rows[i].slots, NULL, &left);

		trial_send(trial, 4000, 1000);
		assert_int_equal(trial_counters(trial)->drops[REASON_QUEUE_FULL],
		                 4000 - rows[i].held);
		trial_close(trial);
	}
}

static void a_change_of_slots_keeps_what_waits(void **state)
{
	static struct left left;
	struct trial *trial = slotted("slots min 10s max 10s packets 1", NULL, &left);

	(void)state;
	trial_send(trial, 4, 1000);
	trial->now = 2 * SECONDS;
	trial_set(trial, "slots min 1s max 1s packets 2");
	trial_run_out(trial);
	assert_int_equal(left.n, 4);
	assert_int_equal(left.at[0], 10 * SECONDS); /* the packet had its slot */
	assert_int_equal(left.at[1], 11 * SECONDS);
	assert_int_equal(left.at[2], 11 * SECONDS);
	assert_int_equal(left.at[3], 12 * SECONDS);
	trial_close(trial);
}

/* 8 Mbit/s: a packet of 1000 B is ready each ms. The first one is ready at 1 ms, and waits for its
 * slot at 11. Nine come at 5 ms, and are ready from 6 ms on: six of them by 11. A change at 6 ms
 * that leaves the rate as it is does not make them ready earlier. */
static void a_change_while_one_waits_sends_nothing_ahead_of_time(void **state)
{
	static const char *const changes[] = {NULL, "slots min 10ms max 10ms packets 50",
	                                      "rate 8mbit queue 99pkt",
	                                      "wave rate 8mbit..8mbit "
	                                      "period 1ms"};
	static struct left left;

	(void)state;
	for (size_t k = 0; k < LENGTH(changes); k++) {
		struct trial *trial =
		        slotted("slots min 10ms max 10ms", "rate 8mbit queue 100pkt", &left);

		trial_send(trial, 1, 1000);
		trial->now = 5 * SIMTIME_MS;
		trial_send(trial, 9, 1000);
		trial->now = 6 * SIMTIME_MS;
		if (changes[k])
			trial_set(trial, changes[k]);
		trial->now = 40 * SIMTIME_MS;
		trial_send(trial, 1, 1000);
		trial_run_out(trial);
		assert_int_equal(left.n, 11);
		for (uint32_t i = 0; i < 11; i++)
			assert_int_equal(left.at[i], (i < 7 ? 11 : i < 10 ? 22 : 51) * SIMTIME_MS);
		trial_close(trial);
	}
}

/* The same at half the rate from 6 ms on: the first of the nine is ready at 7 ms, counted at the
 * rate that is in force when its turn comes, and the next ones each 2 ms. */
static void what_waits_behind_a_slot_is_sent_at_the_new_rate(void **state)
{
	static struct left left;
	struct trial *trial = slotted("slots min 10ms max 10ms", "rate 8mbit queue 100pkt", &left);

	(void)state;
	trial_send(trial, 1, 1000);
	trial->now = 5 * SIMTIME_MS;
	trial_send(trial, 9, 1000);
	trial->now = 6 * SIMTIME_MS;
	trial_set(trial, "rate 4mbit queue 100pkt");
	trial_run_out(trial);
	assert_int_equal(left.n, 10);
	for (uint32_t i = 0; i < 4; i++) /* ready at 7, 9 and 11 */
		assert_int_equal(left.at[i], 11 * SIMTIME_MS);
	assert_int_equal(left.at[4], 23 * SIMTIME_MS); /* ready at 13 */
	trial_close(trial);
}

GROUP(slots)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_waits_leaves_with_the_slot),
	        cmocka_unit_test(a_budget_sends_so_much_a_slot),
	        cmocka_unit_test(a_rate_says_when_packets_are_ready),
	        cmocka_unit_test(slots_are_uniform_between_the_two),
	        cmocka_unit_test(a_budget_without_a_rate_has_a_queue),
	        cmocka_unit_test(a_change_of_slots_keeps_what_waits),
	        cmocka_unit_test(a_change_while_one_waits_sends_nothing_ahead_of_time),
	        cmocka_unit_test(what_waits_behind_a_slot_is_sent_at_the_new_rate),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
