/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of packets, as far as a report allows; and that on the line of a cloud, without its queue:
 *
 *   no link                           the measured delay: the line is all there is
 *   a link, and a constant delay      that delay: each packet has it
 *   a link, and a delay that varies   the measured delay of the line; of a template only the mean
 *
 * It is not known with a link and a schedule or trace of the delay, or `reorder`.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_TIMES_H
#define WEIR_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "account/histogram.h"
#include "scenario/scenario.h"
#include "simtime.h"
#include "units/human_unit.h"

struct cloud_report;
struct delay_asked;

enum { TIMES_MEAN, TIMES_MIN, TIMES_P50, TIMES_P99, TIMES_P999, TIMES_MAX, TIMES_COLUMNS };
extern const char *const times_head[TIMES_COLUMNS];

#define TIMES_DIGITS 5
struct times {
	bool known;  /* the mean */
	bool spread; /* the others as well */
	int digits;  /* that percentiles have */
	double ns[TIMES_COLUMNS];
};

struct times times_of(const struct histogram *h);
/* Formats one of them; `-` if it is not known. */
void times_cell(const struct times *times, int column, enum human_unit unit,
                char text[HUMAN_UNIT_SIZE]);

/* Returns true if the report is of one cloud of a template: its delays are those of all clouds,
 * because one cloud counts none. */
bool line_delay_of_all(const struct cloud_conf *cloud, const struct cloud_report *report);
/* Returns true if a schedule changes `delay`: the statement is not always in force. */
bool line_delay_is_scheduled(const struct cloud_conf *cloud);
/* Returns true if packets may wait before the line. */
bool line_delay_has_link(const struct cloud_conf *cloud);
/* Gets what the statement `delay` of the cloud asks for; zeros if there is none. Returns false, and
 * zeros, if there is no memory, which is noted. */
bool line_delay_asked(const struct cloud_conf *cloud, struct delay_asked *asked);
struct times line_delay_of(const struct cloud_conf *cloud, const struct cloud_report *report);

/*
 * How late packets have left at a port: after the instant at which they were to be handed to its
 * device. Only a live run is late.
 */

struct table;

/* The 99th percentile from which on lateness is warned of: of a worker that has a processor, and of
 * one that sleeps and shares it. */
#define LATE_WARN_NS        (100 * SIMTIME_US)
#define LATE_WARN_SHARED_NS SIMTIME_MS

/* Adds three cells: p50, p99, max; `-` if no packet has left. */
void late_cells(struct table *table, const struct histogram *late);
/* Prints a line `warning: one packet in a hundred ...` if that is later than `from_ns`. `before`
 * stands before it, `remedy` at its end. Returns true if it did. */
bool late_warn(FILE *out, const char *before, const char *port, const struct histogram *late,
               simtime from_ns, const char *remedy);

#endif
