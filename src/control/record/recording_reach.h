/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what in a scenario needs more of a packet than a snap keeps: statements that read or write
 * bytes behind its headers (statement.h: beyond), and a `match` that compares bytes there. If there
 * is none, a recording that keeps only the beginning of packets gives the same fates as one of
 * whole packets. Statements of a schedule count, too.
 *
 * Thread: any.
 */
#ifndef WEIR_RECORDING_REACH_H
#define WEIR_RECORDING_REACH_H

#include "record/recording_folder.h"

typedef void reach_say(void *argument, const char *line);

/* Passes a line about each to `say`; none if `snap` is 0: whole packets. */
void recording_reach_of(uint32_t snap, const struct scenario *scenario, reach_say *say,
                        void *argument);
/* Does the same for what `before` does not have. */
void recording_reach_more(uint32_t snap, const struct scenario *before,
                          const struct scenario *scenario, reach_say *say, void *argument);
/* Does the same for a recording: the scenario of its beginning, including `--set` and `-c`, and its
 * changes, as the run reported them. `changes`: the rerun includes the changes. */
void recording_reach(const struct recording_folder *folder, bool changes, reach_say *say,
                     void *argument);

#endif
