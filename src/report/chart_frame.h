/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands around the data area of a chart: grid, axes, ticks and their labels; and how much
 * room that takes. Private to report.
 */
#ifndef WEIR_CHART_FRAME_H
#define WEIR_CHART_FRAME_H

#include "report/plot.h"

/* Room left of the data area for the y axis' labels. */
double chart_frame_left_px(const struct plot *plot, const struct axis *y);

/* Room below the data area and its lanes for the x axis' labels. Needs the plot's width. */
double chart_frame_bottom_px(const struct plot *plot, const struct axis *x);

/* Draws all of it, around the plot's origin. */
void chart_frame_draw_grid(const struct plot *plot);
void chart_frame_draw_axes(const struct plot *plot, const struct axis *x, const struct axis *y);

#endif
