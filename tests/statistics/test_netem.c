/* SPDX-License-Identifier: BSD-3-Clause */
/* The properties of netem that `as-netem` reproduces, a million packets each: its shares, and
 * delays without correlation. */
#include "runner/group.h"
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "line/jitter.h"
#include "netem/netem_value.h"

/* x' has correlation R with x, and the decision depends on the one before only through x (Gebelein:
 * the correlation of functions of two variables is at most their maximal correlation, here R). So
 * the variance of the share is at most that of independent decisions times (1 + R) / (1 - R). */
static double variance(double share, double correlation)
{
	return share * (1 - share) * (1 + correlation) / (1 - correlation);
}

static void shares_are_those_that_netems_recurrence_leaves(void **state)
{
	static const struct {
		const char *statement;
		double p, r;
	} rows[] = {
	        {"loss random 10% correlation 25% as-netem", 0.1, 0.25},
	        {"loss random 25% correlation 50% as-netem", 0.25, 0.5},
	        {"loss random 90% correlation 30% as-netem", 0.9, 0.3},
	        {"duplicate random 20% correlation 10% as-netem", 0.2, 0.1},
	        {"corrupt random 30% correlation 40% as-netem", 0.3, 0.4},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 20);
		const struct counters *c = trial_counters(trial);
		double share = netem_rate(rows[i].p, rows[i].r);

		trial_send(trial, PACKETS, 16);
		assert_true(fabs(share / rows[i].p - 1) > 0.05);
		assert_share(rows[i].statement,
		             c->drops[REASON_LOSS] + c->duplicated + c->corrupted, PACKETS, share,
		             variance(share, rows[i].r));
		trial_close(trial);
	}
}

/* netem's own figure (docs/netem.md): with 1 % and a correlation of 25 %, it loses 0.0002 %.
 * Poisson with 2.4 expected: more than 10 occur once in 10,000 times. */
static void one_percent_with_correlation_is_next_to_nothing_as_netem(void **state)
{
	struct trial *trial = trial_open("loss random 1% correlation 25% as-netem", 20);

	(void)state;
	trial_send(trial, PACKETS, 16);
	assert_true(trial_count(trial, TRIAL_LOST) <= 10);
	trial_close(trial);
}

/* A packet that is sent at once overtakes 100,000 others, except the very first. */
static void reordering_as_netem_is_7_percent_for_25(void **state)
{
	struct trial *trial = trial_open("delay 100ms", 20);
	double share = netem_rate(0.25, 0.5);

	(void)state;
	trial_set(trial, "reorder 25% 50% as-netem");
	trial_send(trial, PACKETS, 16);
	assert_share("reorder", trial_counters(trial)->reordered, PACKETS, share,
	             variance(share, 0.5));
	trial_close(trial);
}

/* ---- delay ---- */

static void draw(const char *statement, int64_t *deviation, uint32_t n)
{
	struct conf *conf = trial_conf(statement);
	struct draw_key key = draw_key_make(20, statement, "delay");
	struct jitter_state state = {0};
	struct jitter *jitter;

	assert_int_equal(jitter_make((const struct delay_conf *)conf, &jitter), 0);
	for (uint32_t i = 0; i < n; i += BURST_MAX) {
		simtime t_ns[BURST_MAX];

		for (uint32_t k = 0; k < BURST_MAX; k++)
			t_ns[k] = i + k;
		jitter_draw(jitter, &state, key, i, t_ns, BURST_MAX, deviation + i);
	}
	jitter_release(jitter);
	conf_free(conf);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The distribution is the one requested, but ends at 4 jitters, and neighbours are not correlated:
 * 3.29 standard errors of a correlation of independent values, 1 / sqrt(n). Kolmogorov and Smirnov
 * as in test_delay.c; a table of 4,096 steps adds 1 / 8192. */
static void delays_as_netem_have_their_distribution_and_no_correlation(void **state)
{
	static int64_t deviation[PACKETS];
	const uint32_t n = PACKETS / BURST_MAX * BURST_MAX;

	(void)state;
	for (int normal = 0; normal < 2; normal++) {
		double product = 0, square = 0, most = 0;

		draw(normal ? "delay 40ms jitter 5ms distribution normal correlation 50% order "
		              "allow "
		              "as-netem"
		            : "delay 40ms jitter 5ms correlation 50% order allow as-netem",
		     deviation, n);
		for (uint32_t i = 0; i < n; i++) {
			square += (double)deviation[i] * (double)deviation[i];
			if (i > 0)
				product += (double)deviation[i] * (double)deviation[i - 1];
		}
		assert_true(fabs(product / square) < SIGMAS / sqrt(n));
		qsort(deviation, n, sizeof(*deviation), compare);
		for (uint32_t i = 0; i < n; i += 16) {
			double x = (double)deviation[i] / 5e6;
			double f = normal ? erfc(-x / M_SQRT2) / 2 : (x + 1) / 2;

			most = fmax(most, fabs(f - i / (double)n));
		}
		assert_true(most < 1.9495 / sqrt(n) + (normal ? 1.0 / 4096 : 0) + 16.0 / n);
		assert_true(llabs(deviation[0]) <= 4 * 5000000 &&
		            llabs(deviation[n - 1]) <= 4 * 5000000);
	}
}

GROUP(netem)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(shares_are_those_that_netems_recurrence_leaves),
	        cmocka_unit_test(one_percent_with_correlation_is_next_to_nothing_as_netem),
	        cmocka_unit_test(reordering_as_netem_is_7_percent_for_25),
	        cmocka_unit_test(delays_as_netem_have_their_distribution_and_no_correlation),
	};

	return cmocka_run_group_tests_name("netem", tests, rig_group_setup, rig_group_teardown);
}
