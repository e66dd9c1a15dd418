/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts, of the packets that a host sends after an instant, those that arrive; of the copies of a
 * packet, the first. The host numbers its packets, and the low 16 bits of the number are the
 * identification in the IPv4 header. So a packet is known on arrival if its host has sent fewer
 * than 65,536 others since. For each of so many, the host has a bit: it has arrived.
 *
 * Ownership: the host owns its bits.
 * Thread: the world's.
 */
#ifndef WEIR_LAB_ARRIVALS_H
#define WEIR_LAB_ARRIVALS_H

#include <errno.h>
#include <stdlib.h>

#include "lab/network.h"

#define ARRIVALS_WORD_BITS 64u
#define ARRIVALS_WORDS     ((UINT16_MAX + 1u) / ARRIVALS_WORD_BITS)

struct arrivals {
	uint64_t after; /* the number of the host's latest packet at that instant */
	uint64_t n;
};

/* Gives the host its bits, before it sends anything. Returns 0 or -ENOMEM. */
static inline int arrivals_open(struct host *from)
{
	if (!from->arrived)
		from->arrived = calloc(ARRIVALS_WORDS, sizeof(*from->arrived));
	return from->arrived ? 0 : -ENOMEM;
}

/* Begins to count the packets that the host sends from now on. */
static inline void arrivals_mark(struct arrivals *arrivals, const struct host *from)
{
	*arrivals = (struct arrivals){.after = from->sent};
}

static inline uint64_t *arrivals_word(const struct host *from, uint16_t id, uint64_t *bit)
{
	*bit = UINT64_C(1) << id % ARRIVALS_WORD_BITS;
	return &from->arrived[id / ARRIVALS_WORD_BITS];
}

/* Returns the number of the next packet, which has not arrived. */
static inline uint16_t arrivals_number(struct host *from)
{
	uint16_t id = (uint16_t)++from->sent;
	uint64_t bit;

	if (from->arrived)
		*arrivals_word(from, id, &bit) &= ~bit;
	return id;
}

/* Returns false if a copy of this packet has arrived before. */
static inline bool arrivals_add(struct arrivals *arrivals, const struct host *from, uint16_t id)
{
	uint64_t number = from->sent - (uint16_t)(from->sent - id), bit;
	uint64_t *word = arrivals_word(from, id, &bit);
	bool first = !(*word & bit);

	*word |= bit;
	arrivals->n += first && number > arrivals->after;
	return first;
}

#endif
