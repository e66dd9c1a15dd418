/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a cloud was configured to do, beside what it did: rows for the table that a replay prints
 * and for the one in its picture.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_ACHIEVED_H
#define WEIR_ACHIEVED_H

#include "account/histogram.h"
#include "report/chart_unit.h"
#include "scenario/scenario.h"

struct cloud_report;

#define ACHIEVED_ROWS_MAX (CLOUD_CONFS_MAX + REASON_COUNT + 6)

struct achieved_row {
	char what[32];
	char asked[256];
	char got[512];
};

/* What the report of a cloud alone does not say. */
struct achieved_run {
	uint64_t duration_ns;
	/* The most bytes that it sent in one second; 0: not known. */
	uint64_t busiest_second_bytes;
	/* In which times and rates are written, if they are to be in one (chart_unit_one); 0: each
	 * in the one that suits it. */
	enum chart_unit time_unit, rate_unit;
};

/* Fills in rows[0 .. ACHIEVED_ROWS_MAX) and returns how many: packets, one row or two for each
 * statement in the order of the table, one for each reason of which packets were dropped. */
uint32_t achieved_rows(const struct cloud_conf *cloud, const struct cloud_report *report,
                       const struct achieved_run *run, struct achieved_row *rows);

#endif
