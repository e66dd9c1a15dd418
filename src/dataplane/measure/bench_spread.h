/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A figure that was measured several times: its median, and how far the runs lie apart.
 *
 * The median is used because a disturbance (another process, another guest of the host) can only
 * make a run slower, and a mean would include it. With an even number of runs the median is the
 * mean of the middle two.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_BENCH_SPREAD_H
#define WEIR_BENCH_SPREAD_H

#include <stdint.h>

#define BENCH_RUNS_MAX 64

struct bench_spread {
	double median, min, max;
	uint32_t n;
};

/* Returns the spread of n values, BENCH_RUNS_MAX at most. If n is 0, all is zero. */
struct bench_spread bench_spread_of(const double *values, uint32_t n);

#endif
