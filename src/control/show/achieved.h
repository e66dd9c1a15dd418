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
#include "report/chart_unit.h"
#include "scenario/scenario.h"

struct cloud_report;

#define ACHIEVED_ROWS_MAX (CLOUD_CONFS_MAX + REASON_COUNT + 7)

struct achieved_row {
	char what[32];
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
	/* The units for all times and rates (chart_unit_one); 0: a suitable unit for each value. */
	enum chart_unit time_unit, rate_unit;
};

/* Fills in rows[0 .. ACHIEVED_ROWS_MAX) and returns their number: packets, one or two rows for each
 * statement in the order of the table, and one for each reason of drops that occurred. */
uint32_t achieved_rows(const struct cloud_conf *cloud, const struct cloud_report *report,
                       const struct achieved_run *run, struct achieved_row *rows);

#endif
