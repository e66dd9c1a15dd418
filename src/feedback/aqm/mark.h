/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `mark above T`: a drop-tail queue that marks every packet that finds T or more waiting.
 *
 * Model: BCN-TCP's drop-tail queue with a marking threshold below its limit; the step marking of
 * DCTCP (RFC 8257, section 3.1) on the present length of the queue, not an average. A packet that
 * comes when at least T wait (without itself, and without what the leaky bucket is sending) is
 * marked if it is capable of ECN, and dropped with the reason `not-capable` if it is not. T is in
 * bytes, packets, or time at the present rate of the link. `ecn` beside it says which packets are
 * capable; without it, those of RFC 3168.
 *
 * No state, no randomness. T: 1 B, 1 pkt or 1 ns and more.
 */
#ifndef WEIR_MARK_H
#define WEIR_MARK_H

#include "scenario/statement.h"

struct mark_conf {
	struct conf conf;
	struct limit above;
};

extern const struct statement mark_statement;

#endif
