/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Warns of what is odd in a scenario that can run: clouds that compete for packets (path_check.h),
 * and delays whose mean is not the one that is configured, because none can be below 0.
 *
 * Thread: control.
 */
#ifndef WEIR_SCENARIO_WARN_H
#define WEIR_SCENARIO_WARN_H

#include <stdio.h>

#include "scenario/scenario.h"

/* Prints a line `warning: ...` for each. */
void scenario_warn(const struct scenario *scenario, FILE *out);

#endif
