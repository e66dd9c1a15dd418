/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir replay --recording DIR`: runs a recorded run again, and prints the outcome.
 *
 * Thread: control.
 */
#ifndef WEIR_REPLAY_RECORDING_H
#define WEIR_REPLAY_RECORDING_H

#include <stdio.h>

#include "record/recording_folder.h"
#include "replay/replay_options.h"

/* Prints what was compared to `out`, and returns 0; -EILSEQ with problem if the run differs from
 * the recorded one; or an error of rerun_run. */
int replay_recording_run(const struct replay_arguments *arguments, struct recording_folder *folder,
                         const struct scenario *scenario, const struct replay_options *options,
                         FILE *out, struct replay_result *result, struct problem *problem);

#endif
