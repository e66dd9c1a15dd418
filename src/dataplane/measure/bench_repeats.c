/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_repeats.h"

#include <math.h>

void bench_repeats_add(struct bench_repeats *repeats, double value)
{
	uint32_t at = repeats->n;

	if (at == BENCH_REPEATS_MAX)
		return;
	for (; at > 0 && repeats->value[at - 1] > value; at--)
		repeats->value[at] = repeats->value[at - 1];
	repeats->value[at] = value;
	repeats->n++;
}

double bench_repeats_at(const struct bench_repeats *repeats, double share)
{
	double rank = ceil(share * repeats->n);

	if (repeats->n == 0)
		return 0;
	return repeats->value[rank < 1 ? 0 : (uint32_t)rank - 1];
}

double bench_repeats_mean(const struct bench_repeats *repeats)
{
	double sum = 0;

	for (uint32_t i = 0; i < repeats->n; i++)
		sum += repeats->value[i];
	return repeats->n ? sum / repeats->n : 0;
}

double bench_repeats_deviation(const struct bench_repeats *repeats)
{
	double mean = bench_repeats_mean(repeats), sum = 0;

	for (uint32_t i = 0; i < repeats->n; i++)
		sum += (repeats->value[i] - mean) * (repeats->value[i] - mean);
	return repeats->n > 1 ? sqrt(sum / (repeats->n - 1)) : 0;
}
