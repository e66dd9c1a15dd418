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
 * 		.x = {.label = "Time", .unit = HUMAN_NS},
 * 		.y = {.label = "Delay", .unit = HUMAN_NS},
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

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "units/human_unit.h"
#include "report/series.h"

/*
 * One axis of a chart as its user describes it. All zero is a plain linear axis whose range fits
 * the data.
 *
 * Range: given if min < max; chosen if min == max: the x axis then ends with the data, the y axis
 * at round numbers. A linear axis starts at 0 if the data come near 0, if from_zero is set, or if
 * bars or a histogram stand on it. A log10 axis has no place for values <= 0: they are drawn at its
 * lower end and do not affect its range.
 *
 * Ticks: multiples of 1, 2 or 5 times a power of ten, in the largest prefix that suits the range;
 * or exactly the given ones. A linear axis names the unit once, in its label ("Delay (ms)"), a
 * log10 axis at every tick ("10 µs").
 *
 * Categories: if there are names, they mark the places 0 .. n_categories - 1; only the x axis may
 * have them. Scale, unit, range and ticks are then ignored. A bar series has a value for each
 * category; points and lines may use the places as x.
 */
enum axis_scale {
	AXIS_LINEAR,
	AXIS_LOG10,
};

struct axis {
	const char *label; /* NULL: none */
	enum human_unit unit;
	enum axis_scale scale;
	bool from_zero; /* extend a chosen linear range to 0 */
	double min, max;
	const double *ticks; /* ascending; NULL: chosen */
	size_t n_ticks;
	const char *const *categories;
	size_t n_categories;
};

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
 * Returns 0; the error of series_check; or -EINVAL for an axis whose range is not finite, or one
 * that a log10 axis cannot have, or that misses names or ticks; a size out of range; categories on
 * the y axis; or more than CHART_SERIES_MAX series.
 */
#define CHART_SERIES_MAX 64
int chart_check(const struct chart *chart);

/*
 * Writes the chart as the <svg> element of a page that holds theme.h's style sheet (page_figure
 * does this). Returns 0; an error of chart_check, with nothing written; or -ENOMEM or -EIO, with
 * part written.
 */
int chart_write(const struct chart *chart, FILE *out);

/*
 * Counts samples into bins, for a histogram series: n bins have n + 1 ascending edges. A bin holds
 * lower <= sample < upper, the last bin also its upper edge. All arrays are the caller's.
 */

/* Sets edges[0 .. n] from lo to hi, equally wide on the scale. Returns 0; or -EINVAL unless n > 0,
 * lo < hi, and lo > 0 for log10. */
int bins_divide(double *edges, size_t n, enum axis_scale scale, double lo, double hi);

/* Adds each sample to counts[0 .. n - 1], which the caller has set to zero. Returns how many
 * samples lay outside or were NaN. */
size_t bins_count(const double *edges, double *counts, size_t n, const double *samples,
                  size_t n_samples);

#endif
