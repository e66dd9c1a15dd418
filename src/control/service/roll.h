/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which clouds there were, to find them again when a change has moved them: who keeps something of
 * each cloud, by its index in the scenario, keeps a roll beside it. Names are compared by 64 bits;
 * a cloud that has become a template, or is none any more, is another one.
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

/* All 0: of no cloud. */
struct roll {
	uint64_t *hash;
	uint32_t n;
};

/* The roll becomes that of the scenario. `was`: to be freed; where each of its clouds stood before,
 * or ROLL_NEW; NULL: all stand where they stood. 0; or -ENOMEM, and it is as before. */
int roll_follow(struct roll *roll, const struct scenario *scenario, uint32_t **was);
void roll_release(struct roll *roll);

#endif
