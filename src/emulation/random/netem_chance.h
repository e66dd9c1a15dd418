/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Correlation as in netem (`as-netem`): its recurrence, with its effect on the rate.
 *
 * Model: numbers of 32 bits. Each is mixed from a fresh one, u, and the one before, x':
 *
 *   x = ((2^32 - rho) u + rho x') / 2^32        rho = R (2^32 - 1), rounded, + 1
 *
 * An event happens if x <= P (2^32 - 1), rounded; never with P = 0. Without a correlation x is u,
 * and x' stays as it is. The first x' is drawn. The x are not uniform: their variance is (1 - R) /
 * (1 + R) of that of u, so events are rarer than a small P says, and more frequent than a large one
 * says; netem_value.h computes by how much. This describes what `tc netem` does; the code is our
 * own.
 *
 * Thread: the owner's.
 */
#ifndef WEIR_NETEM_CHANCE_H
#define WEIR_NETEM_CHANCE_H

#include <stdbool.h>

#include "random/draw.h"

struct netem_recurrence {
	uint32_t rho; /* 0: no correlation */
	uint32_t last;
	bool begun;
};

/* Returns a share as netem's tools pass it to the kernel: 100 % is 2^32 - 1. */
static inline uint32_t netem_share(probability_q63 p)
{
	return (uint32_t)(((unsigned __int128)p * UINT32_MAX + (PROBABILITY_ONE >> 1)) >> 63);
}

static inline uint32_t netem_recurrence_next(struct netem_recurrence *r, uint64_t draw)
{
	uint64_t rho = (uint64_t)r->rho + 1, fresh = (uint32_t)draw;

	if (r->rho == 0)
		return (uint32_t)fresh;
	if (!r->begun)
		r->last = (uint32_t)(draw >> 32);
	r->begun = true;
	r->last = (uint32_t)((fresh * ((UINT64_C(1) << 32) - rho) + r->last * rho) >> 32);
	return r->last;
}

struct netem_chance {
	struct netem_recurrence recurrence;
	uint32_t threshold;
};

static inline struct netem_chance netem_chance_make(probability_q63 p, probability_q63 correlation)
{
	return (struct netem_chance){.recurrence = {.rho = netem_share(correlation)},
	                             .threshold = netem_share(p)};
}

static inline bool netem_chance_next(struct netem_chance *c, uint64_t draw)
{
	return c->threshold != 0 && c->threshold >= netem_recurrence_next(&c->recurrence, draw);
}

#endif
