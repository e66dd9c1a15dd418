/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `duplicate every N`: packets N, 2N, 3N ... arrive twice, as in the IXP2400 emulator.
 *
 * Model: a counter of packets; duplicate.h says what a copy is. No randomness. N from 1 (every
 * packet) to 2^31 - 1. A change keeps the counter; if the counter has passed the new N, the next
 * packet is copied.
 */
#ifndef WEIR_DUPLICATE_EVERY_H
#define WEIR_DUPLICATE_EVERY_H

#include "scenario/statement.h"

#define DUPLICATE_EVERY_MAX ((UINT64_C(1) << 31) - 1)

struct duplicate_every_conf {
	struct conf conf;
	uint64_t every;
	uint32_t keyed; /* enum keyed (keyed.h) */
};

extern const struct statement duplicate_every_statement;

#endif
