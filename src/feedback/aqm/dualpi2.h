/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `dualpi2 [target T] [tupdate T] [alpha A] [beta B] [coupling K] [min T] [range T] [min-packets N]
 * [classic-share P]`: two queues with coupled managements for L4S (RFC 9332) on a link.
 *
 * Model: packets with ECT(1) or CE wait in the L4S queue, all others in the Classic queue; the
 * limit of the link's queue holds for both together. When the link is free, the L4S queue has
 * priority, but the Classic queue gets `classic-share` of the bytes while both have packets
 * (weighted round robin). pie.h decides about the packet that is taken:
 *   L4S      marked with the larger of p_CL and the probability of its own ramp. The ramp does not
 *            apply while `min-packets` or less wait, the packet included. If p_CL is saturated,
 *            packets are also dropped, with p_C (the RFC's overload)
 *   Classic  selected with p_C: ECT(0) is marked, the rest is dropped. From p_C = 1/coupling^2
 *            (1 at most) on, ECT(0) is dropped, too
 * The reason of the drops is `dualpi2`. After a drop the next packet takes its turn.
 *
 *   target         of the delay, which is that of the queue whose first packet waits longer: 15 ms
 *   tupdate        16 ms, as in the appendix's text; its figure 2 has min(target, RTT_max/3) = 15
 *                  ms
 *   alpha, beta    in Hz: 0.16 and 3.2, 0.1 tupdate/RTT_max^2 and about 0.3/RTT_max for 100 ms
 *   coupling       2; 0.000001 to 1000
 *   min, range     of the ramp: 800 us and 400 us, as in the appendix; range 0s is a step
 *   min-packets    1 (the RFC's Th_len; the packet itself counts, as in its text)
 *   classic-share  1/16, as section 4.2.2 recommends
 *
 * Marking is RFC 3168's, with or without `ecn on`; `ecn off` and `standard 2481` beside it are
 * refused. A change keeps both queues and the state. No draws.
 */
#ifndef WEIR_DUALPI2_H
#define WEIR_DUALPI2_H

#include "random/draw.h"
#include "scenario/statement.h"

struct dualpi2_conf {
	struct conf conf;
	simtime target_ns, tupdate_ns;
	uint64_t alpha, beta, coupling; /* millionths */
	simtime min_ns, range_ns;
	uint64_t min_packets;
	probability_q63 classic_share;
};

extern const struct statement dualpi2_statement;

#endif
