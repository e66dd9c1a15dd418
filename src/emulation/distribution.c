/* SPDX-License-Identifier: BSD-3-Clause */
#include "distribution.h"

#include <math.h>

void distribution_fill(struct distribution *distribution,
                       double (*value)(const void *argument, double tail, int upper),
                       const void *argument)
{
	for (int upper = 0; upper < 2; upper++) {
		for (int octave = 0; octave < DISTRIBUTION_OCTAVES; octave++) {
			for (int segment = 0; segment <= DISTRIBUTION_SEGMENTS; segment++) {
				double tail = ldexp(1.0 + segment / (double)DISTRIBUTION_SEGMENTS,
				                    -(octave + 2));

				distribution->quantile[upper][octave][segment] =
				        llround(value(argument, tail, upper));
			}
		}
	}
}

static double uniform_value(const void *argument, double tail, int upper)
{
	double half_width = *(const double *)argument;

	return upper ? half_width * (1 - 2 * tail) : half_width * (2 * tail - 1);
}

void distribution_uniform(struct distribution *distribution, uint64_t half_width_ns)
{
	double half_width = (double)half_width_ns;

	distribution_fill(distribution, uniform_value, &half_width);
}

/* The x with erfc(x / sqrt 2) / 2 = tail, by Newton's method on the logarithm, which is nearly a
 * parabola and converges from anywhere. */
static double normal_quantile(double tail)
{
	double x = sqrt(-2 * log(2 * tail) * 0.9);

	for (int i = 0; i < 60; i++) {
		double q = erfc(x / M_SQRT2) / 2;
		double density = exp(-x * x / 2) / sqrt(2 * M_PI);
		double step = q / density * log(q / tail);

		x += step;
		if (fabs(step) < 1e-14 * (1 + x))
			break;
	}
	return x;
}

static double normal_value(const void *argument, double tail, int upper)
{
	double deviation = *(const double *)argument;
	double x = tail >= 0.5 ? 0 : normal_quantile(tail);

	return upper ? deviation * x : -deviation * x;
}

void distribution_normal(struct distribution *distribution, uint64_t deviation_ns)
{
	double deviation = (double)deviation_ns;

	distribution_fill(distribution, normal_value, &deviation);
}
