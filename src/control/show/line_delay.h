/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of packets on the line of a cloud, without that in its queue, as far as a report allows.
 *
 *   no link                           the measured delay: the line is all there is
 *   a link, and a constant delay      that delay: each packet has it
 *   a link, and a delay that varies   the measured delay of the line; of a template only the mean
 *
 * It is not known with a link and a schedule or trace of the delay, or `reorder`.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_LINE_DELAY_H
#define WEIR_LINE_DELAY_H

#include <stdbool.h>

#include "scenario/scenario.h"

struct cloud_report;

struct line_delay {
	bool known;  /* the mean */
	bool spread; /* the others as well */
	double mean_ns, min_ns, p50_ns, p99_ns, p999_ns, max_ns;
};

/* Returns true if the report is of one cloud of a template: its delays are those of all clouds,
 * because one cloud counts none. */
bool line_delay_of_all(const struct cloud_conf *cloud, const struct cloud_report *report);
/* Returns true if a schedule changes `delay`: the statement is not always in force. */
bool line_delay_is_scheduled(const struct cloud_conf *cloud);
/* Returns true if packets may wait before the line. */
bool line_delay_has_link(const struct cloud_conf *cloud);
struct line_delay line_delay_of(const struct cloud_conf *cloud, const struct cloud_report *report);

#endif
