/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SVG path data of a line through any number of points whose x does not change direction. Of the
 * points in one pixel column only the first, the topmost, the lowest and the last are kept, in
 * their order: the picture looks the same, no spike is lost, and the length is bounded by the width
 * (some 50 bytes a column). A gap within a column is not shown.
 */
#ifndef WEIR_POLYLINE_H
#define WEIR_POLYLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct polyline_vertex {
	double x_px, y_px;
	size_t order;
};

struct polyline {
	FILE *out;
	bool step;   /* horizontal, then vertical, instead of straight */
	bool begun;  /* a part of the path has its first point */
	bool lone;   /* ... and only that point */
	bool gap;    /* start again with the next column */
	bool filled; /* the column holds points */
	double column;
	size_t order;
	struct polyline_vertex first, top, low, last;
};

/* Begins a line at the next point. With `joined`, the line begins where the path data so far have
 * ended. */
void polyline_begin(struct polyline *line, FILE *out, bool step, bool joined);
void polyline_add(struct polyline *line, double x_px, double y_px);
void polyline_gap(struct polyline *line);
void polyline_end(struct polyline *line);

#endif
