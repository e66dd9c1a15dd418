/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/series.h"

#include <errno.h>
#include <math.h>

#include "report/theme.h"

enum {
	NEEDS_X = 1,
	NEEDS_Y = 2,
	NEEDS_LOW_HIGH = 4,
	NEEDS_ORDER = 8,
};

static const struct {
	unsigned needs;
	size_t max; /* 0: any number */
} kinds[] = {
        [SERIES_POINTS] = {NEEDS_X | NEEDS_Y, 0},
        [SERIES_LINE] = {NEEDS_X | NEEDS_Y | NEEDS_ORDER, 0},
        [SERIES_STEP] = {NEEDS_X | NEEDS_Y | NEEDS_ORDER, 0},
        [SERIES_BAND] = {NEEDS_X | NEEDS_LOW_HIGH | NEEDS_ORDER, 0},
        [SERIES_BARS] = {NEEDS_Y, SERIES_BARS_MAX},
        [SERIES_HISTOGRAM] = {NEEDS_X | NEEDS_Y | NEEDS_ORDER, 0},
        [SERIES_MARKS] = {NEEDS_X, 0},
        [SERIES_VLINES] = {NEEDS_X, SERIES_LINES_MAX},
        [SERIES_HLINES] = {NEEDS_Y, SERIES_LINES_MAX},
};

static bool has_whiskers(const struct series *series)
{
	return series->low != NULL && (series->kind == SERIES_POINTS ||
	                               series->kind == SERIES_LINE || series->kind == SERIES_BARS);
}

/* Returns how many values x has. */
static size_t x_length(const struct series *series)
{
	if (series->kind == SERIES_HISTOGRAM)
		return series->n > 0 ? series->n + 1 : 0;
	return kinds[series->kind].needs & NEEDS_X ? series->n : 0;
}

static bool is_ascending(const double *x, size_t n)
{
	double last = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i]))
			continue;
		if (x[i] < last)
			return false;
		last = x[i];
	}
	return true;
}

int series_check(const struct series *series, size_t n_categories)
{
	if (series->kind > SERIES_HLINES || series->marker > SERIES_MARKER_CROSS ||
	    series->color > THEME_COLORS)
		return -EINVAL;
	unsigned needs = kinds[series->kind].needs;
	if ((series->low == NULL) != (series->high == NULL))
		return -EINVAL;
	if (series->kind == SERIES_BARS && n_categories < series->n)
		return -EINVAL;
	if (series->n == 0)
		return 0;
	if (((needs & NEEDS_X) && series->x == NULL) || ((needs & NEEDS_Y) && series->y == NULL) ||
	    ((needs & NEEDS_LOW_HIGH) && series->low == NULL))
		return -EINVAL;
	if (kinds[series->kind].max > 0 && series->n > kinds[series->kind].max)
		return -E2BIG;
	if (has_whiskers(series) && series->n > SERIES_WHISKERS_MAX)
		return -E2BIG;
	if ((needs & NEEDS_ORDER) && !is_ascending(series->x, x_length(series)))
		return -EINVAL;
	return 0;
}

static void range_extend(struct series_range *range, const double *values, size_t n)
{
	for (size_t i = 0; values != NULL && i < n; i++) {
		double v = values[i];
		if (!isfinite(v))
			continue;
		range->min = fmin(range->min, v);
		range->max = fmax(range->max, v);
		if (v > 0)
			range->min_positive = fmin(range->min_positive, v);
	}
}

void series_extend(const struct series *series, struct series_range *x, struct series_range *y)
{
	range_extend(x, series->x, x_length(series));
	if (kinds[series->kind].needs & NEEDS_Y)
		range_extend(y, series->y, series->n);
	if (has_whiskers(series) || (kinds[series->kind].needs & NEEDS_LOW_HIGH)) {
		range_extend(y, series->low, series->n);
		range_extend(y, series->high, series->n);
	}
}

bool series_stands_on_axis(const struct series *series)
{
	return series->kind == SERIES_BARS || series->kind == SERIES_HISTOGRAM;
}
