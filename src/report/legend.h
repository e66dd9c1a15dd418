/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of a chart's series, each behind a sample of how it is drawn, in rows above the data
 * area, where they cover nothing. Private to report.
 */
#ifndef WEIR_LEGEND_H
#define WEIR_LEGEND_H

#include <stdio.h>

#include "report/plot.h"

#define LEGEND_ROW_PX 19

/* Returns how many rows the named series need in this width; 0 if none has a name. */
unsigned legend_rows(const struct plot_series *all, size_t n, double width_px);

/* Draws the rows. The middle of the first is at y_px. */
void legend_draw(FILE *out, const struct plot_series *all, size_t n, double x_px, double y_px,
                 double width_px);

#endif
