/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `mark above T`: a drop-tail queue that marks every packet that arrives while T or more wait.
 *
 * Model: BCN-TCP's drop-tail queue with a marking threshold below its limit; the step marking of
 * DCTCP (RFC 8257, section 3.1), applied to the current length of the queue, not to an average. If
 * at least T wait (without the arriving packet, and without what the leaky bucket is sending), an
 * arriving packet is marked if it is capable of ECN, and otherwise dropped with the reason
 * `not-capable`. T is in bytes, packets, or time at the current rate of the link. `ecn` beside it
 * says which packets are capable; without `ecn`, RFC 3168 does.
 *
 * No state, no randomness. T: at least 1 B, 1 pkt or 1 ns.
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
