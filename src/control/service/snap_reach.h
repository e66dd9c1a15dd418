/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what in a scenario needs more of a packet than a snap keeps: statements that read or write
 * bytes behind its headers (statement.h: beyond), and a `match` that compares bytes there. If there
 * is none, a recording that keeps only the beginning of packets gives the same fates as one of
 * whole packets. Statements of a schedule count, too.
 *
 * Thread: pure, any.
 */
#ifndef WEIR_SNAP_REACH_H
#define WEIR_SNAP_REACH_H

#include <stdint.h>

#include "scenario/scenario.h"

/* Passes a line about each to `say`. Returns their number; 0 if `snap` is 0: whole packets. */
uint32_t snap_reach(uint32_t snap, const struct scenario *scenario,
                    void (*say)(void *argument, const char *line), void *argument);
/* Does the same for what `before` does not have. */
uint32_t snap_reach_more(uint32_t snap, const struct scenario *before,
                         const struct scenario *scenario,
                         void (*say)(void *argument, const char *line), void *argument);

#endif
