/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The outcome of a recorded run: outcome.json in the folder of its recording, with the objects of
 * `show cloud`, and how much was recorded and missed.
 *
 * Thread: control; the workers stand still.
 */
#ifndef WEIR_RECORDING_OUTCOME_H
#define WEIR_RECORDING_OUTCOME_H

#include "live/runtime.h"
#include "record/recording.h"

/* Writes it. Returns 0, or -errno with problem. */
int recording_outcome_write(const struct recording *recording, const struct runtime *runtime,
                            const struct scenario *scenario, struct problem *problem);

#endif
