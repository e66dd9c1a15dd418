/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pictures of the precision part: for each load how lateness is distributed, and what share of
 * packets is later than so much, beside the machine's own noise.
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_REPORT_PRECISION_H
#define WEIR_BENCH_REPORT_PRECISION_H

#include <jansson.h>

#include "report/page.h"

/* Nothing when no row is of that part. */
void bench_report_precision(struct page *page, const json_t *rows);

#endif
