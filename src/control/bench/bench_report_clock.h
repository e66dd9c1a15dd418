/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The picture of `weir bench clock`: how far 100 ms are from 100 ms.
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_REPORT_CLOCK_H
#define WEIR_BENCH_REPORT_CLOCK_H

#include <jansson.h>

#include "report/page.h"

/* Nothing when no row is of the clock. */
void bench_report_clock(struct page *page, const json_t *rows);

#endif
