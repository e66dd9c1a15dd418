/* SPDX-License-Identifier: BSD-3-Clause */
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

/* Returns 0, or -EINVAL for a range that is not finite or that a log10 axis cannot have, and for
 * missing names or ticks. */
int axis_check(const struct axis *axis);

#endif
