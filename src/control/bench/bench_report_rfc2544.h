/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report that RFC 2544 requires, on the page of `weir bench`: the throughput as a graph beside
 * the theoretical maximum of the medium (26.1), latency and back-to-back frames as tables (26.2,
 * 26.4), the frame loss rate as a graph over the share of the maximum rate (26.3).
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_REPORT_RFC2544_H
#define WEIR_BENCH_REPORT_RFC2544_H

#include <jansson.h>

#include "report/page.h"

/* Adds the report, if there is a row of this part. */
void bench_report_rfc2544(struct page *page, const json_t *rows);

#endif
