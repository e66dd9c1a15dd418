/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A probability distribution of nanoseconds, drawn by inversion from a table of quantiles: the
 * packet path needs one uniform 64-bit number, a table look-up and an integer interpolation.
 *
 * The table is dense where it matters: on each side of the median, every halving of the remaining
 * probability has 64 segments of its own, down to a tail of 2^-33. The values are piecewise linear
 * in between, clamped beyond.
 *
 * Units: ns, signed: the deviation from the mean. Thread: made by control, then read only.
 */
#ifndef WEIR_DISTRIBUTION_H
#define WEIR_DISTRIBUTION_H

#include <stdint.h>

#define DISTRIBUTION_OCTAVES  32
#define DISTRIBUTION_SEGMENTS 64

struct distribution {
	/* [upper][octave][segment]: the quantile where the tail probability beyond is
	 * (1 + segment / 64) / 2^(octave + 2). */
	int64_t quantile[2][DISTRIBUTION_OCTAVES][DISTRIBUTION_SEGMENTS + 1];
};

/* Fills the table from the inverse of the distribution function: value(argument, tail, upper) is
 * the deviation that the distribution exceeds (upper) or stays below (else) with probability
 * `tail`, 0 < tail <= 0.5. */
void distribution_fill(struct distribution *distribution,
                       double (*value)(const void *argument, double tail, int upper),
                       const void *argument);
void distribution_uniform(struct distribution *distribution, uint64_t half_width_ns);
void distribution_normal(struct distribution *distribution, uint64_t deviation_ns);

static inline int64_t distribution_draw(const struct distribution *distribution, uint64_t uniform)
{
	uint64_t tail = uniform << 1 | 1; /* the tail probability, in units of 2^-65 */
	uint32_t octave = (uint32_t)__builtin_clzll(tail);
	uint64_t mantissa;
	const int64_t *at;
	uint32_t segment;
	int64_t step;

	if (octave >= DISTRIBUTION_OCTAVES)
		return distribution->quantile[uniform >> 63][DISTRIBUTION_OCTAVES - 1][0];
	mantissa = tail << octave << 1;
	segment = (uint32_t)(mantissa >> 58);
	at = &distribution->quantile[uniform >> 63][octave][segment];
	step = (int64_t)(((__int128)(at[1] - at[0]) * (int64_t)(mantissa << 6 >> 32)) >> 32);
	return at[0] + step;
}

#endif
