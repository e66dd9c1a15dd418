/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of a text that fits the screen. If the whole text does not fit, its blank lines are left
 * out; if it still does not fit, it is shown from line `from` on.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_TOP_PAGE_H
#define WEIR_TOP_PAGE_H

#include <stdbool.h>

/* Numbers short enough for a column, in ASCII: 842k, 1.23M, 40.1ms; and a row of bars. */

#define TOP_TEXT_BYTES 24

/* At most six characters: `0`, `842`, `84.2k`, `1.23M`. Returns text. */
const char *top_count(char text[TOP_TEXT_BYTES], double value);
/* `801ns`, `40.1ms`, `3.2min`; below 0: `-`. */
const char *top_time(char text[TOP_TEXT_BYTES], double ns);
/* Draws the latest `points` of n values as bars; the greatest of all n values has the highest bar.
 * A bar takes three bytes in UTF-8, else one. `text` has room for 3 n + 1 bytes. */
const char *top_spark(char *text, const float *values, int n, int points, bool utf8);

struct top_page {
	bool blanks; /* blank lines are shown */
	int rows;    /* lines that are shown */
	int from;    /* the first of them, from 0 */
	int below;   /* lines that follow the last one shown */
};

/* Lays the text out in at most `room` rows. It keeps its blank lines if they fit in `roomy` rows. A
 * `from` beyond the last page means the last page. */
struct top_page top_page_make(const char *text, int roomy, int room, int from);
/* Returns line number i of those that the page counts, or NULL. The line ends at LF or 0. */
const char *top_page_line(const struct top_page *page, const char *text, int i);

#endif
