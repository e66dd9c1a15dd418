/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss bit-error P`: a packet is lost if at least one of its bits is wrong, as a frame with a
 * wrong check sequence is.
 *
 * Model: bit_error.h. A packet of L bytes is lost with probability 1 - (1 - P)^(8 L), independently
 * of all others. L is the length of the Ethernet frame on the wire, without preamble and FCS; bytes
 * that a capture has cut off count.
 *
 * Ranges: P 0 to 100 %, exactly as written (1e-18 too).
 */
#ifndef WEIR_LOSS_BIT_ERROR_H
#define WEIR_LOSS_BIT_ERROR_H

#include "scenario/statement.h"

struct loss_bit_error_conf {
	struct conf conf;
	struct ratio ber;
	uint32_t keyed; /* enum keyed (keyed.h) */
};

extern const struct statement loss_bit_error_statement;

#endif
