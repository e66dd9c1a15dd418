/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What in a scenario a snap hides something from: statements that read or write of a packet what is
 * behind its headers (statement.h: beyond), and a `match` that compares bytes there, are not told
 * what they need by a recording that keeps only the beginning. The fates of packets are the same as
 * long as there is none. Statements of a schedule count.
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
/* The same of what `before` has not. */
uint32_t snap_reach_more(uint32_t snap, const struct scenario *before,
                         const struct scenario *scenario,
                         void (*say)(void *argument, const char *line), void *argument);

#endif
