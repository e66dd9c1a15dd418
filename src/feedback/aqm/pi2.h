/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PI2, coupled: the probabilities of DualPI2 (RFC 9332, appendix A).
 *
 * Model: every `tupdate` the base probability p' grows by
 *
 *   alpha (delay - target) + beta (delay - delay of the update before)        in s and Hz
 *
 * where the delay is the greater of how long the first packet of the Classic queue and that of the
 * L4S queue have waited, 0 without either (figure 8: so L4S packets of senders that do not heed
 * marks are held at the target by drops, with no Classic packet beside them); p' stays within 0
 * and 1. From it come
 *
 *   p_C  = p'^2          of the Classic queue: drops, or marks of ECT(0)
 *   p_CL = coupling p'   of the L4S queue, 1 at most: marks. It is saturated at 1
 *
 * The L4S queue has marks of its own, too: none up to a delay of `min`, all from min + range on,
 * and linear in between (a step, if the range is 0); the larger probability counts.
 *
 * Packets are selected by adding up (the RFC's recur()): each adds its probability, and when the
 * sum exceeds 1, it is selected, and 1 is taken off. No draws.
 *
 * The updates come at begin + n tupdate, ahead of whatever happens at the same instant; they are
 * made up for when something happens. Fixed point: probabilities have 63 bits; what one update adds
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
	simtime update;                 /* the instant of the next */
	probability_q63 base;           /* p' */
	probability_q63 classic, scale; /* p_C, p_CL; 1 is PROBABILITY_ONE */
	simtime delay_before_ns;
};

/* The two queues, since the last call: when the first of their packets came; SIMTIME_NEVER: they
 * have none. Whatever happens at `now` comes behind this. */
void pi2_advance(struct pi2 *pi2, const struct pi2_rule *rule, simtime first_ns, simtime now);
/* The L4S queue's own probability at this delay. */
probability_q63 pi2_ramp(const struct pi2_rule *rule, simtime delay_ns);

/* Other values are in force. */
void pi2_change(struct pi2 *pi2, const struct pi2_rule *rule);

/* What it has come to (snapshot.h). */
void pi2_snapshot(struct pi2 *pi2, struct snapshot *snapshot);

/* recur(): whether this one is selected. The sum begins with 0. */
static inline bool pi2_recur(uint64_t *sum_q62, probability_q63 probability)
{
	*sum_q62 += probability >> 1;
	if (*sum_q62 <= PROBABILITY_ONE >> 1)
		return false;
	*sum_q62 -= PROBABILITY_ONE >> 1;
	return true;
}

#endif
