/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The charts of the precision part: for each load the distribution of lateness, and the share of
 * packets that are later than a given time, beside the machine's own noise.
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_REPORT_PRECISION_H
#define WEIR_BENCH_REPORT_PRECISION_H

#include <jansson.h>

#include "report/page.h"

/* Adds the charts, if there is a row of this part. */
void bench_report_precision(struct page *page, const json_t *rows);

#endif
