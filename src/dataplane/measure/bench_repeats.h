/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A figure that was measured several times: what is said of it.
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

/* Those beyond the room are left out. */
void bench_repeats_add(struct bench_repeats *repeats, double value);
/* By nearest rank: 0.5 the median, 0 the least, 1 the greatest; 0 of none. */
double bench_repeats_at(const struct bench_repeats *repeats, double share);
double bench_repeats_mean(const struct bench_repeats *repeats);
/* Standard deviation of the sample; 0 of fewer than two. */
double bench_repeats_deviation(const struct bench_repeats *repeats);

#endif
