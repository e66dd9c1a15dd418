/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `corrupt random P [bits K] [correlation R]`: in a packet some bits are wrong, with probability P.
 *
 * Model: as `loss random` chooses (chance.h): Bernoulli, or with a correlation a Markov chain. K
 * different bits of the frame are inverted, any K of them being as likely, from the first of the
 * Ethernet header to the last that is there (of what a capture has cut off, none); all of them if
 * there are fewer. Checksums are not corrected, which is the purpose. A packet whose buffer has
 * another reference is copied first; without memory for that it is dropped as no-buffer. Ranges: P,
 * R 0 to 100 %, K 1 to 64.
 */
#ifndef WEIR_CORRUPT_RANDOM_H
#define WEIR_CORRUPT_RANDOM_H

#include <stdbool.h>

#include "random/draw.h"
#include "scenario/statement.h"

#define CORRUPT_BITS_MAX 64

struct corrupt_random_conf {
	struct conf conf;
	probability_q63 probability;
	probability_q63 correlation;
	uint64_t bits;
	bool as_netem;
};

extern const struct statement corrupt_random_statement;

#endif
