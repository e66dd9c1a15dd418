/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results as one HTML page with charts, made from the JSON document (bench_rows.h).
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_REPORT_H
#define WEIR_BENCH_REPORT_H

#include <jansson.h>

#include "scenario/problem.h"

/* Writes the page to `path`, which appears when the page is complete. Returns 0, or -errno with
 * `problem` set. */
int bench_report_write(const char *path, const json_t *document, struct problem *problem);

#endif
