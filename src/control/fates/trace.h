/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of packets in words: when each came to which cloud, what each stage and the queue did
 * with it, and when it left, or why it did not.
 *
 *   packet 17 of port a: TCP 10.0.0.1 port 40001 > 10.0.0.2 port 5201
 *     +0            comes to down, 1514 bytes
 *     +0            loss lets it pass
 *     +0            enters the queue of down; 45 kB wait there, 33.2 kB on average
 *     +40.1 ms      leaves down, 40.1 ms after it came there
 *
 * Packets are those that come first, each with its copies and its answers. Each is printed when all
 * of it has left or was dropped.
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

/* Of so many packets. NULL: no memory. */
struct trace *trace_make(FILE *out, uint64_t packets);
void trace_free(struct trace *trace); /* NULL is allowed */
/* The names of ports. 0. */
int trace_names(struct trace *trace, uint32_t n, const char (*ports)[SCENARIO_NAME_BYTES]);
/* False: no memory. `lost`: of its kind, directly before it: then what is said of a packet may be
 * without them, and says so. */
bool trace_put(struct trace *trace, const struct fate *fate, uint64_t lost);
/* What happened up to `until` was put. 1: all packets are printed; else 0. */
int trace_settle(struct trace *trace, simtime until);
/* Prints those that are under way. */
void trace_rest(struct trace *trace);

#endif
