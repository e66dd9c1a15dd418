/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chart as SVG. It is a description that the caller fills in and keeps; writing it changes and
 * copies nothing, so any struct here may be const, and arrays may be the caller's own. For
 * instance:
 *
 * 	const struct series series[] = {
 * 		{.kind = SERIES_POINTS, .name = "delivered", .x = t_ns, .y = delay_ns, .n = n},
 * 		{.kind = SERIES_MARKS, .name = "lost", .x = lost_ns, .n = n_lost, .color = 2},
 * 	};
 * 	const struct chart chart = {
 * 		.title = "Delay of each packet",
 * 		.x = {.label = "Time", .unit = CHART_NS},
 * 		.y = {.label = "Delay", .unit = CHART_NS},
 * 		.series = series,
 * 		.n_series = 2,
 * 	};
 * 	rc = chart_write(&chart, out);
 *
 * Series are drawn in their order, later ones over earlier ones; colours and markers follow the
 * same order unless given. Names stand in a legend above the data, which it cannot cover. Without
 * any data, the axes are drawn and say so.
 *
 * Determinism: the same description and data give the same bytes, in any locale; there is no
 * state between calls. The size of the output is bounded whatever the number of data: series.h
 * says how. Besides the output, memory is used only for series of more than SERIES_MARKERS_MAX
 * points (some 350 kB at a time) and returned before the call ends.
 *
 * Charts one above the other line up on the x axis if they share size and a given x range (the
 * left margin grows only for tick labels wider than about ten characters).
 */
#ifndef WEIR_CHART_H
#define WEIR_CHART_H

#include <stdio.h>

#include "report/axis.h"
#include "report/series.h"

#define CHART_WIDTH_PX  720
#define CHART_HEIGHT_PX 360

struct chart {
	const char *title; /* NULL: none */
	struct axis x, y;
	const struct series *series;
	size_t n_series;
	unsigned width_px;  /* 0: CHART_WIDTH_PX; else 240 .. 2000 */
	unsigned height_px; /* 0: CHART_HEIGHT_PX; else 120 .. 2000 */
};

/*
 * Returns 0, or the error of axis_check or series_check; or -EINVAL for a size out of range,
 * categories on the y axis, or more than CHART_SERIES_MAX series.
 */
#define CHART_SERIES_MAX 64
int chart_check(const struct chart *chart);

/*
 * Writes the chart as the <svg> element of a page that holds theme.h's style sheet (page_figure
 * does this). Returns 0; an error of chart_check, with nothing written; or -ENOMEM or -EIO, with
 * part written.
 */
int chart_write(const struct chart *chart, FILE *out);

#endif
