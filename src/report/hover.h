/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values under the pointer: the data area in HOVER_STRIPS strips side by side, each with the
 * browser's tooltip (an SVG <title>): where it lies on the x axis, and of each series its values
 * there. So each chart shows its values, however many data it has and however they are drawn, in a
 * bounded number of bytes. Charts with categories need none: their bars say their values.
 *
 * Private to report.
 */
#ifndef WEIR_HOVER_H
#define WEIR_HOVER_H

#include "report/plot.h"

#define HOVER_STRIPS     72
#define HOVER_SERIES_MAX 8 /* of a chart; those behind are not told */

void hover_draw(const struct plot *plot, const struct plot_series *all, size_t n_series);

#endif
