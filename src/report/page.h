/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report as one HTML file: no scripts, nothing loaded from elsewhere, light or dark as the
 * reader's system is, and fit for print. The parts are written in the order of the calls; nothing
 * is kept but the state below.
 *
 * All text is escaped. The output stream stays the caller's: page_close completes the document and
 * flushes, but does not close it. Each function returns 0 or -errno. The first error of the output
 * is kept, and the later calls return it again, so it suffices to check page_close - except for an
 * error of page_figure about its chart.
 */
#ifndef WEIR_PAGE_H
#define WEIR_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/chart.h"

/* The size of a figure in a window of 640 pixels or less; a telephone has 390. */
#define PAGE_NARROW_PX        354
#define PAGE_NARROW_HEIGHT_PX 270

struct page {
	FILE *out;
	int error;          /* the first of the output: 0 or -errno */
	unsigned n_figures; /* so far */
	unsigned n_tables;
};

/* Rows of cells, one array row by row. NULL is an empty cell. At most PAGE_COLUMNS_MAX columns,
 * else -EINVAL. */
#define PAGE_COLUMNS_MAX 64
struct page_rows {
	const char *caption;      /* NULL: none; else it is numbered "Table 1." */
	const char *const *head;  /* n_columns column names; NULL: none */
	const char *const *cells; /* n_rows * n_columns */
	size_t n_columns, n_rows;
	const bool *alarms; /* n_rows: true for a row to be shown red; NULL: none */
};

/* subtitle NULL: none */
int page_open(struct page *page, FILE *out, const char *title, const char *subtitle);
int page_heading(struct page *page, const char *text);
/* Writes a paragraph. A blank line in the text begins another. */
int page_text(struct page *page, const char *text);
/* Writes a red paragraph, which cannot be overlooked. */
int page_alarm(struct page *page, const char *text);
/* Writes verbatim text, lines kept. */
int page_code(struct page *page, const char *text);

/*
 * Writes a table. A column is aligned right if all its cells are numbers with or without a unit
 * ("1.5 ms", "-3", "0.1%") or stand for a missing one ("", "-", "n/a").
 */
int page_table(struct page *page, const struct page_rows *rows);

/* Writes the chart with a numbered caption (NULL: none). Returns an error of chart_check with
 * nothing written. */
int page_figure(struct page *page, const struct chart *chart, const char *caption);
int page_close(struct page *page);

#endif
