/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inverts single bits of a frame, in any of its segments. Bit 0 is the most significant of byte 0,
 * as on paper; the order on the wire does not matter here.
 *
 * Thread: the owner of the mbuf, which must have no other reference (copy.h).
 */
#ifndef WEIR_FLIP_H
#define WEIR_FLIP_H

#include <stdint.h>

#include "packet/headers.h"

/* Inverts bits of a frame in ascending order, in one pass over the segments. All the bits must be
 * there. Begins with the first segment and `before` 0. */
struct flips {
	struct rte_mbuf *segment;
	uint64_t before; /* bytes ahead of the segment */
};

static inline void flips_next(struct flips *flips, uint64_t bit)
{
	uint64_t byte = bit / 8;

	for (; byte - flips->before >= flips->segment->data_len;
	     flips->segment = flips->segment->next)
		flips->before += flips->segment->data_len;
	rte_pktmbuf_mtod(flips->segment, uint8_t *)[byte - flips->before] ^=
	        (uint8_t)(0x80 >> (bit % 8));
}

/* Inverts a bit, unless it lies behind the end of what is there. */
static inline void flip_bit(struct rte_mbuf *mbuf, uint64_t bit)
{
	uint64_t byte = bit / 8;

	for (; mbuf; mbuf = mbuf->next) {
		if (byte < mbuf->data_len) {
			rte_pktmbuf_mtod(mbuf, uint8_t *)[byte] ^= (uint8_t)(0x80 >> (bit % 8));
			return;
		}
		byte -= mbuf->data_len;
	}
}

#endif
