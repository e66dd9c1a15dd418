/* SPDX-License-Identifier: BSD-3-Clause */
#include "random/gaussian.h"

#include <math.h>
#include <pthread.h>

static struct gaussian tables;

/* Fills the tables. distribution_fill cannot do it: it clamps to the range of delays, and z is
 * larger. */
static void fill(void)
{
	struct distribution *quantile = &tables.quantile;

	for (int octave = 0; octave < DISTRIBUTION_OCTAVES; octave++) {
		for (int segment = 0; segment <= DISTRIBUTION_SEGMENTS; segment++) {
			double tail =
			        ldexp(1.0 + segment / (double)DISTRIBUTION_SEGMENTS, -(octave + 2));
			int64_t z =
			        llround(ldexp(distribution_normal_quantile(tail), GAUSSIAN_BITS));

			quantile->quantile[0][octave][segment] = -z;
			quantile->quantile[1][octave][segment] = z;
		}
	}
	for (int i = 0; i <= GAUSSIAN_POINTS; i++)
		tables.tail[i] = (uint64_t)ldexp(erfc(i / 256.0 / M_SQRT2) / 2, 64);
}

const struct gaussian *gaussian(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill);
	return &tables;
}
