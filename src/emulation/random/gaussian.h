/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The standard normal distribution in integers, in both directions: from a uniform number to z, and
 * back. A round trip reproduces the tail probability to 1e-4 of it, down to tails of 2^-33.
 *
 * z is a fixed-point number with GAUSSIAN_BITS fraction bits; |z| < 6.5.
 *
 * Thread: control calls gaussian() once before the packet path; the tables never change.
 */
#ifndef WEIR_GAUSSIAN_H
#define WEIR_GAUSSIAN_H

#include "random/distribution.h"

#define GAUSSIAN_BITS 56

/* The table of the way back: a point every 2^-8. */
#define GAUSSIAN_STEP_BITS 48
#define GAUSSIAN_POINTS    1665

struct gaussian {
	struct distribution quantile;       /* of z */
	uint64_t tail[GAUSSIAN_POINTS + 1]; /* the probability beyond i / 256, times 2^64 */
};

const struct gaussian *gaussian(void);

static inline int64_t gaussian_draw(const struct gaussian *gaussian, uint64_t uniform)
{
	return distribution_draw(&gaussian->quantile, uniform);
}

/* Returns the uniform number, as distribution_draw takes it, whose quantile is z. */
static inline uint64_t gaussian_uniform(const struct gaussian *gaussian, int64_t z)
{
	uint64_t size = (uint64_t)(z < 0 ? -z : z);
	uint64_t i = size >> GAUSSIAN_STEP_BITS;
	uint64_t part = size & ((UINT64_C(1) << GAUSSIAN_STEP_BITS) - 1);
	uint64_t tail;

	if (i >= GAUSSIAN_POINTS)
		return (uint64_t)(z > 0) << 63;
	tail = gaussian->tail[i] -
	       (uint64_t)(((unsigned __int128)(gaussian->tail[i] - gaussian->tail[i + 1]) * part) >>
	                  GAUSSIAN_STEP_BITS);
	if (tail > UINT64_MAX >> 1)
		tail = UINT64_MAX >> 1;
	return (uint64_t)(z > 0) << 63 | tail;
}

#endif
