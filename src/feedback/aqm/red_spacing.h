/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses packets evenly spaced: the next one is the N-th after the one before it, with
 *
 *   N = ceil(R / p),  R uniform in (0, 1],
 *
 * so that N is uniform from 1 to 1/p while p is constant. R is drawn once for each chosen packet,
 * and N follows p as it changes: a packet is chosen if it is the first whose count times p is at
 * least R. Source: S. Floyd, V. Jacobson, 1993, section on efficient implementation, and D.
 * Sisalem, H. Schulzrinne, "Binary congestion notification in TCP", section 3.2, which has one such
 * sequence for packets to mark and another for packets to drop.
 *
 * The first packet after a reset draws R, and is not counted.
 * Thread: the owner's.
 */
#ifndef WEIR_RED_SPACING_H
#define WEIR_RED_SPACING_H

#include <stdbool.h>
#include <stdint.h>

#include "random/draw.h"

struct red_spacing {
	uint64_t count; /* packets since the last chosen one */
	uint64_t r_q63; /* R, 1 to 2^63: above 0, at most 1 */
	bool drawn;     /* r_q63 is valid */
};

static inline void red_spacing_reset(struct red_spacing *spacing)
{
	spacing->drawn = false;
}

/* Returns true if this packet is chosen; `draw` is the packet's. */
static inline bool red_spacing_next(struct red_spacing *spacing, probability_q63 p, uint64_t draw)
{
	bool chosen = false;

	if (spacing->drawn) {
		chosen = (unsigned __int128)++spacing->count * p >= spacing->r_q63;
		if (!chosen)
			return false;
	}
	spacing->count = 0;
	spacing->r_q63 = (draw >> 1) + 1;
	spacing->drawn = true;
	return chosen;
}

#endif
