/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers for property tests: a function of the number of the case. */
#ifndef WEIR_DICE_H
#define WEIR_DICE_H

#include <stdint.h>

#include "random/draw.h"

struct dice {
	struct draw_key key;
	uint64_t drawn;
};

/* Returns a number from 0 to sides - 1. */
static inline uint64_t roll(struct dice *dice, uint64_t sides)
{
	return draw_u64(dice->key, dice->drawn++, 0) % sides;
}

#endif
