/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which statements of a scenario a snap hides something from: what they read or write of a packet
 * behind its headers is not in a recording that keeps only its beginning (statement.h: beyond). The
 * fates of packets are the same as long as there is none. Statements of a schedule count.
 *
 * Thread: pure, any.
 */
#ifndef WEIR_SNAP_REACH_H
#define WEIR_SNAP_REACH_H

#include <stdint.h>

#include "scenario/scenario.h"

/* `say`: a line about each. How many. 0, if snap is 0: whole packets. */
uint32_t snap_reach(uint32_t snap, const struct scenario *scenario,
                    void (*say)(void *argument, const char *line), void *argument);

#endif
