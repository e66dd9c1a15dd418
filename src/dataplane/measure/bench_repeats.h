/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A figure that was measured several times, and its statistics.
 *
 * Thread: any; pure functions.
 */
#ifndef WEIR_BENCH_REPEATS_H
#define WEIR_BENCH_REPEATS_H

#include <stdint.h>

#define BENCH_REPEATS_MAX 64

struct bench_repeats {
	uint32_t n;
	double value[BENCH_REPEATS_MAX]; /* ascending */
};

/* Adds a value. Values beyond BENCH_REPEATS_MAX are left out. */
void bench_repeats_add(struct bench_repeats *repeats, double value);
/* Returns a value by nearest rank: 0.5 the median, 0 the least, 1 the greatest; 0 if there is
 * none. */
double bench_repeats_at(const struct bench_repeats *repeats, double share);
double bench_repeats_mean(const struct bench_repeats *repeats);
/* Returns the standard deviation of the sample; 0 if there are fewer than two values. */
double bench_repeats_deviation(const struct bench_repeats *repeats);

#endif
