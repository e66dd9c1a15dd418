/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `corrupt random P [bits K] [correlation R]`: with probability P, some bits of a packet are
 * inverted.
 *
 * Model: packets are chosen as by `loss random` (chance.h): Bernoulli, or with a correlation a
 * Markov chain. K different bits of the frame are inverted, every set of K equally likely, from the
 * first bit of the Ethernet header to the last one that is there (a part that a capture has cut off
 * has none); all bits if there are fewer than K. Checksums are not corrected, which is the purpose.
 * If the mbuf of a packet has another reference, the packet is copied first; if there is no memory
 * for the copy, it is dropped as no-buffer. Ranges: P, R 0 to 100 %, K 1 to 64.
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
	uint32_t keyed; /* enum keyed (keyed.h) */
};

extern const struct statement corrupt_random_statement;

#endif
