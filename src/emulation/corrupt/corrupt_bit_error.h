/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `corrupt bit-error P`: each bit of a packet is inverted with probability P.
 *
 * Model: bit_error.h. The gap from one wrong bit to the next is drawn, so a packet costs no more
 * than its wrong bits do. The bits are those of the Ethernet frame on the wire, without preamble
 * and FCS. An error in the part that a capture has cut off counts, and changes nothing that is
 * there. Checksums are not corrected. A packet whose buffer has another reference is copied first;
 * without memory for that it is dropped as no-buffer. Ranges: P 0 to 100 %, exact as it is written
 * (1e-18 too).
 */
#ifndef WEIR_CORRUPT_BIT_ERROR_H
#define WEIR_CORRUPT_BIT_ERROR_H

#include "scenario/statement.h"

struct corrupt_bit_error_conf {
	struct conf conf;
	struct ratio ber;
};

extern const struct statement corrupt_bit_error_statement;

#endif
