/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How late packets have left at a port: after the instant at which they were to be handed to its
 * device. Only a live run is late.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_LATE_H
#define WEIR_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "account/histogram.h"
#include "simtime.h"

struct table;

/* The 99th percentile from which on lateness is warned of: of a worker that has a processor, and of
 * one that sleeps and shares it. */
#define LATE_WARN_NS        (100 * SIMTIME_US)
#define LATE_WARN_SHARED_NS SIMTIME_MS

/* Formats `p50 48 µs, p99 8.1 ms, max 346 ms`. */
void late_text(const struct histogram *late, char *text, size_t size);
/* Adds three cells: p50, p99, max; `-` if no packet has left. */
void late_cells(struct table *table, const struct histogram *late);
/* Prints a line `warning: one packet in a hundred ...` if that is later than `from_ns`. `before`
 * stands before it, `remedy` at its end. Returns true if it did. */
bool late_warn(FILE *out, const char *before, const char *port, const struct histogram *late,
               simtime from_ns, const char *remedy);

#endif
