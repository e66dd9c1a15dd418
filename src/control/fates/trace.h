/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path of packets in words: when each arrived at which cloud, what each stage and the queue did
 * with it, and when it left, or why it did not.
 *
 *   packet 17 of port a: TCP 10.0.0.1 port 40001 > 10.0.0.2 port 5201
 *     +0            comes to down, 1514 bytes
 *     +0            loss lets it pass
 *     +0            enters the queue of down; 45 kB wait there, 33.2 kB on average
 *     +40.1 ms      leaves down, 40.1 ms after it came there
 *
 * The first packets that arrive are traced, each with its copies and its answers. Each is printed
 * when all of it has left or was dropped.
 *
 * Thread: one at a time.
 */
#ifndef WEIR_TRACE_H
#define WEIR_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "account/witness.h"
#include "scenario/scenario.h"

struct trace;

/* Traces the first `packets`. Returns NULL if there is no memory. */
struct trace *trace_make(FILE *out, uint64_t packets);
void trace_free(struct trace *trace); /* NULL is allowed */
/* Sets the names of the ports, which must outlive the trace. Returns 0. */
int trace_names(struct trace *trace, uint32_t n, const char (*ports)[SCENARIO_NAME_BYTES]);
/* Adds a fate. `lost`: how many of its kind are missing directly before it; the output then says
 * that something may be missing. Returns false if there is no memory. */
bool trace_put(struct trace *trace, const struct fate *fate, uint64_t lost);
/* Processes the fates up to `until`, all of which must have been put. Returns 1 if all packets are
 * printed, else 0. */
int trace_settle(struct trace *trace, simtime until);
/* Prints the packets that are still under way. */
void trace_rest(struct trace *trace);
/* Returns true if no packet has arrived among the fates that were processed. */
bool trace_is_empty(const struct trace *trace);

#endif
