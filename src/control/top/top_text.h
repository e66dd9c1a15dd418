/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers short enough for a column, in ASCII: 842k, 1.23M, 40.1ms; and a row of bars.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_TOP_TEXT_H
#define WEIR_TOP_TEXT_H

#include <stdbool.h>

#define TOP_TEXT_BYTES 24

/* At most six characters: `0`, `842`, `84.2k`, `1.23M`. Returns text. */
const char *top_count(char text[TOP_TEXT_BYTES], double value);
/* `801ns`, `40.1ms`, `3.2min`; below 0: `-`. */
const char *top_time(char text[TOP_TEXT_BYTES], double ns);
/* Draws the latest `points` of n values as bars; the greatest of all n values has the highest bar.
 * A bar takes three bytes in UTF-8, else one. `text` has room for 3 n + 1 bytes. */
const char *top_spark(char *text, const float *values, int n, int points, bool utf8);

#endif
