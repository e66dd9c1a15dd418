/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that vary periodically, and states that change at random. */
#include <math.h>
#include <stdlib.h>

#include "random/exponential.h"
#include "schedule_rig.h"
#include "runner/group.h"

/* Plays packet i at i x gap. */
static simtime *play_even(const char *words, simtime gap, uint32_t n)
{
	struct arrival *arrivals = calloc(n, sizeof(*arrivals));
	simtime *due = calloc(n, sizeof(*due));

	assert_true(arrivals && due);
	for (uint32_t i = 0; i < n; i++)
		arrivals[i] = (struct arrival){i * gap, 60};
	(n < 5000 ? schedule_play : schedule_play_once)(words, arrivals, n, due);
	free(arrivals);
	return due;
}

static void a_wave_is_the_function_that_it_is_called_after(void **state)
{
	static const struct {
		const char *words;
		double from, to;
		int shape;
	} rows[] = {
	        {"wave delay 10ms..20ms period 256ms", 10e6, 20e6, 0},
	        {"wave delay 20ms..10ms period 256ms shape sine", 20e6, 10e6, 0},
	        {"wave delay 0ms..50ms period 256ms shape square", 0, 50e6, 1},
	        {"wave delay 1ms..2ms period 256ms shape saw", 1e6, 2e6, 2},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		/* one packet in the middle of each step; 3 periods. Order is kept, so only packets
		 * that do not wait for others are compared. */
		simtime last = 0, *due = play_even(rows[r].words, MS / 2, 2 * 3 * 256);

		for (uint32_t i = 1; i < 2 * 3 * 256; i += 2) {
			double x = ((i / 2) % 256 + 0.5) / 256;
			double at = rows[r].shape == 0   ? 0.5 + 0.5 * sin(2 * M_PI * x)
			            : rows[r].shape == 1 ? x < 0.5
			                                 : x;
			double delay = rows[r].from + (rows[r].to - rows[r].from) * at;
			simtime expected = i * (MS / 2) + (simtime)llround(delay);

			if (expected > last)
				assert_in_range(due[i], expected - 1, expected + 1);
			last = simtime_max(last, expected + MS);
		}
		free(due);
	}
}

static void a_square_wave_of_the_rate_changes_at_its_edges(void **state)
{
	/* 4 ms at 2 Mbit/s, 4 ms at 1 Mbit/s; 1000 bytes are 8 kbit */
	const struct arrival arrivals[] = {
	        {0, 1000}, {0, 1000}, {0, 1000}, {1000 * SIMTIME_S, 1000}};
	simtime due[4];

	(void)state;
	schedule_play("wave rate 1mbit..2mbit period 8ms shape square", arrivals, 4, due);
	assert_int_equal(due[0], 4 * MS);
	assert_int_equal(due[1], 10 * MS);
	assert_int_equal(due[2], 16 * MS);
	assert_int_equal(due[3], 1000 * SIMTIME_S + 4 * MS);
}

/* 20,000 packets in a period with 5 % on average: binomial, 6 standard deviations are 185. With the
 * saw, the second half loses three times as much as the first. */
static void a_wave_of_the_loss_loses_its_mean(void **state)
{
	simtime *due = play_even("wave loss 0%..10% period 10s shape saw", MS / 2, 20000);
	uint32_t lost[2] = {0};

	(void)state;
	for (uint32_t i = 0; i < 20000; i++)
		lost[i / 10000] += due[i] == SIMTIME_NEVER;
	assert_in_range(lost[0] + lost[1], 1000 - 185, 1000 + 185);
	assert_in_range(lost[0], 250 - 95, 250 + 95);
	free(due);
}

/* ---- markov ---- */

static void exponential_times_are_the_logarithm_to_2e_7(void **state)
{
	struct exponential table;
	double worst = 0;

	(void)state;
	exponential_make(&table);
	for (uint64_t i = 0; i < 200000; i++) {
		uint64_t draw = (i * UINT64_C(0x9E3779B97F4A7C15)) >> (i % 60);
		double u = draw ? (double)draw : 1, x = -log(u / 0x1p64) * 1e12;

		worst = fmax(
		        worst,
		        fabs((double)exponential_draw(&table, draw, UINT64_C(1000000000000)) - x) /
		                1e12);
	}
	assert_true(worst < 2e-7);
	assert_true(exponential_draw(&table, UINT64_MAX, 1000) >= 1);
}

