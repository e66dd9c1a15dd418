/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jitter as netem draws it (`as-netem`), including the effect on the correlation.
 *
 * Model: x is a 32-bit number of netem's recurrence (chance.h). Without a distribution the
 * delay is delay - j + x mod 2j. With one it is the entry x mod n of a table of n quantiles, 4,096
 * of them for the named distributions; each is a whole number from -32768 to 32767 of 1/8192 of the
 * jitter, so no delay is further from the mean than 4 jitters. The modulo uses the low digits of x,
 * which hardly depend on the packet before: the delays have their distribution, but no correlation,
 * whatever is configured. A jitter of more than 2.1 s, where netem's 32 bits overflow, is spread
 * evenly, too.
 *
 * Ownership: the table belongs to the jitter.
 * Thread: made by control, then only read.
 */
#ifndef WEIR_JITTER_NETEM_H
#define WEIR_JITTER_NETEM_H

#include "random/chance.h"
#include "random/distribution.h"

#define JITTER_NETEM_ENTRIES 4096
#define JITTER_NETEM_UNIT    8192

struct jitter_netem {
	uint32_t rho;
	uint32_t n;       /* entries; 0: uniform */
	uint64_t wide_ns; /* uniform: 2j */
	int64_t *entry;   /* ns; owned */
};

/* Without a `table`: uniform, of half the width `jitter_ns`. Else drawn from `table`, which has the
 * same jitter: quantiles are clipped and rounded as in netem's tables; a DISTRIBUTION_GRID is such
 * a table already. Returns 0 or -ENOMEM. */
int jitter_netem_make(struct jitter_netem *netem, probability_q63 correlation, uint64_t jitter_ns,
                      const struct distribution *table);
void jitter_netem_release(struct jitter_netem *netem);

static inline int64_t jitter_netem_deviation(const struct jitter_netem *netem, uint32_t x)
{
	uint64_t wide = netem->wide_ns;

	if (netem->n > 0)
		return netem->entry[x % netem->n];
	if (wide <= UINT32_MAX)
		return (int64_t)(x % wide) - (int64_t)(wide / 2);
	return (int64_t)(((unsigned __int128)x * wide) >> 32) - (int64_t)(wide / 2);
}

#endif
