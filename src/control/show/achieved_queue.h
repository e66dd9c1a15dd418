/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the management of a queue has done, beside what it was asked for: how many packets it marked
 * and dropped, which share of all that is, and how long packets took through queue and link because
 * of it.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_ACHIEVED_QUEUE_H
#define WEIR_ACHIEVED_QUEUE_H

#include "report/chart_unit.h"
#include "scenario/scenario.h"

struct cloud_report;

/* Of a management, of what modifies one (`ecn`, `becn`), and of a class; of the class that it is
 * about, if it is about one. Of any other statement: "". `time_unit`: CHART_NS, or one unit for all
 * times. */
void achieved_queue_text(const struct cloud_conf *cloud, const struct cloud_report *report,
                         enum chart_unit time_unit, const struct conf *conf, char *text,
                         size_t room);

#endif
