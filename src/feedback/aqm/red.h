/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random early detection: what shall become of a packet that arrives at a queue.
 *
 * Model: ns-2's (queue/red.cc of ns-2.35), decision by decision. `q` is what waits, in the unit
 * (bytes or packets), without the packet that arrives and the one that is being sent.
 *
 *   average: red_average.h; after the queue was idle first decayed by the packets of `mean` bytes
 *            that the link could have sent since, rounded down
 *   below `min`, or with q <= 1: nothing happens
 *   from max (gentle: 2 max) on: forced
 *   the first packet with the average above `min`: nothing, counts begin at it
 *   else p = max_p (average - min) / (max - min), and gentle, from max on,
 *        p = max_p + (1 - max_p) (average - max) / max
 *        c = packets since the last one selected; in bytes: their bytes / mean, rounded down
 *        wait: p' = 0 if c p < 1; p / (2 - c p) if c p < 2; else 1
 *        else  p' = p / (1 - c p) if c p < 1; else 1
 *        in bytes, if p' < 1: p' = p' size / mean
 *        selected if the draw is below p'
 * Unspaced, there are no counts and no first packet: p' = p, each packet for itself. No ns-2's, but
 * what a paper means that has "the marking probability" p (Misra and Ott's).
 *
 * What is selected or forced is marked if it can be and the average is below `mark_limit`, else
 * dropped. Both, and a full queue, begin the counts anew.
 *
 * Two variants of the selection:
 * - spaced (BCN-TCP's switch): between min and the forced zone red_spacing.h, packets that can be
 *   marked with p, the others with alpha p, each with a count of their own;
 * - mapped (ECN-mod's router): packets that are `chosen` and can be marked are selected with
 *   p_mod(p), each for itself; they are not in the counts, which are those of the others.
 *
 * Adaptive: ns-2's adaptive_ with its values. At arrivals, more than 0.5 s after the last change:
 * average < min + 0.4 (max - min) and max_p > bottom: max_p *= 0.9; average > max - 0.4 (max - min)
 * and max_p < 0.5: max_p += the smaller of 0.01 and max_p / 4. bottom is 0.01, or 80 kbit/s divided
 * by the rate if that is less. As in ns-2, p above max under gentle stays that of the max_p given.
 *
 * Everything is an integer. The draw is a packet's own, so that the outcome depends on the arrivals
 * and nothing else. Thread: the worker that owns the cloud; the rule is made by control.
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

/* What the user said. Thresholds in the unit of the queue: 0 <= min <= max < 2^60 units. */
struct red_setup {
	quantity_q64 min, max;
	quantity_q64 mark_limit; /* 0: where forcing begins */
	probability_q63 max_p;   /* at most 1 */
	probability_q63 weight;  /* above 0, at most 1 */
	bool bytes;              /* the unit; false: packets */
	bool gentle, wait, adaptive;
	bool unspaced;       /* RED_NS2, and the others of RED_MAPPED */
	uint32_t mean_bytes; /* at least 1 */
	enum red_selection selection;
	probability_q63 alpha; /* RED_SPACED */
	struct p_mod p_mod;    /* RED_MAPPED */
};

/* The quotient of a distance and a span, without a division for each packet. */
struct red_span {
	uint64_t inverse; /* 2^126 / (span >> shift) */
	uint32_t shift;
};

/* The same, ready to work by. */
struct red_rule {
	struct red_setup setup;
	quantity_q64 forced_from, mark_limit;
	quantity_q64 adapt_low, adapt_high;
	struct red_span between, beyond; /* min to max, max to 2 max */
};

struct red {
	quantity_q64 average;
	uint64_t count, count_bytes; /* since the last packet selected */
	struct red_spacing marking, dropping;
	probability_q63 max_p; /* adaptive moves it */
	probability_q63 p;     /* at the last arrival, before spacing; 1 where forced */
	simtime adapted_ns;    /* when max_p moved */
	simtime idle_ns;       /* since when, if idle */
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
	uint64_t queue; /* in the unit */
	uint64_t rate_bps;
	uint64_t draw; /* its own */
	uint32_t wire_bytes;
	bool capable; /* it can be marked */
	bool chosen;  /* RED_MAPPED: it is of an ECN-mod flow */
};

/* Packets that arrive one after the other at one instant. */
struct red_group {
	simtime now;
	uint64_t queue; /* in the unit, that the first finds */
	uint64_t rate_bps;
	/* each is in the queue that the next finds; false: each is gone then, and the queue idle */
	bool wait;
	bool uncounted;         /* RED_MAPPED: chosen, and capable */
	uint16_t n;             /* still to arrive */
	const uint32_t *length; /* bytes of each */
};

/* Control. `setup` must be right: see its ranges. */
void red_rule_make(struct red_rule *rule, const struct red_setup *setup);

/* An average of 0, idle since `now`. */
void red_begin(struct red *red, const struct red_rule *rule, simtime now);
/* Another rule from now on: the average and the counts go on, in another unit counted by the mean
 * size; max_p starts at the new one's if that is another. */
void red_change(struct red *red, const struct red_rule *old, const struct red_rule *rule);

/* What it has come to (snapshot.h). */
void red_snapshot(struct red *red, struct snapshot *snapshot);

/* Those of the group that pass because the average stays below min, or next to nothing waits: the
 * group begins behind them then. True: what it begins with has arrived, too, and red_judge says
 * what becomes of it; false: all have passed. */
bool red_pass(struct red *red, const struct red_rule *rule, struct red_group *group);
enum red_verdict red_judge(struct red *red, const struct red_rule *rule,
                           const struct red_arrival *arrival);
/* Both, of one packet. */
enum red_verdict red_arrive(struct red *red, const struct red_rule *rule,
                            const struct red_arrival *arrival);
/* The first of the group is let in. */
static inline void red_group_next(const struct red_rule *rule, struct red_group *group)
{
	if (group->wait)
		group->queue += rule->setup.bytes ? *group->length : 1;
	group->length++;
	group->n--;
}
/* p at an average, with the max_p given; 1 in the forced zone. */
probability_q63 red_probability(const struct red_rule *rule, quantity_q64 average);

/* The packet found no room: a forced drop. */
static inline void red_overflow(struct red *red)
{
	red->count = 0;
	red->count_bytes = 0;
}
/* The last packet has left, and nothing is being sent. */
static inline void red_idle(struct red *red, simtime now)
{
	red->idle = true;
	red->idle_ns = now;
}

#endif
