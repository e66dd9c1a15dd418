/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Yes or no for each packet, with a probability and a correlation. The Markov chain of correlated.h
 * keeps the probability; netem's recurrence (`as-netem`, netem_chance.h) does not.
 *
 * Thread: the owner's.
 */
#ifndef WEIR_CHANCE_H
#define WEIR_CHANCE_H

#include "random/correlated.h"
#include "random/netem_chance.h"
#include "snapshot/snapshot.h"

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
