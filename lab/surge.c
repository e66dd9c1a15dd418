/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/surge.h"

#include <math.h>

#include "random/distribution.h"

#define BODY_MU      9.357
#define BODY_SIGMA   1.318
#define TAIL_ALPHA   1.1
#define REFERENCES   2.43
#define ACTIVE_SCALE 1.46
#define ACTIVE_SHAPE 0.382
#define INACTIVE     1.5

/* Returns the value that is exceeded with probability `tail`. */
static double pareto(double least, double alpha, double tail)
{
	return least * pow(tail, -1 / alpha);
}

static double normal(double u)
{
	return u < 0.5 ? -distribution_normal_quantile(u) : distribution_normal_quantile(1 - u);
}

double surge_file_bytes(double u)
{
	double tail = erfc((log(SURGE_TAIL_BYTES) - BODY_MU) / BODY_SIGMA / M_SQRT2) / 2;

	if (1 - u < tail)
		return pareto(SURGE_TAIL_BYTES, TAIL_ALPHA, (1 - u) / tail);
	return exp(BODY_MU + BODY_SIGMA * normal(u));
}

double surge_references(double u)
{
	return pareto(1, REFERENCES, 1 - u);
}

double surge_active_off_s(double u)
{
	return ACTIVE_SCALE * pow(-log1p(-u), 1 / ACTIVE_SHAPE);
}

double surge_inactive_off_s(double u)
{
	return pareto(1, INACTIVE, 1 - u);
}
