/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `weir exec` leaves to read: what was asked for and achieved, as a table on standard error
 * and as JSON, both as of a replay (replay_table.h, json.h).
 *
 * Thread: control; the workers stand still.
 */
#ifndef WEIR_EXEC_RESULT_H
#define WEIR_EXEC_RESULT_H

#include <stdio.h>

#include "live/runtime.h"
#include "offline/replay.h"
#include "scenario/scenario.h"

/* Reads it from the runtime; `start_ns` of its clock. `result` is all zero before, and freed by
 * replay_result_free. 0 or -ENOMEM. */
int exec_result_read(const struct runtime *runtime, const struct scenario *scenario,
                     uint64_t start_ns, struct replay_result *result);
void exec_result_print(FILE *out, const struct runtime *runtime, const struct scenario *scenario,
                       const struct replay_result *result);

#endif
