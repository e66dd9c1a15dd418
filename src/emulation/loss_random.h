/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss random P`: each packet is lost with probability P, independently of all others.
 *
 * Model: Bernoulli. The draw of a packet depends on the seed, the cloud and the packet's ordinal in
 * the stage, on nothing else: 64 bits, so P is exact to 2^-63. P from 0 to 100 %.
 */
#ifndef WEIR_LOSS_RANDOM_H
#define WEIR_LOSS_RANDOM_H

#include "stage.h"

struct loss_random_conf {
	struct conf conf;
	probability_q63 probability;
};

extern const struct statement loss_random_statement;

#endif
