/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `delay`: the configuration of a cloud's line.
 *
 * Models: propagation. Each packet leaves the line d after it entered. d has the mean `delay` and
 * the spread `jitter`, from a distribution (distribution.h has the families):
 *
 *   uniform       from delay - jitter to delay + jitter
 *   normal, exponential, gamma, lognormal
 *                 standard deviation jitter; the least of exponential is delay - jitter, of
 *                 gamma and lognormal 0; those two need a jitter of at most 10 times the delay
 *   pareto, paretonormal
 *                 as in netem: shape 3; the standard deviations are 1.155 and 1.052 jitter
 *   bimodal       delay - jitter, or with the probability `weight` delay + jitter
 *   table FILE    a table of netem's: delay + jitter x entry / 8192. Or measured delays:
 *                 without a jitter they replace delay and jitter; with one they are shifted and
 *                 scaled to the mean `delay` and the standard deviation `jitter`
 *
 * d is never below 0. With `order keep` (the default) a packet does not leave before the packet
 * ahead of it, and d still has its distribution (jitter_keep.h). With `order allow` packets
 * overtake according to their delays. `correlation` is that of the delays of successive packets;
 * `half-life` is the time after which half of the correlation is left (jitter_copula.h); only one
 * of them may be given. With `as-netem` the jitter is drawn as in netem (jitter_netem.h); order
 * allow only. `limit`: if the cloud holds so many packets, in its queue and on the line, a packet
 * that has passed the stages is dropped as REASON_LIMIT, as in netem. A packet on the line counts
 * as held if it is due after the instant of this arrival, whether the engine was polled or not
 * (in_flight.h). Packets that entered the line before it had a limit do not count. A change applies
 * to packets that enter the line after it; packets on the way are not affected.
 *
 * Units: ns; delay, jitter and half-life 0 to a day.
 */
#ifndef WEIR_DELAY_H
#define WEIR_DELAY_H

#include <stdbool.h>

#include "random/draw.h"
#include "scenario/statement.h"

enum delay_distribution {
	DELAY_UNIFORM,
	DELAY_NORMAL,
	DELAY_PARETO,
	DELAY_PARETONORMAL,
	DELAY_EXPONENTIAL,
	DELAY_GAMMA,
	DELAY_LOGNORMAL,
	DELAY_BIMODAL,
	DELAY_TABLE,
};
enum delay_order { ORDER_KEEP, ORDER_ALLOW };

struct delay_conf {
	struct conf conf;
	uint64_t delay_ns;
	uint64_t jitter_ns;
	uint32_t distribution; /* enum delay_distribution */
	uint32_t order;        /* enum delay_order */
	struct file *table;
	probability_q63 weight;
	probability_q63 correlation;
	uint64_t half_life_ns; /* 0: none */
	bool as_netem;
	struct limit limit; /* LIMIT_NONE, or packets */
	uint32_t keyed;     /* enum keyed (keyed.h) */
};

extern const struct statement delay_statement;

struct distribution;

/* ---- control ---- */

bool delay_has_jitter(const struct delay_conf *delay);
/* Returns the limit as in struct line_conf: LINE_UNLIMITED if there is no delay, or no limit. */
uint64_t delay_limit(const struct delay_conf *delay);
/* Makes the distribution of d - delay_ns, for a delay that has a jitter and passed the check; freed
 * by distribution_release. Returns 0, -ENOMEM or -EINVAL. */
int delay_distribution_make(const struct delay_conf *delay, struct distribution *distribution);

/* Properties of d, as configured. The standard deviation is 0 without a jitter. If the distribution
 * reaches below 0, where d is 0 instead, the mean is greater than that of the distribution, and the
 * deviation is smaller. */
struct delay_asked {
	double mean_ns, deviation_ns;
	double drawn_mean_ns; /* of the distribution, as if d could be negative */
	uint64_t longest_ns;  /* no more than one packet in 10,000 takes longer; with some
	                      * distributions, none */
};
/* Returns 0, -ENOMEM or -EINVAL. Reads a table; takes up to some ms. */
int delay_asked(const struct delay_conf *delay, struct delay_asked *asked);

#endif
