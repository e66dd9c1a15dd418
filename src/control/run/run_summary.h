/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the result of a live run: ports, clouds, and where packets were lost, with emulated losses
 * and real ones apart.
 *
 * Thread: control; the workers stand still.
 */
#ifndef WEIR_RUN_SUMMARY_H
#define WEIR_RUN_SUMMARY_H

#include <stdio.h>

#include "live/runtime.h"
#include "scenario/scenario.h"

void run_summary_print(FILE *out, const struct runtime *runtime, const struct scenario *scenario);

#endif
