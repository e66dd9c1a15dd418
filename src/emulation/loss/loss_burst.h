/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss burst P length A..B`: losses in runs of a length that is drawn.
 *
 * Model: outside a burst each packet begins one with probability P; its length is uniform on the
 * whole numbers from A to B, that packet included. The next burst may follow at once. With
 * m = (A + B) / 2 the loss rate is P m / (1 - P + P m), and between bursts lie (1 - P) / P packets
 * on average.
 * Ranges: P 0 to 100 %; A, B 1 to 2^31 - 1. A change lets a burst go on that has begun, but not
 * beyond the new B.
 */
#ifndef WEIR_LOSS_BURST_H
#define WEIR_LOSS_BURST_H

#include "random/draw.h"
#include "scenario/statement.h"

#define LOSS_BURST_LENGTH_MAX ((UINT64_C(1) << 31) - 1)

struct loss_burst_conf {
	struct conf conf;
	probability_q63 probability;
	struct range length;
};

extern const struct statement loss_burst_statement;

#endif
