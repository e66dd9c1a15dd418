/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a recorded run has come to: outcome.json in the folder of its recording, with the objects of
 * `show cloud` and what was recorded, and what was not.
 *
 * Thread: control; the workers stand still.
 */
#ifndef WEIR_RECORDING_OUTCOME_H
#define WEIR_RECORDING_OUTCOME_H

#include "live/runtime.h"
#include "record/recording.h"

/* 0, or -errno with problem. */
int recording_outcome_write(const struct recording *recording, const struct runtime *runtime,
                            const struct scenario *scenario, struct problem *problem);

#endif
