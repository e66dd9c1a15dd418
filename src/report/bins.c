/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/bins.h"

#include <errno.h>
#include <math.h>

int bins_divide(double *edges, size_t n, enum axis_scale scale, double lo, double hi)
{
	if (n == 0 || !(lo < hi) || !isfinite(lo) || !isfinite(hi) ||
	    (scale == AXIS_LOG10 && lo <= 0))
		return -EINVAL;
	for (size_t i = 0; i <= n; i++) {
		double part = (double)i / (double)n;
		edges[i] = scale == AXIS_LOG10 ? lo * pow(hi / lo, part) : lo + (hi - lo) * part;
	}
	edges[n] = hi; /* exact, so that rounding does not lose the largest sample */
	return 0;
}

size_t bins_count(const double *edges, double *counts, size_t n, const double *samples,
                  size_t n_samples)
{
	size_t outside = 0;
	for (size_t i = 0; i < n_samples; i++) {
		size_t lower = 0, upper = n;
		if (n == 0 || !(samples[i] >= edges[0] && samples[i] <= edges[n])) {
			outside++;
			continue;
		}
		while (upper - lower > 1) {
			size_t middle = lower + (upper - lower) / 2;
			if (samples[i] >= edges[middle])
				lower = middle;
			else
				upper = middle;
		}
		counts[lower]++;
	}
	return outside;
}
