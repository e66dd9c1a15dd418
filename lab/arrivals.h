/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts, of the packets that a host sends after an instant, those that arrive. The host numbers
 * its packets, and the low 16 bits of the number are the identification in the IPv4 header. So a
 * packet is known on arrival if its host has sent fewer than 65,536 others since.
 *
 * Thread: the world's.
 */
#ifndef WEIR_LAB_ARRIVALS_H
#define WEIR_LAB_ARRIVALS_H

#include "lab/network.h"

struct arrivals {
	uint64_t after; /* the number of the host's latest packet at that instant */
	uint64_t n;
};

/* Begins to count the packets that the host sends from now on. */
static inline void arrivals_mark(struct arrivals *arrivals, const struct host *from)
{
	*arrivals = (struct arrivals){.after = from->sent};
}

static inline void arrivals_add(struct arrivals *arrivals, const struct host *from, uint16_t id)
{
	uint64_t number = from->sent - (uint16_t)(from->sent - id);

	arrivals->n += number > arrivals->after;
}

#endif
