/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data area of a chart while it is drawn: where values lie, and how much room there is. Its
 * origin is the upper left corner. Below the area there is a lane for each series of marks, and
 * below the lanes the x axis. Private to report.
 */
#ifndef WEIR_PLOT_H
#define WEIR_PLOT_H

#include <stdio.h>

#include "report/scale.h"
#include "report/series.h"

#define PLOT_LANE_PX 13

struct plot {
	FILE *out;
	struct scale x, y;
	double width_px, height_px; /* of the data area, without the lanes */
	unsigned n_lanes;
	const char *const *categories;
	size_t n_categories;
	enum chart_unit x_unit, y_unit;
	unsigned n_bars; /* series of bars, which share each category's place */
};

/* A series within its chart. */
struct plot_series {
	const struct series *series;
	unsigned color;            /* 1 .. THEME_COLORS */
	enum series_marker marker; /* never AUTO */
	unsigned lane;             /* of marks */
	unsigned bar;              /* its place among the n_bars, from 0 */
};

/* Draws a series. Returns 0, or -ENOMEM. */
int plot_draw(const struct plot *plot, const struct plot_series *ps);

/* The parts of plot_draw, a file each. */
void bars_draw(const struct plot *plot, const struct plot_series *ps);
void bars_draw_values(const struct plot *plot, const struct plot_series *ps);
void curve_draw(const struct plot *plot, const struct plot_series *ps);
int scatter_draw(const struct plot *plot, const struct plot_series *ps);
int marks_draw(const struct plot *plot, const struct plot_series *ps);

/* Computes the left edge and the width of the i-th bar of a series. */
void bars_place(const struct plot *plot, const struct plot_series *ps, size_t i, double *left_px,
                double *width_px);

/* Return relative path data of a marker around the current point of a path, and the classes to draw
 * it with. */
const char *marker_path(enum series_marker marker, bool small);
const char *marker_class(const struct plot_series *ps);

#endif
