/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The length of a packet on a link: `overhead` of `rate`, computed from the length of its frame.
 *
 * Model: the frame's length without preamble and FCS, as in a capture, and then
 *
 *   layer2        unchanged
 *   layer3        14 less: without the Ethernet header; VLAN tags count as part of the packet
 *   layer1        24 more: FCS, preamble, start delimiter and gap between frames
 *                 (4 + 7 + 1 + 12); a frame of less than 60 is padded to that first, as in
 *                 Ethernet
 *   N             N more, or less if it is negative
 *   atm           AAL5: the packet of layer 3, `encap` bytes and the trailer of 8, in as many
 *                 cells of 48 bytes as it needs, each of which is 53 on the wire (RFC 2684)
 *   cell S cell-overhead O   in as many cells of S bytes as the above needs, each S + O on the
 *                            wire
 *
 * A length is never below 1. A frame that claims to be longer than any can be (PACKET_BYTES_MAX)
 * keeps its length.
 * Thread: pure functions, any.
 */
#ifndef WEIR_OVERHEAD_H
#define WEIR_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/packet.h"

struct overhead {
	bool given;     /* it is in the scenario, even if it adds nothing */
	bool none;      /* the fields below are not used */
	int32_t add;    /* to every packet */
	uint32_t least; /* shorter frames are padded to this, before `add` */
	uint32_t cell;  /* 0: no cells */
	uint32_t cell_wire;
};

#define OVERHEAD_NONE ((struct overhead){.none = true})

/* Returns true if both give every frame the same length. */
static inline bool overhead_is_same(const struct overhead *a, const struct overhead *b)
{
	return a->none == b->none && a->add == b->add && a->least == b->least &&
	       a->cell == b->cell && a->cell_wire == b->cell_wire;
}

/* Not inline: most links have no overhead. */
static __attribute__((noinline, unused)) uint32_t overhead_applied(const struct overhead *overhead,
                                                                   uint32_t bytes)
{
	int64_t length = bytes > overhead->least ? bytes : overhead->least;

	if (bytes > PACKET_BYTES_MAX)
		return bytes;
	length += overhead->add;
	if (length < 1)
		length = 1;
	if (overhead->cell)
		length = (length + overhead->cell - 1) / overhead->cell * overhead->cell_wire;
	return (uint32_t)length;
}

/* Returns the length that counts on the link, of a frame of so many bytes. */
static inline uint32_t overhead_length(const struct overhead *overhead, uint32_t bytes)
{
	return __builtin_expect(overhead->none, 1) ? bytes : overhead_applied(overhead, bytes);
}

#endif
