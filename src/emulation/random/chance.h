/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Yes or no for each packet, with a probability and a correlation. The Markov chain below keeps the
 * probability; netem's recurrence (`as-netem`), which comes first, does not.
 *
 * Thread: the owner's.
 */
#ifndef WEIR_CHANCE_H
#define WEIR_CHANCE_H

#include <stdbool.h>

#include "random/draw.h"
#include "snapshot/snapshot.h"

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
 */

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

/* Returns the state that was remembered elsewhere as this number, which may be any. */
static inline enum correlated_before correlated_recalled(uint64_t before)
{
	return before <= CORRELATED_YES ? (enum correlated_before)before : CORRELATED_FIRST;
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

#define CHANCE_AS_NETEM_HELP "use netem's recurrence instead of the Markov chain"

struct chance {
	bool as_netem;
	struct correlated correlated;
	struct netem_chance netem;
};

static inline struct chance chance_make(probability_q63 p, probability_q63 correlation,
                                        bool as_netem)
{
	return (struct chance){.as_netem = as_netem,
	                       .correlated = correlated_make(p, correlation),
	                       .netem = netem_chance_make(p, correlation)};
}

static inline bool chance_next(struct chance *chance, uint64_t draw)
{
	if (__builtin_expect(chance->as_netem, 0))
		return netem_chance_next(&chance->netem, draw);
	return correlated_next(&chance->correlated, draw);
}

/* The same for a burst of up to 64; bit i belongs to packet i. */
static inline uint64_t chance_next_burst(struct chance *chance, const uint64_t *draw, uint32_t n)
{
	uint64_t which = 0;

	if (__builtin_expect(n == 0, 0) ||
	    (!chance->as_netem && correlated_next_burst(&chance->correlated, draw, n, &which)))
		return which;
	for (uint32_t i = 0; i < n; i++)
		which |= (uint64_t)chance_next(chance, draw[i]) << i;
	return which;
}

/* Continues from the state of another one, after a change. */
static inline void chance_adopt(struct chance *chance, const struct chance *old)
{
	chance->correlated.before = old->correlated.before;
	chance->netem.recurrence.last = old->netem.recurrence.last;
	chance->netem.recurrence.begun = old->netem.recurrence.begun;
}

/* Writes or reads the state that previous packets have left (snapshot.h). */
static inline void chance_snapshot(struct chance *chance, struct snapshot *snapshot)
{
	struct netem_recurrence *netem = &chance->netem.recurrence;

	chance->correlated.before = (enum correlated_before)snapshot_index(
	        snapshot, chance->correlated.before, CORRELATED_YES + 1);
	snapshot_value(snapshot, netem->last);
	netem->begun = snapshot_flag(snapshot, netem->begun);
}

#endif
