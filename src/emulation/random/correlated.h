/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Yes or no for each packet, with a probability and a correlation between neighbours.
 *
 * Model: a two-state Markov chain. With probability p and correlation r
 *
 *   P(yes | yes before) = p + r (1 - p)        P(yes | no before) = p (1 - r)
 *
 * The share of yes is p for any r, and the autocorrelation at lag k is r^k. The first packet is yes
 * with probability p. (netem's `x = (1 - r) u + r x` does not keep the share: docs/loss.md.) p = 0
 * and p = 1 hold for every packet, also right after a change.
 *
 * Ranges: p, r 0 to 1. r = 1: all packets are what the first one is.
 * Thread: the owner's.
 */
#ifndef WEIR_CORRELATED_H
#define WEIR_CORRELATED_H

#include <stdbool.h>

#include "random/draw.h"

enum correlated_before { CORRELATED_FIRST, CORRELATED_NO, CORRELATED_YES };

struct correlated {
	probability_q63 after[3]; /* by enum correlated_before */
	enum correlated_before before;
};

static inline struct correlated correlated_make(probability_q63 p, probability_q63 correlation)
{
	struct correlated c = {.after = {p, p, p}};

	if (p != 0 && p != PROBABILITY_ONE) {
		c.after[CORRELATED_YES] += probability_product(PROBABILITY_ONE - p, correlation);
		c.after[CORRELATED_NO] -= probability_product(p, correlation);
	}
	return c;
}

static inline bool correlated_next(struct correlated *c, uint64_t draw)
{
	bool yes = draw_below(draw, c->after[c->before]);

	c->before = yes ? CORRELATED_YES : CORRELATED_NO;
	return yes;
}

/* The same for a burst of 1 to 64, if the packets before do not matter: bit i of `which` belongs to
 * packet i. Returns false, and draws nothing, if they do. */
static inline bool correlated_next_burst(struct correlated *c, const uint64_t *draw, uint32_t n,
                                         uint64_t *which)
{
	const probability_q63 p = c->after[CORRELATED_FIRST];
	uint64_t yes = 0;

	if (c->after[CORRELATED_NO] != p || c->after[CORRELATED_YES] != p || n > 64)
		return false;
	for (uint64_t i = 0; i < n; i++)
		yes |= (uint64_t)(draw[i] >> 1 < p) << i;
	c->before = yes >> (n - 1) & 1 ? CORRELATED_YES : CORRELATED_NO;
	*which = yes;
	return true;
}

#endif
