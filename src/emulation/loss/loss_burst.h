/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss burst P length A..B`: losses in runs of random length.
 *
 * Model: outside a burst each packet begins one with probability P. The length of the burst is
 * uniform on the whole numbers from A to B and includes that packet. The next burst may follow at
 * once. With m = (A + B) / 2, the loss rate is P m / (1 - P + P m), and (1 - P) / P packets lie
 * between bursts on average.
 *
 * Ranges: P 0 to 100 %; A, B 1 to 2^31 - 1. After a change, a burst that has begun continues, but
 * not beyond the new B.
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
	uint32_t keyed; /* enum keyed (keyed.h) */
};

extern const struct statement loss_burst_statement;

#endif
