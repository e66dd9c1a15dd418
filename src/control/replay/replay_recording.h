/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir replay --recording DIR`: a recorded run, again, and what is said of it.
 *
 * Thread: control.
 */
#ifndef WEIR_REPLAY_RECORDING_H
#define WEIR_REPLAY_RECORDING_H

#include <stdio.h>

#include "record/recording_folder.h"
#include "replay/replay_options.h"

/* 0, and a line or some to `out` of what was compared; -EILSEQ with problem: it is another run,
 * from there on; or as rerun_run. */
int replay_recording_run(const struct replay_arguments *arguments, struct recording_folder *folder,
                         const struct scenario *scenario, const struct replay_options *options,
                         FILE *out, struct replay_result *result, struct problem *problem);

#endif
