/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of a scenario's clouds, to find the clouds again after a change has moved them. Code
 * that keeps data on each cloud by its index in the scenario keeps a roll beside it. Names are
 * compared by 64 bits of hash; a cloud that has become a template, or the reverse, is another one.
 *
 * Thread: the owner's.
 */
#ifndef WEIR_ROLL_H
#define WEIR_ROLL_H

#include <stdbool.h>
#include <stdint.h>

#include "scenario/scenario.h"

#define ROLL_NEW         UINT32_MAX
#define ROLL_CLOUD_BYTES 8

/* All 0: no clouds. */
struct roll {
	uint64_t *hash;
	uint32_t n;
};

/* Makes the roll that of the scenario. `was`, to be freed, gets for each cloud its previous index
 * or ROLL_NEW; NULL if all indices are unchanged. Returns 0; or -ENOMEM, and the roll is
 * unchanged. */
int roll_follow(struct roll *roll, const struct scenario *scenario, uint32_t **was);
void roll_release(struct roll *roll);

#endif
