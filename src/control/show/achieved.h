/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a cloud did beside what it was configured to do: rows for the table that a replay prints,
 * and for the one in its picture; and those of `weir exec`.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_ACHIEVED_H
#define WEIR_ACHIEVED_H

#include "account/histogram.h"
#include "units/human_unit.h"
#include "scenario/scenario.h"
#include "show/times.h"

struct cloud_report;

#define ACHIEVED_ROWS_MAX (CLOUD_CONFS_MAX + REASON_COUNT + 9)

struct achieved_row {
	char what[48];
	char asked[256];
	char got[512];
};

/* What the report of a cloud does not contain. */
struct achieved_run {
	uint64_t duration_ns;
	/* The most bytes that the cloud sent in one second; 0: not known. */
	uint64_t busiest_second_bytes;
	/* How late packets left at its port, in a live run; or NULL. */
	const struct histogram *late;
	/* The units for all times and rates (human_unit_one), but for those that would be a small
	 * fraction of it; 0: a suitable unit for each value. */
	enum human_unit time_unit, rate_unit;
};

/* Fills in rows[0 .. ACHIEVED_ROWS_MAX) and returns their number: packets, one or two rows for each
 * statement in the order of the table, and one for each reason of drops that occurred. */
uint32_t achieved_rows(const struct cloud_conf *cloud, const struct cloud_report *report,
                       const struct achieved_run *run, struct achieved_row *rows);

/* Times of packets (times.h), for the table below that one. */
#define ACHIEVED_TIMES_MAX 2
struct achieved_times {
	const char *what;
	struct times times;
};

/* Fills in the rows and returns their number, 0 if no packet came through: the delay, and with a
 * link, that on the line and that with the queue. */
uint32_t achieved_times(const struct cloud_conf *cloud, const struct cloud_report *report,
                        struct achieved_times times[ACHIEVED_TIMES_MAX]);

#endif
