/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates the width of a text. The reader's font is unknown, so Helvetica's widths are used, with
 * a tenth added for wider fonts. The estimate decides margins, wrapping and which labels fit, never
 * where a datum is drawn.
 */
#ifndef WEIR_LABEL_H
#define WEIR_LABEL_H

#include <stddef.h>

#define LABEL_SIZE 160

/* Returns the width of UTF-8 text at a font size, both in pixels. NULL is 0 wide. */
double label_width_px(const char *text, double font_px);

/* Copies text into buf[LABEL_SIZE], shortened with an ellipsis if it is wider than max_px. */
void label_fit(char *buf, const char *text, double font_px, double max_px);

#endif
