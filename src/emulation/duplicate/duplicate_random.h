/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `duplicate random P [correlation R]`: a packet arrives twice with probability P.
 *
 * Model: packets are chosen as by `loss random` (chance.h); duplicate.h says what a copy is. P and
 * R from 0 to 100 %.
 */
#ifndef WEIR_DUPLICATE_RANDOM_H
#define WEIR_DUPLICATE_RANDOM_H

#include <stdbool.h>

#include "random/draw.h"
#include "scenario/statement.h"

struct duplicate_random_conf {
	struct conf conf;
	probability_q63 probability;
	probability_q63 correlation;
	bool as_netem;
	uint32_t keyed; /* enum keyed (keyed.h) */
};

extern const struct statement duplicate_random_statement;

#endif
