/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss four-state p13 P p31 P [p32 P] [p23 P] [p14 P]`: the GI model (Salsano, Ludovici, Ordine,
 * "Definition of a general and intuitive loss model for packet networks and its implementation in
 * the netem module in the Linux kernel", 2009).
 *
 * Model: a Markov chain of four states. It moves before each packet, and its new state decides:
 *   1 gap: received         p13 to 3, p14 to 4
 *   2 in a burst: received  p23 to 3
 *   3 in a burst: lost      p31 to 1, p32 to 2
 *   4 in a gap: lost        always to 1
 * Stationary: s3 = s1 p13 / p31, s4 = s1 p14, s2 = s3 p32 / p23; the loss rate is s3 + s4. The
 * chain begins in 1. Defaults are those of netem: p32 and p14 are 0, p23 is 100 %. p13 + p14 and
 * p31 + p32 are at most 100 %; sums within 2^-62 of it count as 100 % (decimal fractions such as 30
 * % are not exact in binary). A change keeps the state. `ecn`: loss_or_mark.h.
 */
#ifndef WEIR_LOSS_FOUR_STATE_H
#define WEIR_LOSS_FOUR_STATE_H

#include <stdbool.h>

#include "random/draw.h"
#include "scenario/statement.h"

struct loss_four_state_conf {
	struct conf conf;
	probability_q63 p13, p31, p32, p23, p14;
	bool ecn;
	uint32_t keyed; /* enum keyed (keyed.h) */
};

extern const struct statement loss_four_state_statement;

#endif
