/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random early detection: decides what happens to a packet that arrives at a queue.
 *
 * Model: ns-2's (queue/red.cc of ns-2.35), decision by decision. `q` is what waits, in the unit of
 * the queue (bytes or packets), without the arriving packet and the one that is being sent.
 *
 *   average: red_average.h; after an idle time it is first decayed by the number of packets of
 *            `mean` bytes that the link could have sent meanwhile, rounded down
 *   average below `min`, or q <= 1: the packet passes
 *   average from max (gentle: 2 max) on: forced
 *   the first packet with the average from `min` on: passes, and the counts begin with it
 *   else p = max_p (average - min) / (max - min), and gentle, from max on,
 *        p = max_p + (1 - max_p) (average - max) / max
 *        c = packets since the last one selected; in bytes: their bytes / mean, rounded down
 *        wait: p' = 0 if c p < 1; p / (2 - c p) if c p < 2; else 1
 *        else  p' = p / (1 - c p) if c p < 1; else 1
 *        in bytes, if p' < 1: p' = p' size / mean
 *        selected if the draw is below p'
 *
 * Unspaced, there are no counts and no first packet: p' = p, independently for each packet. ns-2
 * does not have this. It is what "the marking probability" p means in a paper such as Misra and
 * Ott's.
 *
 * A packet that is selected or forced is marked if it can be marked and the average is below
 * `mark_limit`; otherwise it is dropped. Either, and a full queue, restarts the counts.
 *
 * Two variants of the selection:
 *   - spaced (BCN-TCP's switch): between min and the forced zone, red_spacing.h selects packets
 *     that can be marked with p, and the others with alpha p; each kind has a count of its own;
 *   - mapped (ECN-mod's router): packets that are `chosen` and can be marked are selected with
 *     p_mod(p), independently. They are not in the counts, which are those of the other packets.
 *
 * Adaptive: ns-2's adaptive_ with its values. An arrival more than 0.5 s after the last change
 * changes max_p: if average < min + 0.4 (max - min) and max_p > bottom, max_p *= 0.9; if average >
 * max - 0.4 (max - min) and max_p < 0.5, max_p += the smaller of 0.01 and max_p / 4. bottom is
 * 0.01, or 80 kbit/s divided by the rate if that is less. As in ns-2, p above max under gentle is
 * computed with the configured max_p.
 *
 * All arithmetic is on integers. The draw is the packet's own, so the outcome depends on the
 * arrivals and nothing else.
 * Thread: the worker that owns the cloud; control makes the rule.
 */
#ifndef WEIR_RED_H
#define WEIR_RED_H

#include <stdbool.h>
#include <stdint.h>

#include "aqm/p_mod.h"
#include "aqm/red_average.h"
#include "aqm/red_spacing.h"
#include "simtime.h"

struct snapshot;

enum red_selection { RED_NS2, RED_SPACED, RED_MAPPED };

/* The configuration. Thresholds are in the unit of the queue: 0 <= min <= max < 2^60 units. */
struct red_setup {
	quantity_q64 min, max;
	quantity_q64 mark_limit; /* 0: where forcing begins */
	probability_q63 max_p;   /* at most 1 */
	probability_q63 weight;  /* above 0, at most 1 */
	bool bytes;              /* the unit is bytes; false: packets */
	bool gentle, wait, adaptive;
	bool unspaced;       /* RED_NS2, and packets not mapped in RED_MAPPED */
	uint32_t mean_bytes; /* at least 1 */
	enum red_selection selection;
	probability_q63 alpha; /* RED_SPACED */
	struct p_mod p_mod;    /* RED_MAPPED */
};

/* A span by which distances are divided, without a division for each packet. */
struct red_span {
	uint64_t inverse; /* 2^126 / (span >> shift) */
	uint32_t shift;
};

/* The configuration, prepared for the worker. */
struct red_rule {
	struct red_setup setup;
	quantity_q64 forced_from, mark_limit;
	quantity_q64 adapt_low, adapt_high;
	struct red_span between, beyond; /* min to max, max to 2 max */
};

struct red {
	quantity_q64 average;
	uint64_t count, count_bytes; /* since the last selected packet */
	struct red_spacing marking, dropping;
	probability_q63 max_p; /* adaptive changes it */
	probability_q63 p;     /* at the last arrival, before spacing; 1 where forced */
	simtime adapted_ns;    /* when max_p was changed last */
	simtime idle_ns;       /* since when it is idle */
	bool idle;
	bool above_min;
};

/* Early: selected below the forced zone. */
enum red_verdict {
	RED_PASS,
	RED_MARK_EARLY,
	RED_MARK_FORCED,
	RED_DROP_EARLY,
	RED_DROP_FORCED,
};

struct red_arrival {
	simtime now;
	uint64_t queue; /* q, in the unit */
	uint64_t rate_bps;
	uint64_t draw; /* of this packet */
	uint32_t wire_bytes;
	bool capable; /* can be marked */
	bool chosen;  /* RED_MAPPED: belongs to an ECN-mod flow */
};

/* Packets that arrive one after the other at one instant. */
struct red_group {
	simtime now;
	uint64_t queue; /* q for the first packet, in the unit */
	uint64_t rate_bps;
	/* each packet waits when the next arrives; false: it has left by then, and the queue is
	 * idle */
	bool wait;
	bool uncounted;         /* RED_MAPPED: chosen, and capable */
	uint16_t n;             /* packets still to arrive */
	const uint32_t *length; /* bytes of each */
};

/* Makes the rule of a setup, whose values must be in their ranges. Thread: control. */
void red_rule_make(struct red_rule *rule, const struct red_setup *setup);

/* Begins with an average of 0, idle since `now`. */
void red_begin(struct red *red, const struct red_rule *rule, simtime now);
/* Puts another rule in force. The average and the counts continue; if the unit changes, the average
 * is converted with the mean size. max_p continues only if the new rule is adaptive and has the
 * same max_p as the old one; otherwise it is set to the new rule's. */
void red_change(struct red *red, const struct red_rule *old, const struct red_rule *rule);

/* Writes or reads its state (snapshot.h). */
void red_snapshot(struct red *red, struct snapshot *snapshot);

/* Lets packets of the group arrive as long as they pass because the average is below min or q is at
 * most 1. These packets are removed from the group. Returns true if a packet is left: the first of
 * the group has arrived, too, and red_judge decides about it. Returns false if all have passed. */
bool red_pass(struct red *red, const struct red_rule *rule, struct red_group *group);
enum red_verdict red_judge(struct red *red, const struct red_rule *rule,
                           const struct red_arrival *arrival);
/* Calls both for one packet. */
enum red_verdict red_arrive(struct red *red, const struct red_rule *rule,
                            const struct red_arrival *arrival);
/* Lets in the first packet of the group, which is removed from the group. */
static inline void red_group_next(const struct red_rule *rule, struct red_group *group)
{
	if (group->wait)
		group->queue += rule->setup.bytes ? *group->length : 1;
	group->length++;
	group->n--;
}
/* Returns p at an average, with the configured max_p; 1 in the forced zone. */
probability_q63 red_probability(const struct red_rule *rule, quantity_q64 average);

/* Records that a packet found no room: a forced drop. */
static inline void red_overflow(struct red *red)
{
	red->count = 0;
	red->count_bytes = 0;
}
/* Records that the last packet has left, and nothing is being sent. */
static inline void red_idle(struct red *red, simtime now)
{
	red->idle = true;
	red->idle_ns = now;
}

#endif
