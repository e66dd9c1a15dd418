/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PI2, coupled: the probabilities of DualPI2 (RFC 9332, appendix A).
 *
 * Model: every `tupdate` the base probability p' grows by
 *
 *   alpha (delay - target) + beta (delay - delay of the update before)        in s and Hz
 *
 * where the delay is how long the first packet of the Classic queue or that of the L4S queue has
 * waited, whichever is longer, and 0 if both are empty. (Figure 8: so drops hold the L4S packets of
 * senders that ignore marks at the target, even without Classic packets.) p' stays within 0 and 1.
 * Two probabilities follow from it:
 *
 *   p_C  = p'^2          of the Classic queue: drops, or marks of ECT(0)
 *   p_CL = coupling p'   of the L4S queue, 1 at most: marks. It is saturated at 1
 *
 * The L4S queue also marks by a ramp of its own: none up to a delay of `min`, all from min + range
 * on, and linear in between (a step, if the range is 0). The larger probability counts.
 *
 * Packets are selected by adding up (the RFC's recur()): each packet adds its probability to a sum.
 * If the sum exceeds 1, the packet is selected, and 1 is subtracted. No draws.
 *
 * The updates are due at begin + n tupdate, before everything else at the same instant. They are
 * executed late, at the next event. Fixed point: probabilities have 63 bits; the step of an update
 * is rounded towards 0, once.
 *
 * Thread: the owner's.
 */
#ifndef WEIR_PI2_H
#define WEIR_PI2_H

#include <stdbool.h>
#include <stdint.h>

#include "random/draw.h"
#include "simtime.h"

struct snapshot;

struct pi2_rule {
	simtime target_ns, tupdate_ns;
	uint64_t alpha, beta; /* millionths of a Hz */
	uint64_t coupling;    /* millionths */
	simtime min_ns, range_ns;
};

struct pi2 {
	bool begun;
	simtime update;                 /* of the next update */
	probability_q63 base;           /* p' */
	probability_q63 classic, scale; /* p_C, p_CL; 1 is PROBABILITY_ONE */
	simtime delay_before_ns;
};

/* Executes the updates up to `now`, before anything else that happens at `now`. `first_ns` is when
 * the earliest of the packets that wait in the two queues arrived, unchanged since the last call;
 * SIMTIME_NEVER if both are empty. */
void pi2_advance(struct pi2 *pi2, const struct pi2_rule *rule, simtime first_ns, simtime now);
/* Returns the L4S queue's own probability at this delay. */
probability_q63 pi2_ramp(const struct pi2_rule *rule, simtime delay_ns);

/* Computes p_C and p_CL with a changed rule. */
void pi2_change(struct pi2 *pi2, const struct pi2_rule *rule);

/* Writes or reads its state (snapshot.h). */
void pi2_snapshot(struct pi2 *pi2, struct snapshot *snapshot);

/* recur(): returns true if this packet is selected. The sum begins with 0. */
static inline bool pi2_recur(uint64_t *sum_q62, probability_q63 probability)
{
	*sum_q62 += probability >> 1;
	if (*sum_q62 <= PROBABILITY_ONE >> 1)
		return false;
	*sum_q62 -= PROBABILITY_ONE >> 1;
	return true;
}

#endif
