/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues and windows over the time of a run, as CSV: `t_s,what,value,average`. A queue's line has
 * the bytes that wait and the AQM's average, in bytes; a window's has packets, and no average; a
 * group's `GROUP.bytes` are the bytes given to its applications so far.
 *
 * Ownership: lab_trace_close frees it.
 * Thread: the run's.
 */
#ifndef WEIR_LAB_TRACE_H
#define WEIR_LAB_TRACE_H

#include "lab/run.h"

struct lab_trace;

/* Opens a trace; `watch` is for the plan. Returns 0, or -errno with problem. */
int lab_trace_open(const char *path, struct lab_trace **trace, const struct run_watch **watch,
                   struct problem *problem);
/* Returns 0, or -EIO if not everything could be written. */
int lab_trace_close(struct lab_trace *trace);

#endif
