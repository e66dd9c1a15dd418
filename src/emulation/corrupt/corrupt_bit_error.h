/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `corrupt bit-error P`: each bit of a packet is inverted with probability P.
 *
 * Model: bit_error.h. The gap from one wrong bit to the next is drawn, so the cost of a packet
 * depends only on its wrong bits. The bits are those of the Ethernet frame on the wire, without
 * preamble and FCS. An error in a part that a capture has cut off counts, but changes no byte.
 * Checksums are not corrected. If the mbuf of a packet has another reference, the packet is copied
 * first; if there is no memory for the copy, it is dropped as no-buffer. Ranges: P 0 to 100 %,
 * exactly as written (1e-18 too).
 */
#ifndef WEIR_CORRUPT_BIT_ERROR_H
#define WEIR_CORRUPT_BIT_ERROR_H

#include "scenario/statement.h"

struct corrupt_bit_error_conf {
	struct conf conf;
	struct ratio ber;
	uint32_t keyed; /* enum keyed (keyed.h) */
};

extern const struct statement corrupt_bit_error_statement;

#endif
