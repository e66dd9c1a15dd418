/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss random P [correlation R]`: each packet is lost with probability P.
 *
 * Model: Bernoulli; with a correlation, the two-state Markov chain of chance.h, whose loss rate
 * is P and whose losses come in runs of 1 / ((1 - P)(1 - R)) packets on average. The draw of a
 * packet depends only on the seed, the cloud and the packet's ordinal in the stage (`keyed flow`:
 * its flow and number there, draws.h). It has 64 bits, so P is exact to 2^-63. P and R from 0 to
 * 100 %. `ecn`: loss_or_mark.h. `as-netem`: netem's recurrence in place of the chain (chance.h),
 * which does not keep P.
 */
#ifndef WEIR_LOSS_RANDOM_H
#define WEIR_LOSS_RANDOM_H

#include <stdbool.h>

#include "random/draw.h"
#include "scenario/statement.h"

struct loss_random_conf {
	struct conf conf;
	probability_q63 probability;
	probability_q63 correlation;
	bool ecn;
	bool as_netem;
	uint32_t keyed; /* enum keyed (keyed.h) */
};

/* Sets the probability of a stage of this statement, and removes its correlation.
 * Thread: worker. */
void loss_random_set(struct stage *stage, probability_q63 probability);

extern const struct statement loss_random_statement;

#endif
