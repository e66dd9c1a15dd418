/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats what the management of a queue has done: how many packets it marked and dropped, their
 * share of those that came to it, and how long packets took through queue and link as a result.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_ACHIEVED_QUEUE_H
#define WEIR_ACHIEVED_QUEUE_H

#include "report/chart_unit.h"
#include "scenario/scenario.h"

struct cloud_report;

/* Formats a sentence on a management, on what modifies one (`ecn`, `becn`), or on a class; if
 * `conf` belongs to a class, on that class. For any other statement, `text` becomes "".
 * `time_unit`: CHART_NS, or one unit for all times. */
void achieved_queue_text(const struct cloud_conf *cloud, const struct cloud_report *report,
                         enum chart_unit time_unit, const struct conf *conf, char *text,
                         size_t room);

#endif
