/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values under the pointer. The data area is covered by HOVER_STRIPS strips side by side. Each
 * strip has a tooltip of the browser (an SVG <title>) with its place on the x axis and the values
 * of each series in it. So each chart shows its values in a bounded number of bytes, however many
 * data it has and however they are drawn. Charts with categories need no strips: their bars show
 * their values.
 *
 * Private to report.
 */
#ifndef WEIR_HOVER_H
#define WEIR_HOVER_H

#include "report/plot.h"

#define HOVER_STRIPS     72
#define HOVER_SERIES_MAX 8 /* of a chart; the values of further series are not shown */

void hover_draw(const struct plot *plot, const struct plot_series *all, size_t n_series);

#endif
