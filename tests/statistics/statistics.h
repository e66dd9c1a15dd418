/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The expected results of a million random decisions, and the permitted deviations.
 *
 * Every bound is one of 99.9 %: a correct result misses it once in a thousand times. Seeds are
 * fixed, so a claim that has held once holds for ever; the tests are not flaky.
 */
#ifndef WEIR_STATISTICS_H
#define WEIR_STATISTICS_H

#include <stdint.h>

#include "trial.h"

#define PACKETS 1000000u

/* Two-sided 99.9 % of the normal distribution: P(|Z| > 3.2905) = 0.001. */
#define SIGMAS 3.2905

/* |share - p| <= SIGMAS sqrt(variance / n). For independent decisions the variance is p (1 - p) and
 * the bound that of the binomial distribution, which is normal to within 1 % of its width where
 * n p (1 - p) > 100. */
void assert_share(const char *what, uint64_t count, uint64_t n, double p, double variance);

/* A Markov chain that loses a packet with a probability that depends on its state. */
#define CHAIN_STATES 4
struct chain {
	int n;
	double move[CHAIN_STATES][CHAIN_STATES];
	double lost[CHAIN_STATES];
	/* chain_solve: */
	double stationary[CHAIN_STATES];
	double rate;
	double variance; /* of the number of losses in n packets, divided by n, for large n */
};
void chain_solve(struct chain *chain);

/* Counts how often each length of a run of packets whose fates have `mark` occurs. Runs that the
 * beginning or the end cuts off do not count. */
#define RUN_MAX 4096
struct runs {
	uint64_t n;
	uint64_t of_length[RUN_MAX + 1]; /* the last: of that length or longer */
};
void runs_count(struct runs *runs, const struct trial *trial, uint8_t mark);

/* Chi-square over the lengths, in up to 100 cells of neighbouring lengths, each of which expects at
 * least 20 runs. `share[i]` is the expected share of length i; a length with share 0 must not
 * occur. */
void assert_runs(const char *what, const struct runs *runs, const double share[RUN_MAX + 1]);
/* The same for independent runs that continue with a constant probability. */
void assert_runs_geometric(const char *what, const struct runs *runs, double goes_on);

/* Chi-square of counts against expectations, which are at least 10 each. */
void assert_chi_square(const char *what, const uint64_t *count, const double *expected, uint32_t n);

#endif
