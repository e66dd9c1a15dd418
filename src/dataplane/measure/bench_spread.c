/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_spread.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct bench_spread bench_spread_of(const double *values, uint32_t n)
{
	double sorted[BENCH_RUNS_MAX];

	if (n == 0)
		return (struct bench_spread){0};
	if (n > BENCH_RUNS_MAX)
		n = BENCH_RUNS_MAX;
	memcpy(sorted, values, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), by_value);
	return (struct bench_spread){
	        .median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2,
	        .min = sorted[0],
	        .max = sorted[n - 1],
	        .n = n,
	};
}
