/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results as one HTML page with charts, made from the JSON document (bench_rows.h).
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_REPORT_H
#define WEIR_BENCH_REPORT_H

#include <jansson.h>

#include "report/page.h"
#include "scenario/problem.h"

/* Writes the page to `path`, which appears when the page is complete. Returns 0, or -errno with
 * `problem` set. */
int bench_report_write(const char *path, const json_t *document, struct problem *problem);

/*
 * The chart of `weir bench clock`: by how much intervals of 100 ms deviate from 100 ms.
 */

/* Adds the chart, if there is a row of this part. */
void bench_report_clock(struct page *page, const json_t *rows);

/*
 * The charts of the precision part: for each load the distribution of lateness, and the share of
 * packets that are later than a given time, beside the machine's own noise.
 */

/* Adds the charts, if there is a row of this part. */
void bench_report_precision(struct page *page, const json_t *rows);

/*
 * The report that RFC 2544 requires, on the page of `weir bench`: the throughput as a graph beside
 * the theoretical maximum of the medium (26.1), latency and back-to-back frames as tables (26.2,
 * 26.4), the frame loss rate as a graph over the share of the maximum rate (26.3).
 */

/* Adds the report, if there is a row of this part. */
void bench_report_rfc2544(struct page *page, const json_t *rows);

#endif
