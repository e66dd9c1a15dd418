/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two documents of `weir bench -j` against each other: which figures got worse.
 *
 * Only ratios are judged, because they alone mean the same on two days and two machines: of `cost`
 * the ratio to the ceiling, of `depth` and `clouds` the cost against the first row of its part.
 * Everything else is shown and not judged.
 *
 * A row is worse when its median is worse by more than the bound, and the ranges of its runs do not
 * touch the old ones (cost; the others have no range of their ratio).
 *
 * Thread: pure functions of their arguments.
 */
#ifndef WEIR_BENCH_COMPARE_H
#define WEIR_BENCH_COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "scenario/problem.h"

enum bench_verdict { BENCH_SAME, BENCH_BETTER, BENCH_WORSE, BENCH_GONE, BENCH_NEW };

struct bench_comparison {
	char name[160];
	double before, after; /* of what is judged; higher is better */
	double before_min, before_max, after_min, after_max;
	enum bench_verdict verdict;
};

/* What is judged of a row: false if nothing is. Higher is better. */
bool bench_compare_figure(const json_t *row, char name[160], double *median, double *min,
                          double *max);
/* Fills up to `room` comparisons; returns how many there are. */
size_t bench_compare(const json_t *before, const json_t *after, double bound,
                     struct bench_comparison *comparisons, size_t room);
/* Prints them; returns how many are worse. */
size_t bench_compare_print(FILE *out, const json_t *before, const json_t *after, double bound);
/* The document of a file; NULL with problem. */
json_t *bench_document_load(const char *path, struct problem *problem);

#endif
