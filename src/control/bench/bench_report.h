/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was measured, as one HTML page with pictures: made from the JSON document (bench_rows.h).
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_REPORT_H
#define WEIR_BENCH_REPORT_H

#include <jansson.h>

#include "scenario/problem.h"

/* Writes `path`, which appears when it is complete. 0, or -errno with problem. */
int bench_report_write(const char *path, const json_t *document, struct problem *problem);

#endif
