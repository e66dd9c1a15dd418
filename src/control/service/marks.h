/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What clouds had counted when they were changed last: what they have achieved since is the
 * difference. A cloud that is new, or whose statements a change has made others, gets a mark when
 * every worker has taken the change; the mark is therefore a little later than the change, and
 * nothing of before counts as since. Packets that were on their way count when they leave. A change
 * by a schedule is none.
 *
 * Percentiles of a difference of histograms are right to 3 %; where all values lie in one bucket,
 * as with a constant delay, exactly.
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

/* By the index of the cloud in the scenario that they were made for; NULL: not changed since
 * counting began. All 0: none. */
struct marks {
	struct mark **mark;
	uint32_t n;
};

/* What is known of a cloud now; false: nothing. */
typedef bool marks_report(void *context, const char *cloud, struct cloud_report *report);

/* The marks after a change from one scenario to the other, which all workers have taken: those of
 * clouds that it left alone stay, the others get new ones. Without memory for one there is none. */
void marks_follow(struct marks *marks, const struct scenario *before, const struct scenario *next,
                  marks_report *report_of, void *context, uint64_t now_ns);
/* Forgets all. */
void marks_clear(struct marks *marks);
/* Takes away from the report what was counted before the mark. False: the cloud has none, and the
 * report is as it was. `at_ns`: when it was made. */
bool marks_since(const struct marks *marks, uint32_t index, const char *cloud,
                 struct cloud_report *report, uint64_t *at_ns);

#endif
