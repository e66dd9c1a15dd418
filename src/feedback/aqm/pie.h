/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PIE: a queue's delay held at a target by a proportional integral controller (RFC 8033).
 *
 * Model: every `tupdate` the probability of selection grows by
 *
 *   alpha (delay - target) + beta (delay - delay of the update before)        in s and Hz
 *
 * divided by 2048, 512, 128, 32, 8, 2 while the probability is below 1e-6, 1e-5, 1e-4, 0.001, 0.01,
 * 0.1 (the RFC's auto-tuning). With `cap`, it grows by at most 0.02 from 0.1 on (section 5.5). If
 * both delays are 0, it also loses 2 % (section 4.2, appendix A); with `decay_half`, if both are
 * below half the target (appendix B). It stays within 0 and 1.
 *
 * An arriving packet is selected with that probability, but not
 *   - while a burst is allowed: for `max_burst` of updates since the queue was at peace
 *     (probability 0, both delays below half the target)
 *   - if the delay of the last update was below half the target, and the probability is below 0.2
 *   - if 2 mean packets or less wait
 *   - with `derandomize` (section 5.4), until the sum of the probabilities of all packets since the
 *     last one that was selected, or found the queue full, has reached 0.85. From a sum of 8.5 on,
 *     every packet is selected. Nothing is added while a burst is allowed (appendix B does add;
 *     section 4.4 says that a burst bypasses all this)
 *
 * The delay is the time that the packet taken last has waited (section 4.3's time stamps). If
 * nothing waits behind that packet, it is 0, as in Linux and ns-3: the RFC's pseudocode would keep
 * the delay of the last packet of a burst until another packet comes. Not modelled: the estimate of
 * the departure rate (5.2), which the time stamps replace; inactive PIE (5.3).
 *
 * The updates are due at begin + n tupdate, before everything else at the same instant. They are
 * executed at the next event, as nothing changes in between. Once they change nothing any more, the
 * rest is skipped.
 *
 * Fixed point: a probability has 63 bits; the step of an update is rounded towards 0, once.
 *
 * Deterministic; the caller passes the draw.
 * Thread: the owner's.
 */
#ifndef WEIR_PIE_H
#define WEIR_PIE_H

#include <stdbool.h>
#include <stdint.h>

#include "random/draw.h"
#include "simtime.h"

struct snapshot;

#define PIE_GAIN_MAX 1000 /* Hz, of alpha and beta */

struct pie_rule {
	simtime target_ns, tupdate_ns, max_burst_ns;
	uint64_t alpha, beta; /* millionths of a Hz */
	uint64_t mean_bytes;
	bool derandomize, cap, decay_half;
};

struct pie {
	bool begun;
	simtime update;       /* of the next update */
	uint64_t probability; /* 1 is 2^63 */
	simtime delay_ns, delay_before_ns;
	simtime burst_ns;      /* left of the allowed burst */
	uint64_t gathered_q59; /* sum of the probabilities since the last selection */
};

/* Executes the updates up to `now`, before anything else that happens at `now`. */
void pie_advance(struct pie *pie, const struct pie_rule *rule, simtime now);
/* Returns true if a packet that arrives while `waiting_bytes` wait is selected. */
bool pie_select(struct pie *pie, const struct pie_rule *rule, uint64_t waiting_bytes,
                uint64_t draw);
/* Records that a packet found the queue full. */
void pie_overflowed(struct pie *pie);
/* Puts a changed rule in force. */
void pie_change(struct pie *pie, const struct pie_rule *rule);

/* Writes or reads its state (snapshot.h). */
void pie_snapshot(struct pie *pie, struct snapshot *snapshot);

/* Returns the step of a proportional integral controller, in 2^-63: the gains times the
 * differences, divided by 2^shift. */
int64_t pie_step(uint64_t alpha, uint64_t beta, int64_t over_target_ns, int64_t growth_ns,
                 uint32_t shift);

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
 */

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
