/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results as tables for people, made from the JSON rows (bench_rows.h).
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_TABLE_H
#define WEIR_BENCH_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "scenario/problem.h"

/* Prints the whole document: {"machine":…,"rows":[…],"remarks":[…]}. */
void bench_table_print(FILE *out, const json_t *document);

/* Tables of the parts that measure a running weir with clients: reconf, soak. Thread: control. */

void bench_table_live(FILE *out, const json_t *rows);

/*
 * Compares two documents of `weir bench -j`: which figures got worse.
 *
 * Only ratios are judged, because only they mean the same on two days and two machines: of `cost`
 * the ratio to the ceiling, of `depth` and `clouds` the cost relative to the first row of the part.
 * All other figures are not compared.
 *
 * A row is worse if its median is worse by more than the bound, and the ranges of its runs do not
 * overlap the old ones. For `depth` and `clouds`, the range is that of the rate, scaled to the
 * ratio.
 *
 * Thread: pure functions of their arguments.
 */

enum bench_verdict { BENCH_SAME, BENCH_BETTER, BENCH_WORSE, BENCH_GONE, BENCH_NEW };

struct bench_comparison {
	char name[160];
	double before, after; /* of the ratio that is judged; higher is better */
	double before_min, before_max, after_min, after_max;
	enum bench_verdict verdict;
};

/* Gets the name and the figure of a row that is judged; higher is better. Returns false if the row
 * has none. */
bool bench_compare_figure(const json_t *row, char name[160], double *median, double *min,
                          double *max);
/* Fills in up to `room` comparisons. Returns their number. */
size_t bench_compare(const json_t *before, const json_t *after, double bound,
                     struct bench_comparison *comparisons, size_t room);
/* Prints the comparisons, and conditions that are not the same. Returns how many figures are worse,
 * or -ENOMEM if nothing is printed. */
int bench_compare_print(FILE *out, const json_t *before, const json_t *after, double bound);
/* Reads a document from a file. Returns NULL with `problem` set on failure. */
json_t *bench_document_load(const char *path, struct problem *problem);

#endif
