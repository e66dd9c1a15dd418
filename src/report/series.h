/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One set of data in a chart and the way it is drawn. A series only points at its caller's arrays;
 * they must live until the chart is written, and nothing is copied or changed. A value that is not
 * finite is left out: a line has a gap there.
 *
 * However many data there are, the drawing is bounded; in bytes for the default size of a chart:
 *
 *   points   each has its marker, up to SERIES_MARKERS_MAX in view. More are counted in cells of
 *            1.5 px, and every occupied cell is drawn, in four strengths by count: density shows,
 *            and so does the single outlier. Ordinary data < 200 kB, evenly spread < 400 kB.
 *   lines, steps, bands, histograms
 *            first, smallest, largest and last value of each pixel column, so that no spike is
 *            lost. < 60 kB, a histogram twice that.
 *   marks    counted in columns of 1.5 px, in the same strengths. < 16 kB.
 *   bars     one each.
 *
 * Bars and up to 150 points have tooltips of the browser with their values. So has each strip of a
 * chart, with all values in it (chart.h): 12 kB a series at most.
 */
#ifndef WEIR_SERIES_H
#define WEIR_SERIES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum series_kind {
	SERIES_POINTS, /* x, y; low and high: error bars */
	SERIES_LINE,   /* x, y straight lines; low and high: error bars */
	SERIES_STEP,   /* x, y: the value y[i] holds from x[i] to x[i + 1] */
	SERIES_BAND,   /* x, low, high: the area between */
	SERIES_BARS,   /* y: one value for each category, series in groups; low, high: error bars */
	SERIES_HISTOGRAM, /* x: n + 1 ascending bin edges, y: n heights (chart.h makes both) */
	SERIES_MARKS,     /* x: ticks in a lane of their own between the data and the x axis */
	SERIES_VLINES,    /* x: lines across the chart, for percentiles or events */
	SERIES_HLINES,    /* y: lines along the chart, for limits or configured values */
};

enum series_marker {
	SERIES_MARKER_AUTO, /* points: by position; a line: the same, but none beyond 40 points */
	SERIES_MARKER_NONE,
	SERIES_MARKER_CIRCLE,
	SERIES_MARKER_SQUARE,
	SERIES_MARKER_TRIANGLE,
	SERIES_MARKER_DIAMOND,
	SERIES_MARKER_CROSS,
};

#define SERIES_MARKERS_MAX  2000 /* points drawn one by one */
#define SERIES_WHISKERS_MAX 2000 /* error bars in a series; more data are better drawn as a band */
#define SERIES_LINES_MAX    200  /* VLINES and HLINES in a series */
#define SERIES_BARS_MAX     1000 /* categories */

struct series {
	enum series_kind kind;
	const char *name; /* in the legend; NULL: not in it */
	const double *x, *y;
	const double *low, *high; /* NULL, or the ends of error bars and bands as absolute values */
	size_t n;
	unsigned color; /* 1 .. THEME_COLORS; 0: by position among the series */
	enum series_marker marker;
	bool hollow; /* markers, bars: outline only, for data to compare with */
	bool dashed; /* lines */
	bool values; /* bars: the value above each, where it fits */
};

/* The smallest and largest finite values so far; min > max while there are none. */
struct series_range {
	double min, max;
	double min_positive; /* INFINITY while there is none */
};

/*
 * Returns 0; -EINVAL if an array that the kind needs is missing, x of a line, step, band or
 * histogram decreases, or only one of low and high is given; -E2BIG beyond one of the maxima above.
 */
int series_check(const struct series *series, size_t n_categories);

/* Widens the ranges (start from SERIES_RANGE_EMPTY) so that the series fits in. */
/* clang-format off */
#define SERIES_RANGE_EMPTY {.min = INFINITY, .max = -INFINITY, .min_positive = INFINITY}
/* clang-format on */
void series_extend(const struct series *series, struct series_range *x, struct series_range *y);

/* Returns true if heights are measured from the axis, which must then begin at 0. */
bool series_stands_on_axis(const struct series *series);

#endif
