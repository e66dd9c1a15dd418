/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss pattern 3,4,5 of 7`: of every 7 packets the third, fourth and fifth are lost.
 *
 * Model: a counter from 1 to the length of the pattern. No randomness.
 *
 * Ranges: the length 1 to 2^32; numbers from 1 to the length, each once, in any order; as many as
 * fit in a line. A change keeps the counter, modulo the new length.
 */
#ifndef WEIR_LOSS_PATTERN_H
#define WEIR_LOSS_PATTERN_H

#include "scenario/statement.h"

#define LOSS_PATTERN_MAX (UINT64_C(1) << 32)

struct loss_pattern_conf {
	struct conf conf;
	struct numbers lost;
	uint64_t of;
	uint32_t keyed; /* enum keyed (keyed.h) */
};

extern const struct statement loss_pattern_statement;

#endif
