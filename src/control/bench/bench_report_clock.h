/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chart of `weir bench clock`: by how much intervals of 100 ms deviate from 100 ms.
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_REPORT_CLOCK_H
#define WEIR_BENCH_REPORT_CLOCK_H

#include <jansson.h>

#include "report/page.h"

/* Adds the chart, if there is a row of this part. */
void bench_report_clock(struct page *page, const json_t *rows);

#endif
