/* SPDX-License-Identifier: BSD-3-Clause */
/* `loss random` and `loss every`, packet by packet. */
#include "rig.h"
#include "runner/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct rig *lossy(uint64_t seed)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = seed});

	rig_cloud(rig, "x", 0, 1);
	return rig;
}

/* Sends n packets in bursts; lost[i] is set if packet first + i was lost. */
static void send_all(struct rig *rig, uint32_t n, uint32_t burst, bool *lost)
{
	uint64_t first = rig->sent + 1;
	uint32_t seen = rig->n_departures;

	for (uint32_t done = 0; done < n;) {
		struct rte_mbuf *mbufs[BURST_MAX];
		uint16_t k = (uint16_t)RTE_MIN(burst, n - done);

		for (uint16_t i = 0; i < k; i++)
			mbufs[i] =
			        rig_packet(rig, RIG_PLAIN, 0, rig->sent + i + 1, 60, 0, rig->now);
		rig_ingress(rig, mbufs, k);
		rig_advance(rig, rig->now);
		done += k;
	}
	memset(lost, 1, n);
	for (uint32_t i = seen; i < rig->n_departures; i++)
		lost[rig->departures[i].number - first] = false;
}

/* Two-sided 99.9 %: 3.2905 standard deviations of a binomial count, which is normal at these n. */
static void random_loss_of_a_million_packets_lies_within_the_binomial_bound(void **state)
{
	static const double shares[] = {0.01, 0.5, 0.001, 0.9};
	const uint32_t n = 1000000;
	bool *lost = malloc(n);

	(void)state;
	assert_non_null(lost);
	for (size_t s = 0; s < LENGTH(shares); s++) {
		struct rig *rig = lossy(42);
		double p = shares[s], count;

		rig_loss(rig, "x", (probability_q63)(p * 0x1p63));
		rig_apply(rig, 0);
		send_all(rig, n, BURST_MAX, lost);
		count = (double)rig_report(rig, "x")->counters.drops[REASON_LOSS];
		assert_true(fabs(count - n * p) < 3.2905 * sqrt(n * p * (1 - p)));
		rig_close(rig);
	}
	free(lost);
}

static void random_losses_do_not_follow_each_other_more_than_chance_has_it(void **state)
{
	const uint32_t n = 200000;
	bool *lost = malloc(n);
	struct rig *rig = lossy(7);
	double p = 0.1, pairs = 0;

	(void)state;
	assert_non_null(lost);
	rig_loss(rig, "x", (probability_q63)(p * 0x1p63));
	rig_apply(rig, 0);
	send_all(rig, n, 7, lost);
	for (uint32_t i = 1; i < n; i++)
		pairs += lost[i] && lost[i - 1];
	/* neighbouring pairs overlap: the variance is n p^2 (1 + 2p - 3p^2) */
	assert_true(fabs(pairs - (n - 1) * p * p) <
	            3.2905 * sqrt(n * p * p * (1 + 2 * p - 3 * p * p)));
	rig_close(rig);
	free(lost);
}

static void no_loss_loses_none_and_full_loss_loses_all(void **state)
{
	static const struct {
		probability_q63 probability;
		uint32_t leave;
	} rows[] = {{0, 10000}, {PROBABILITY_ONE, 0}};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		bool lost[10000];
		struct rig *rig = lossy(1);

		rig_loss(rig, "x", rows[i].probability);
		rig_apply(rig, 0);
		send_all(rig, 10000, BURST_MAX, lost);
		assert_int_equal(rig->n_departures, rows[i].leave);
		rig_close(rig);
	}
}

static void which_packets_are_lost_does_not_depend_on_the_size_of_bursts(void **state)
{
	enum { N = 5000 };
	static const uint32_t bursts[] = {1, 2, 7, 31, 32};
	static bool lost[N], again[N];

	(void)state;
	for (size_t b = 0; b < LENGTH(bursts); b++) {
		struct rig *rig = lossy(5);

		rig_loss(rig, "x", PROBABILITY_ONE / 3);
		rig_apply(rig, 0);
		send_all(rig, N, bursts[b], b ? again : lost);
		if (b)
			assert_memory_equal(lost, again, sizeof(lost));
		rig_close(rig);
	}
}

static void a_burst_that_the_engine_stamps_loses_what_one_that_came_stamped_loses(void **state)
{
	static const double shares[] = {0.01, 0.5, 0.97, 1};
	static bool expected[2000];

	(void)state;
	for (size_t s = 0; s < LENGTH(shares); s++) {
		struct rig *rig = lossy(7);
		probability_q63 p =
		        shares[s] == 1 ? PROBABILITY_ONE : (probability_q63)(shares[s] * 0x1p63);

		rig_loss(rig, "x", p);
		rig_apply(rig, 0);
		send_all(rig, LENGTH(expected), BURST_MAX, expected);
		rig_close(rig);
		rig = lossy(7);
		rig_loss(rig, "x", p);
		rig_apply(rig, 0);
		while (rig->sent < LENGTH(expected)) {
			struct rte_mbuf *mbufs[BURST_MAX];
			uint16_t n = (uint16_t)RTE_MIN((uint64_t)BURST_MAX,
			                               LENGTH(expected) - rig->sent);

			for (uint16_t i = 0; i < n; i++) {
				mbufs[i] = rig_packet(rig, RIG_PLAIN, 0, rig->sent + 1 + i, 60, 0,
				                      rig->now);
				memset(packet_of(mbufs[i]), 0xee, sizeof(struct packet));
			}
			rig_receive(rig, 0, mbufs, n, rig->now);
			rig->sent += n;
			rig_advance(rig, rig->now);
		}
		for (uint32_t i = 0, left = 0; i < LENGTH(expected); i++) {
			if (!expected[i])
				assert_int_equal(rig->departures[left++].number, i + 1);
			if (i + 1 == LENGTH(expected))
				assert_int_equal(rig->n_departures, left);
		}
		rig_close(rig);
	}
}

