/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a live run leaves to read at its end: ports, clouds, and where packets were lost, emulated
 * losses and real ones apart.
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
