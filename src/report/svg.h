/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the few SVG elements that charts are made of. Coordinates are pixels, written to a tenth.
 * `class` is one or more CSS classes of theme.h. Errors stay in ferror(out).
 */
#ifndef WEIR_SVG_H
#define WEIR_SVG_H

#include <stdio.h>

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

#endif