static void another_seed_or_another_name_loses_other_packets(void **state)
{
	enum { N = 1000 };
	static bool lost[3][N];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = i == 1 ? 2 : 1});

		rig_cloud(rig, i == 2 ? "y" : "x", 0, 1);
		rig_loss(rig, i == 2 ? "y" : "x", PROBABILITY_ONE / 2);
		rig_apply(rig, 0);
		send_all(rig, N, 32, lost[i]);
		rig_close(rig);
	}
	assert_memory_not_equal(lost[0], lost[1], N);
	assert_memory_not_equal(lost[0], lost[2], N);
}

/* Packet i is lost if draw i is below the probability. After a change of the probability, the draws
 * continue with draw i; they do not begin again. */
static void a_change_of_the_probability_keeps_the_draws_going(void **state)
{
	enum { N = 3000 };
	static const probability_q63 steps[] = {PROBABILITY_ONE / 4, PROBABILITY_ONE / 2,
	                                        PROBABILITY_ONE / 50};
	static bool lost[N];
	struct draw_key key = draw_key_make(9, "x", "loss random");
	struct rig *rig = lossy(9);

	(void)state;
	for (uint64_t s = 0; s < LENGTH(steps); s++) {
		rig_loss(rig, "x", steps[s]);
		rig_apply(rig, rig->now);
		send_all(rig, N, 11, lost);
		for (uint64_t i = 0; i < N; i++)
			assert_int_equal(lost[i],
			                 draw_below(draw_u64(key, s * N + i, 0), steps[s]));
	}
	rig_close(rig);
}

/* The counter reaches N, then B packets in a row are lost, and it starts again: of each N - 1 + B
 * packets, the last B. */
static void periodic_loss_is_exact_to_the_packet(void **state)
{
	enum { N = 20000 };
	static const struct {
		uint64_t every, burst;
	} rows[] = {{1000, 3},  {1, 1},     {1, 5},
	            {2, 1},     {3, 2},     {10, 1000},
	            {64, 1},    {7, 7},     {19999, 1},
	            {20000, 1}, {20001, 1}, {UINT64_C(1) << 30, (UINT64_C(1) << 31) - 1}};
	static bool lost[N];

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		uint64_t every = rows[r].every, burst = rows[r].burst, expected = 0;
		struct rig *rig = lossy(1);

		rig_loss_every(rig, "x", every, burst);
		rig_apply(rig, 0);
		send_all(rig, N, r % 2 ? 7 : 32, lost);
		for (uint64_t i = 0; i < N; i++) {
			bool expect = i % (every - 1 + burst) >= every - 1;

			assert_int_equal(lost[i], expect);
			expected += expect;
		}
		assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_LOSS], expected);
		rig_close(rig);
	}
}

/* A change of the delay does not affect the loss. */
static void a_change_elsewhere_does_not_disturb_the_period(void **state)
{
	enum { N = 1003 };
	static bool lost[N];
	struct rig *rig = lossy(1);

	(void)state;
	rig_loss_every(rig, "x", 10, 2);
	for (uint64_t round = 0; round < 5; round++) {
		rig_delay(rig, "x", 0, 0, DELAY_UNIFORM, (enum delay_order)(round % 2));
		rig_apply(rig, rig->now);
		send_all(rig, N, 32, lost);
		for (uint64_t i = 0; i < N; i++)
			assert_int_equal(lost[i], (round * N + i) % 11 >= 9);
	}
	rig_close(rig);
}

static void one_kind_of_loss_takes_the_place_of_the_other(void **state)
{
	enum { N = 1000 };
	static bool lost[N];
	struct rig *rig = lossy(1);

	(void)state;
	rig_loss(rig, "x", PROBABILITY_ONE);
	rig_apply(rig, 0);
	send_all(rig, N, 32, lost);
	assert_int_equal(rig->n_departures, 0);
	rig_loss_every(rig, "x", 10, 1);
	rig_apply(rig, rig->now);
	send_all(rig, N, 32, lost);
	assert_int_equal(rig->n_departures, 900);
	rig_unset(rig, "x", "loss");
	rig_apply(rig, rig->now);
	send_all(rig, N, 32, lost);
	assert_int_equal(rig->n_departures, 1900);
	rig_close(rig);
}

GROUP(loss)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(random_loss_of_a_million_packets_lies_within_the_binomial_bound),
	        cmocka_unit_test(random_losses_do_not_follow_each_other_more_than_chance_has_it),
	        cmocka_unit_test(no_loss_loses_none_and_full_loss_loses_all),
	        cmocka_unit_test(which_packets_are_lost_does_not_depend_on_the_size_of_bursts),
	        cmocka_unit_test(
	                a_burst_that_the_engine_stamps_loses_what_one_that_came_stamped_loses),
	        cmocka_unit_test(another_seed_or_another_name_loses_other_packets),
	        cmocka_unit_test(a_change_of_the_probability_keeps_the_draws_going),
	        cmocka_unit_test(periodic_loss_is_exact_to_the_packet),
	        cmocka_unit_test(a_change_elsewhere_does_not_disturb_the_period),
	        cmocka_unit_test(one_kind_of_loss_takes_the_place_of_the_other),
	};

	return cmocka_run_group_tests_name("loss", tests, rig_group_setup, rig_group_teardown);
}
