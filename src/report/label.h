/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How wide a text will be. The reader's font is unknown, so this is an estimate from Helvetica's
 * widths with a tenth added for wider fonts; it decides margins, wrapping and which labels fit,
 * never where a datum is drawn.
 */
#ifndef WEIR_LABEL_H
#define WEIR_LABEL_H

#include <stddef.h>

#define LABEL_SIZE 160

/* Width of UTF-8 text at a font size, both in pixels. NULL is 0 wide. */
double label_width_px(const char *text, double font_px);

/* Copies text into buf[LABEL_SIZE], shortened with an ellipsis so as to be at most max_px wide. */
void label_fit(char *buf, const char *text, double font_px, double max_px);

#endif
