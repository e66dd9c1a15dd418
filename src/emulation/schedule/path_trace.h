/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `trace FILE [format mahimahi|csv] [loop] [queue LIMIT]`: a path as it was measured.
 *
 * mahimahi: one number per line, the ms at which a packet of 1500 bytes can be sent;
 * opportunities.h has the model. The link's rate is that of the trace; `rate` and its queue are in
 * force again when the trace is over. With `loop` the trace begins again at its last number, as
 * mahimahi always does; without it the other statements of the cloud are in force from there on.
 *
 * csv: a line with the names of the columns, then a line for each point in time:
 *
 *   time_s,rate_mbit,delay_ms,loss_%
 *   0,20,40,0
 *   1.5,3,,2
 *
 * Columns: time, and any of rate, delay, jitter, loss, in any order. The unit follows the name,
 * behind `_` or a blank or in brackets, or it follows each value (`1.5s`, `3mbit`); a loss without
 * a unit is a fraction. An empty cell has the value of the line before. Times increase from line to
 * line. Each line holds until the next (curve.h), the last for ever, or with `loop` as long as the
 * one before it. Before the first, the other statements of the cloud are in force. Times are
 * counted from the beginning of the run.
 *
 * In both formats, lines that are empty or begin with `#` are skipped. If no format is given, it is
 * mahimahi if the first other line begins with a digit. `queue` is that of the link. If not given,
 * it is that of `rate`; without a `rate` it is rate x delay as there (rate.h), with the mean rate
 * of a mahimahi trace or the largest rate of a csv one. Ranges: times to 7 days, mahimahi's to 2^32
 * - 1 ms; up to 2^22 lines; rate 0 (nothing is sent) to 400 Gbit/s; delay and jitter to a day.
 * Randomness: only that of jitter and loss.
 */
#ifndef WEIR_PATH_TRACE_H
#define WEIR_PATH_TRACE_H

#include "link/opportunities.h"
#include "schedule/curve.h"

enum trace_format { TRACE_MAHIMAHI, TRACE_CSV };

#define TRACE_LINES_MAX (UINT32_C(1) << 22)

struct trace_conf {
	struct conf conf;
	struct file *file;
	uint32_t format; /* enum trace_format, if given */
	bool loop;
	struct limit queue;
};

extern const struct statement trace_statement;

/* ---- control ---- */

enum trace_format trace_format(const struct trace_conf *trace);
/* Reads the file; the caller frees at_ms. Returns 0, -ENOMEM, or -EINVAL with problem. */
int trace_read_mahimahi(const struct trace_conf *trace, struct opportunities *list,
                        struct problem *problem);
/* The same for csv; the caller frees points. */
int trace_read_csv(const struct trace_conf *trace, struct curve_conf *curve,
                   struct problem *problem);
/* Returns the mean rate as the link counts: that of packets of 1500 bytes in their frames. At least
 * 1. */
uint64_t trace_mean_bps(const struct opportunities *list);

#endif
