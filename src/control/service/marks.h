/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters of clouds at their last change; what they have achieved since is the difference. A
 * cloud gets a mark if it is new or a change has changed its statements, when every worker has
 * taken the change. So the mark is a little later than the change, and nothing from before counts
 * as since. Packets that were on their way count when they leave. A change by a schedule makes no
 * mark.
 *
 * Percentiles of a difference of histograms are accurate to 3 %, and exact if all values lie in one
 * bucket, as with a constant delay.
 *
 * Thread: one at a time; control.h has the lock.
 */
#ifndef WEIR_MARKS_H
#define WEIR_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "scenario/scenario.h"

struct cloud_report;
struct mark;
struct runtime;

/* By the index of the cloud in the scenario for which they were made; NULL: unchanged since
 * counting began. All 0: no marks. */
struct marks {
	struct mark **mark;
	uint32_t n;
};

/* Gets the present report of a cloud. Returns false if there is none. */
typedef bool marks_report(const struct runtime *context, const char *cloud,
                          struct cloud_report *report);

/* Updates the marks for a change from `before` to `next`, which all workers have taken: unchanged
 * clouds keep theirs, the others get new ones. If there is no memory, there is no mark. */
void marks_follow(struct marks *marks, const struct scenario *before, const struct scenario *next,
                  marks_report *report_of, const struct runtime *context, uint64_t now_ns);
/* Frees all marks. */
void marks_clear(struct marks *marks);
/* Subtracts from the report what was counted before the mark; `at_ns` gets the instant of the mark.
 * Returns false if the cloud has none; then the report is unchanged. */
bool marks_since(const struct marks *marks, uint32_t index, const char *cloud,
                 struct cloud_report *report, uint64_t *at_ns);

#endif
