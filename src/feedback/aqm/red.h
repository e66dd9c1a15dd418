/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random early detection: decides what happens to a packet that arrives at a queue.
 *
 * Model: ns-2's (queue/red.cc of ns-2.35), decision by decision. `q` is what waits, in the unit of
 * the queue (bytes or packets), without the arriving packet and the one that is being sent.
 *
 *   average: see below; after an idle time it is first decayed by the number of packets of
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
 *   - spaced (BCN-TCP's switch): between min and the forced zone, the spacing (below) selects
 *     packets that can be marked with p, and the others with alpha p; each kind has a count of its
 *     own;
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

#include "match/match.h"
#include "random/draw.h"
#include "scenario/statement.h"
#include "simtime.h"

/*
 * Chooses packets evenly spaced: the next one is the N-th after the one before it, with
 *
 *   N = ceil(R / p),  R uniform in (0, 1],
 *
 * so that N is uniform from 1 to 1/p while p is constant. R is drawn once for each chosen packet,
 * and N follows p as it changes: a packet is chosen if it is the first whose count times p is at
 * least R. Source: S. Floyd, V. Jacobson, 1993, section on efficient implementation, and D.
 * Sisalem, H. Schulzrinne, "Binary congestion notification in TCP", section 3.2, which has one such
 * sequence for packets to mark and another for packets to drop.
 *
 * The first packet after a reset draws R, and is not counted.
 * Thread: the owner's.
 */

struct red_spacing {
	uint64_t count; /* packets since the last chosen one */
	uint64_t r_q63; /* R, 1 to 2^63: above 0, at most 1 */
	bool drawn;     /* r_q63 is valid */
};

static inline void red_spacing_reset(struct red_spacing *spacing)
{
	spacing->drawn = false;
}

/* Returns true if this packet is chosen; `draw` is the packet's. */
static inline bool red_spacing_next(struct red_spacing *spacing, probability_q63 p, uint64_t draw)
{
	bool chosen = false;

	if (spacing->drawn) {
		chosen = (unsigned __int128)++spacing->count * p >= spacing->r_q63;
		if (!chosen)
			return false;
	}
	spacing->count = 0;
	spacing->r_q63 = (draw >> 1) + 1;
	spacing->drawn = true;
	return chosen;
}

/*
 * RED's average of the queue: an exponentially weighted moving average, updated at each arrival,
 *
 *   average += weight (queue - average)
 *
 * and after an idle time as if the packets that the link could have sent meanwhile had arrived at
 * an empty queue: average *= (1 - weight)^m. Source: S. Floyd, V. Jacobson, "Random early detection
 * gateways for congestion avoidance", IEEE/ACM Transactions on Networking 1(4), 1993; ns-2.35 does
 * the same in double precision.
 *
 * Fixed point: 64 bits before the point and 64 behind it, in the unit of the queue (bytes or
 * packets); the weight is a fraction with 63 bits, so it is exact to 2^-63. One arrival rounds by
 * less than 2^-64, and an error fades with the same weight. So after any number of arrivals the
 * average is within 2^-64 / weight of the exact one: at a weight of 0.002 within 3e-17 bytes. (A
 * double that holds 45 kB is rounded by 4e-12 at each step.) An idle time of m packets adds a
 * relative error below m 2^-61; beyond 45 / weight, m has no further effect.
 *
 * Queues up to 2^63 units.
 * Thread: pure functions, any.
 */

typedef unsigned __int128 quantity_q64;

#define QUANTITY_ONE ((quantity_q64)1 << 64)

/* Returns this share of x, rounded down; x below 2^63 units. */
static inline quantity_q64 quantity_share(quantity_q64 x, probability_q63 share)
{
	uint64_t whole = (uint64_t)(x >> 64), fraction = (uint64_t)x, q64 = share << 1;

	if (__builtin_expect(share == PROBABILITY_ONE, 0))
		return x;
	return (quantity_q64)whole * q64 + ((quantity_q64)fraction * q64 >> 64);
}

static inline quantity_q64 red_average_next(quantity_q64 average, uint64_t queue,
                                            probability_q63 weight)
{
	quantity_q64 target = (quantity_q64)queue << 64;

	if (target >= average)
		return average + quantity_share(target - average, weight);
	return average - quantity_share(average - target, weight);
}

/*
 * The marking function for ECN-mod flows:
 *
 *   p_mod = 1 / (1 + (c2/c1) sqrt(2 (1 - p) / p))
 *
 * where p is RED's probability at the current average. A host adds c1 to its window for an unmarked
 * acknowledgement, and subtracts the share c2 of it for a marked one. With p_mod, hosts of both
 * kinds have the same average window at the same queue. p = 0 gives 0, p = 1 gives 1. Source: A.
 * Misra, T. Ott, "Performance Sensitivity and Fairness of ECN-Aware 'Modified TCP'", equation 7.
 *
 * c1 and c2 are above 0. The packet path uses integers only; p_mod is exact to a relative error of
 * 1e-9.
 * Thread: pure functions, any.
 */

/* 2 (c2/c1)^2 as mantissa / 2^exponent; 2^31 <= mantissa < 2^32. */
struct p_mod {
	uint32_t mantissa;
	int32_t exponent;
};

/* Control: floating point. */
struct p_mod p_mod_make(double c1, double c2);

/* Returns true if the draw selects the packet, which it does with the probability p_mod(p). Needs
 * no root and no division: U < p_mod is equivalent to 2 (c2/c1)^2 (1 - p) U^2 < p (1 - U)^2. */
bool p_mod_selects(struct p_mod mod, probability_q63 p, uint64_t draw);

/* Returns p_mod(p) for display; p from 0 to 1. Control: floating point. */
double p_mod_of(struct p_mod mod, double p);

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
	bool capable; /* can be marked; of plain RED: the queue marks at all (cloud_aqm.c looks) */
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
bool red_reaches_judge(struct red *red, const struct red_rule *rule, struct red_group *group);
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

/*
 * RED as the management of a link's queue: connects the algorithm, above, to the contract of aqm.h.
 *
 * With `ecn on`, packets that are capable are marked where they would have been dropped; the others
 * are dropped with the reason red-early or red-forced. Without `ecn on`, all are dropped.
 *
 * A change keeps the average and the counts, whatever changes. The sequence of draws continues: the
 * ordinal of a packet among the arrivals determines its draw, whether the draw is used or not.
 *
 * Figures: the average in bytes (in unit packet: times the mean size), the probability before
 * spacing at the last arrival (with alpha also that of drops, with ecn-mod also p_mod), and max-p.
 * Marks and drops are in the cloud's counters.
 */

/*
 * `red min T max T [max-p P] [weight W] [unit byte|packet] [mean S] [gentle on|off] [wait on|off]
 *      [spacing on|off] [adaptive on|off] [mark-to T] [alpha A] [marking red|ecn-mod] [c1 C] [c2 C]
 *        [match WORDS]`:
 * the fields of RED, their checks, and their conversion for the model, above.
 *
 * Thresholds are bytes or packets. `unit` says what the queue is counted in; by default it is that
 * of `min`. A threshold in the other unit is converted with `mean`, as in ns-2. Times are refused:
 * they would change with the rate.
 *
 *   min, max  1 to 2^40; max at least min, and if larger, by at least a packet or byte
 *   max-p     above 0, at most 1; 0.1 by default (ns-2's linterm_ 10)
 *   weight    above 0, at most 1; 0.002
 *   mean      1 B to 256 KiB; 1000 B
 *   gentle    off (with ecn-mod on), wait on, adaptive off: as in the papers; spacing on. `spacing
 *             off` excludes wait and alpha
 *   mark-to   the average below which packets are marked; by default where forcing begins, or with
 *             alpha no limit
 *   alpha     above 0, at most 1: BCN-TCP's switch
 *   c1, c2    above 0, at most 1: ECN-mod's router; 0.0625 and 0.125
 *   match     exact conditions (match.h). With alpha: other packets that can be marked are dropped
 *             like those that cannot. With ecn-mod: the flows to which p_mod applies. By default,
 *             all packets that can be marked
 */

#define RED_MEAN_MAX UINT64_C(262144)

enum red_unit { RED_BYTE, RED_PACKET };
enum red_marking { RED_MARKING_RED, RED_MARKING_ECN_MOD };

struct red_conf {
	struct conf conf;
	struct limit min, max, mark_to;
	probability_q63 max_p, weight, alpha;
	uint64_t mean_bytes;
	uint32_t unit;    /* enum red_unit */
	uint32_t marking; /* enum red_marking */
	bool gentle, wait, spacing, adaptive;
	struct ratio c1, c2;
	char *match; /* or NULL */
};

extern const struct field red_fields[];

/* Checks the statement, without the statements that it needs beside it. Returns 0, or -EINVAL with
 * problem. */
int red_conf_check(const struct red_conf *conf, struct problem *problem);

/* Returns a limit in bytes or packets, in the unit of the queue. The configuration has been
 * checked. */
quantity_q64 red_conf_threshold(const struct red_conf *conf, const struct limit *limit);
struct red_setup red_conf_setup(const struct red_conf *conf);

extern const struct statement red_statement;

#endif