/* 200,000 packets, 1 ms apart: in 200 s there are some 4,000 stays, with a mean of 50 ms in each
 * state. The share of `bad` has the mean 1/2 and, over T = 200 s of a process with the decay rate
 * 2/50 ms, the standard deviation sqrt(2 x 1/4 x 0.025 / 200) = 0.0079; the bound is 6 of these.
 * The number of stays in one state is within 6 x sqrt(2000) of 2,000. */
static void states_take_their_shares_of_time(void **state)
{
	enum { N = 200000 };
	simtime *due = play_even("markov good 50ms then bad 50ms down", MS, N);
	uint32_t lost = 0, stays = 0;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		bool bad = due[i] == SIMTIME_NEVER;

		lost += bad;
		stays += bad && i > 0 && due[i - 1] != SIMTIME_NEVER;
	}
	assert_in_range(lost, (uint32_t)(N * 0.4526), (uint32_t)(N * 0.5474));
	assert_in_range(stays, 2000 - 300, 2000 + 300);
	assert_true(due[0] == 0);
	free(due);
}

/* Three states, recognised by their delays; from a to b or c 9 to 1, and back. */
static void states_lead_where_they_should(void **state)
{
	enum { N = 100000 };
	simtime *due =
	        play_even("delay 10ms order allow; markov a 20ms to b 90% c 10% delay 20ms order "
	                  "allow then b 20ms to a 100% delay 30ms order allow then c 20ms to a "
	                  "100%",
	                  MS, N);
	uint32_t to_b = 0, to_c = 0;

	(void)state;
	for (uint32_t i = 1; i < N; i++) {
		simtime before = due[i - 1] - (i - 1) * MS, now = due[i] - i * MS;

		assert_true(now == 10 * MS || now == 20 * MS || now == 30 * MS);
		to_b += before == 20 * MS && now == 30 * MS;
		to_c += before == 20 * MS && now == 10 * MS;
	}
	/* some 2,500 transitions from a; stays that end between two packets, 2 %, are not seen */
	assert_in_range(to_b + to_c, 2000, 3000);
	/* 10 %: binomial, 6 standard deviations of 2,400, and the stays that are not seen */
	assert_in_range(to_c * 1000 / (to_b + to_c), 60, 140);
	free(due);
}

static void states_that_contradict_are_refused(void **state)
{
	static const char *const rows[][2] = {
	        {"markov a 1s", "it needs at least two states: add `then` and another one"},
	        {"markov a 1s then a 2s down", "there are two states `a`; give each its own name"},
	        {"markov a 1s to c 100% then b 2s down",
	         "state `a` leads to `c`, which is not another state"},
	        {"markov a 1s to a 100% then b 2s down",
	         "state `a` leads to `a`, which is not another state"},
	        {"markov a 1s to b 99% then b 2s down",
	         "the probabilities after `to` of state `a` are less than 100% together"},
	        {"markov a 1s to b 99% c 2% then b 2s down then c 1s",
	         "the probabilities after `to` of state `a` are more than 100% together"},
	        {"markov a 1s rate 1mbit burst 15kB then b 1s",
	         "`rate`: a leaky-bucket has no burst: leave it out, or say `algorithm "
	         "token-bucket`"},
	        {"markov a 1s to b 33.4% c 33.3% d 33.3% then b 1s then c 1s then d 1s down", ""},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++)
		assert_string_equal(trial_problem(rows[r][0]), rows[r][1]);
}

GROUP(wave)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_wave_is_the_function_that_it_is_called_after),
	        cmocka_unit_test(a_square_wave_of_the_rate_changes_at_its_edges),
	        cmocka_unit_test(a_wave_of_the_loss_loses_its_mean),
	        cmocka_unit_test(exponential_times_are_the_logarithm_to_2e_7),
	        cmocka_unit_test(states_take_their_shares_of_time),
	        cmocka_unit_test(states_lead_where_they_should),
	        cmocka_unit_test(states_that_contradict_are_refused),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
