/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One axis of a chart as its user describes it. All zero is a plain linear axis whose range fits
 * the data.
 *
 * Range: given by min < max, or, with min == max, chosen: the x axis ends with the data, the y
 * axis at round numbers. A linear axis starts at 0 when the data come near it, when from_zero is
 * set, or when bars or a histogram stand on it. A log10 axis has no place for values <= 0: they
 * are drawn at its lower end and do not choose its range.
 *
 * Ticks: multiples of 1, 2 or 5 times a power of ten, in the largest prefix that suits the range;
 * or exactly the given ones. A linear axis names the unit once, in its label ("Delay (ms)"), a
 * log10 axis at every tick ("10 µs").
 *
 * Categories: with names, places 0 .. n_categories - 1 are marked by them; only the x axis may
 * have them. Scale, unit, range and ticks are then ignored. A bar series has a value for each;
 * points and lines may use the places as x.
 */
#ifndef WEIR_AXIS_H
#define WEIR_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/chart_unit.h"

enum axis_scale {
	AXIS_LINEAR,
	AXIS_LOG10,
};

struct axis {
	const char *label; /* NULL: none */
	enum chart_unit unit;
	enum axis_scale scale;
	bool from_zero; /* extend a chosen linear range to 0 */
	double min, max;
	const double *ticks; /* ascending; NULL: chosen */
	size_t n_ticks;
	const char *const *categories;
	size_t n_categories;
};

/* 0, or -EINVAL: a range that is not finite or that a log10 axis cannot have, names or ticks
 * missing. */
int axis_check(const struct axis *axis);

#endif
