/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of `weir exec`: what was configured and achieved, as a table on standard error and as
 * JSON, both as in a replay (replay_table.h, json.h).
 *
 * Thread: control; the workers stand still.
 */
#ifndef WEIR_EXEC_RESULT_H
#define WEIR_EXEC_RESULT_H

#include <stdio.h>

#include "live/runtime.h"
#include "offline/replay.h"
#include "scenario/scenario.h"

/* Reads the result from the runtime. `start_ns` is on its clock. `result` must be all zero, and is
 * freed by replay_result_free. Returns 0 or -ENOMEM. */
int exec_result_read(const struct runtime *runtime, const struct scenario *scenario,
                     uint64_t start_ns, struct replay_result *result);
void exec_result_print(FILE *out, const struct scenario *scenario,
                       const struct replay_result *result);

#endif
