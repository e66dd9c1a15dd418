/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The surroundings of the data area of a chart: grid, axes, ticks and their labels; and the room
 * that they take. Private to report.
 */
#ifndef WEIR_CHART_FRAME_H
#define WEIR_CHART_FRAME_H

#include "report/plot.h"

/* Returns the room left of the data area for the labels of the y axis. */
double chart_frame_left_px(const struct plot *plot, const struct axis *y);

/* Returns the room below the data area and its lanes for the labels of the x axis. Needs the plot's
 * width. */
double chart_frame_bottom_px(const struct plot *plot, const struct axis *x);

/* Draw them, relative to the plot's origin. */
void chart_frame_draw_grid(const struct plot *plot);
void chart_frame_draw_axes(const struct plot *plot, const struct axis *x, const struct axis *y);

#endif
