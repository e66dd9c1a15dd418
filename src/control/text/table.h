/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text in aligned columns, as `show` prints it: a row of headings, then rows of cells. A column is
 * as wide as its widest cell, with two spaces before it.
 *
 * A table fits TABLE_WIDTH columns, whatever it is printed to. If it would be wider, its columns of
 * text become narrower, the widest first: a cell that does not fit goes on in the next line, from a
 * blank if it has one. If numbers alone are too wide, the columns that do not fit follow below, in
 * a table of their own that begins with the first column again. Nothing is cut off.
 *
 * Thread: any; a table has one owner.
 */
#ifndef WEIR_TABLE_H
#define WEIR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "account/histogram.h"
#include "units/human_unit.h"
#include "account/count.h"

#define TABLE_WIDTH 80

struct table;

/* Makes a table of up to 32 columns. `columns` has a letter for each: l or r, the side on which its
 * cells are aligned. It must outlive the table. Returns NULL if there is no memory, which is
 * noted; a table that is NULL takes all calls, and prints nothing. */
struct table *table_make(const char *columns);
/* Makes one, and adds a row of headings; NULL ends them. */
struct table *table_headed(const char *columns, ...) __attribute__((sentinel));
void table_free(struct table *table);

/* Cells are added from left to right; a row is complete when all its columns have one. If there is
 * no memory for a cell, it is left out, and that is noted (alloc_failure.h). */
void table_text(struct table *table, const char *text);
/* Adds several; NULL ends them. */
void table_texts(struct table *table, ...) __attribute__((sentinel));
void table_format(struct table *table, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void table_count(struct table *table, uint64_t count); /* 1,234,567 */
void table_unit(struct table *table, enum human_unit unit, double value);
/* A time, or `-` if it is not known. */
void table_time(struct table *table, bool known, double ns);
/* A percentile (histogram_percentile), with the digits that it has; `-` if nothing was counted. */
void table_percentile(struct table *table, const struct histogram *h, uint32_t per_million);
/* The part in percent; nothing if the whole is 0. */
void table_share(struct table *table, uint64_t part, uint64_t whole);

/* Prints the table, and frees it. */
void table_end(struct table *table, FILE *out);
/* Returns the cells, row by row; NULL is one that found no memory. They live as long as the
 * table. */
const char *const *table_cells(const struct table *table, size_t *n_columns, size_t *n_cells);

#endif
