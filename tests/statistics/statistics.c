/* SPDX-License-Identifier: BSD-3-Clause */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void assert_share(const char *what, uint64_t count, uint64_t n, double p, double variance)
{
	double share = (double)count / (double)n, bound = SIGMAS * sqrt(variance / (double)n);

	if (fabs(share - p) > bound)
		fail_msg("%s: %.6f %% of %lu, not %.6f %% +- %.6f %%", what, 100 * share, n,
		         100 * p, 100 * bound);
}

/* For a chi-square over runs: neighbouring lengths are merged until a cell expects at least
 * this. */
#define CELL_MIN  20.0
#define CELLS_MAX 100

static void step(const struct chain *chain, const double from[CHAIN_STATES],
                 double to[CHAIN_STATES])
{
	double next[CHAIN_STATES] = {0};

	for (int i = 0; i < chain->n; i++) {
		for (int j = 0; j < chain->n; j++)
			next[j] += from[i] * chain->move[i][j];
	}
	memcpy(to, next, sizeof(next));
}

/* Computes the stationary distribution by averaging over many steps, which works for chains of
 * period 2, too; and the variance by summing covariances until they are negligible:
 *
 *   v = m (1 - m) + 2 sum over k of (P(lost at 0 and at k) - m^2) */
void chain_solve(struct chain *chain)
{
	double at[CHAIN_STATES] = {1}, both[CHAIN_STATES];

	for (int i = 0; i < 1000000; i++) {
		double next[CHAIN_STATES];

		step(chain, at, next);
		for (int j = 0; j < chain->n; j++)
			at[j] = (at[j] + next[j]) / 2;
	}
	memcpy(chain->stationary, at, sizeof(at));
	chain->rate = 0;
	for (int i = 0; i < chain->n; i++) {
		chain->rate += at[i] * chain->lost[i];
		both[i] = at[i] * chain->lost[i];
	}
	chain->variance = chain->rate * (1 - chain->rate);
	for (int k = 1; k < 100000; k++) {
		double joint = 0;

		step(chain, both, both);
		for (int i = 0; i < chain->n; i++)
			joint += both[i] * chain->lost[i];
		chain->variance += 2 * (joint - chain->rate * chain->rate);
	}
}

void runs_count(struct runs *runs, const struct trial *trial, uint8_t mark)
{
	uint64_t at = 1;

	memset(runs, 0, sizeof(*runs));
	while (at <= trial->sent && trial->fate[at] & mark)
		at++;
	while (at <= trial->sent) {
		uint64_t length = 0;

		while (at <= trial->sent && !(trial->fate[at] & mark))
			at++;
		while (at <= trial->sent && trial->fate[at] & mark) {
			at++;
			length++;
		}
		if (at > trial->sent || length == 0)
			break;
		runs->of_length[RTE_MIN(length, (uint64_t)RUN_MAX)]++;
		runs->n++;
	}
}

/* Returns the 99.9 % quantile (Wilson, Hilferty 1931): within 0.5 % of the true one from 3 degrees
 * of freedom on; 10.83 and 13.82 are the true ones of 1 and 2. */
static double chi_square_limit(uint32_t degrees)
{
	double d = 2.0 / (9.0 * degrees);

	if (degrees <= 2)
		return degrees == 1 ? 10.83 : 13.82;
	return degrees * pow(1 - d + 3.0902 * sqrt(d), 3);
}

void assert_chi_square(const char *what, const uint64_t *count, const double *expected, uint32_t n)
{
	double chi = 0, limit = chi_square_limit(n - 1);

	assert_true(n >= 2);
	for (uint32_t i = 0; i < n; i++) {
		double off = (double)count[i] - expected[i];

		chi += off * off / expected[i];
	}
	if (chi > limit)
		fail_msg("%s: chi-square %.1f of %u cells, at most %.1f", what, chi, n, limit);
}

void assert_runs(const char *what, const struct runs *runs, const double share[RUN_MAX + 1])
{
	uint64_t count[CELLS_MAX] = {0}, rest = runs->n;
	double expected[CELLS_MAX] = {0}, left = (double)runs->n;
	double cell = RTE_MAX(CELL_MIN, left / (CELLS_MAX - 2));
	uint32_t n = 0;

	for (uint32_t length = 1; length < RUN_MAX && left >= 2 * cell; length++) {
		double mine = share[length] * (double)runs->n;

		if (share[length] == 0)
			assert_int_equal(runs->of_length[length], 0);
		count[n] += runs->of_length[length];
		expected[n] += mine;
		rest -= runs->of_length[length];
		left -= mine;
		n += expected[n] >= cell;
	}
	/* The incomplete cell, together with all longer runs. */
	count[n] += rest;
	expected[n++] += left;
	assert_chi_square(what, count, expected, n);
}

void assert_runs_geometric(const char *what, const struct runs *runs, double goes_on)
{
	static double share[RUN_MAX + 1];
	double reached = 1;

	for (uint32_t length = 1; length <= RUN_MAX; length++) {
		share[length] = reached * (1 - goes_on);
		reached *= goes_on;
	}
	assert_runs(what, runs, share);
}
