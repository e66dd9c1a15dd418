/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the few SVG elements that charts are made of. Coordinates are pixels, written to a tenth.
 * `class` is one or more CSS classes of theme.h. Errors stay in ferror(out).
 */
#ifndef WEIR_SVG_H
#define WEIR_SVG_H

#include <stddef.h>
#include <stdio.h>

/*
 * Escapes text for XML or HTML, as content or inside a double-quoted attribute. Characters that may
 * not stand there are escaped (& < > " ') or, if there is no escape for them - control characters,
 * broken UTF-8 - replaced by U+FFFD, so that a name from a scenario or a capture cannot break or
 * script a report.
 */

/* Writes text escaped; NULL writes nothing. Errors stay in ferror(out). */
void xml_text(FILE *out, const char *text);

/* Does the same for at most the first len bytes. */
void xml_text_part(FILE *out, const char *text, size_t len);

/* Writes a number to a tenth: "12.5", "-3", "0". */
void svg_number(FILE *out, double px);

/* Writes two numbers, as coordinates in path data: "12.5 -3". */
void svg_point(FILE *out, double x_px, double y_px);

void svg_line(FILE *out, const char *class, double x1_px, double y1_px, double x2_px, double y2_px);

/* Opens a rectangle, so that a <title> may be put into it; svg_rect_close closes it. */
void svg_rect_open(FILE *out, const char *class, double x_px, double y_px, double width_px,
                   double height_px);
void svg_rect_close(FILE *out);

/* Writes a text, turned by degrees around its point. anchor: "start", "middle" or "end". */
void svg_text(FILE *out, const char *class, double x_px, double y_px, const char *anchor,
              double degrees, const char *text);

/*
 * Estimates the width of a text. The reader's font is unknown, so Helvetica's widths are used, with
 * a tenth added for wider fonts. The estimate decides margins, wrapping and which labels fit, never
 * where a datum is drawn.
 */

#define LABEL_SIZE 160

/* Returns the width of UTF-8 text at a font size, both in pixels. NULL is 0 wide. */
double label_width_px(const char *text, double font_px);

/* Copies text into buf[LABEL_SIZE], shortened with an ellipsis if it is wider than max_px. */
void label_fit(char *buf, const char *text, double font_px, double max_px);

#endif
