/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What in a recording its snap hides something from (service/snap_reach.h): in the scenario of its
 * beginning, with what takes its place (`--set`, `-c`); and what the run has said of its changes.
 *
 * Thread: any.
 */
#ifndef WEIR_RECORDING_REACH_H
#define WEIR_RECORDING_REACH_H

#include "record/recording_folder.h"

/* `changes`: they are run again. */
void recording_reach(const struct recording_folder *folder, bool changes,
                     void (*say)(void *argument, const char *line), void *argument);

#endif
