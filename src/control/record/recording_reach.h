/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports the statements from which the snap of a recording hides bytes (service/snap_reach.h): in
 * the scenario of its beginning, including `--set` and `-c`, and in its changes, as the run
 * reported them.
 *
 * Thread: any.
 */
#ifndef WEIR_RECORDING_REACH_H
#define WEIR_RECORDING_REACH_H

#include "record/recording_folder.h"

/* `changes`: the rerun includes the changes. */
void recording_reach(const struct recording_folder *folder, bool changes,
                     void (*say)(void *argument, const char *line), void *argument);

#endif
