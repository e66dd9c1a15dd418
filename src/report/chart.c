/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/chart.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/chart_frame.h"
#include "report/hover.h"
#include "report/label.h"
#include "report/legend.h"
#include "report/plot.h"
#include "report/svg.h"
#include "report/theme.h"
#include "report/xml.h"

#define TITLE_FONT_PX    15.0 /* 14, bold */
#define TITLE_PX         26.0
#define TOP_PX           12.0
#define RIGHT_PX         28.0
#define X_INSET_PX       8.0  /* between the y axis and the first datum of a chosen range */
#define X_TICK_PX        85.0 /* one labelled tick in about so many pixels */
#define Y_TICK_PX        42.0
#define LEAST_PX         40.0
#define MARKERS_AUTO_MAX 40

static unsigned width_px(const struct chart *chart)
{
	return chart->width_px == 0 ? CHART_WIDTH_PX : chart->width_px;
}

static unsigned height_px(const struct chart *chart)
{
	return chart->height_px == 0 ? CHART_HEIGHT_PX : chart->height_px;
}

int chart_check(const struct chart *chart)
{
	if (width_px(chart) < 240 || width_px(chart) > 2000 || height_px(chart) < 120 ||
	    height_px(chart) > 2000)
		return -EINVAL;
	if (chart->n_series > CHART_SERIES_MAX || (chart->n_series > 0 && chart->series == NULL))
		return -EINVAL;
	if (chart->y.n_categories > 0)
		return -EINVAL;
	int rc = axis_check(&chart->x);
	if (rc == 0)
		rc = axis_check(&chart->y);
	for (size_t i = 0; rc == 0 && i < chart->n_series; i++)
		rc = series_check(&chart->series[i], chart->x.n_categories);
	return rc;
}

static bool chart_has_heights(const struct chart *chart)
{
	for (size_t i = 0; i < chart->n_series; i++)
		if (series_stands_on_axis(&chart->series[i]))
			return true;
	return false;
}

static bool chart_is_empty(const struct chart *chart)
{
	for (size_t i = 0; i < chart->n_series; i++)
		if (chart->series[i].n > 0)
			return false;
	return true;
}

/* Gives every series its colour, marker and place. */
static void arrange_series(const struct chart *chart, struct plot *plot, struct plot_series *all)
{
	static const enum series_marker markers[] = {SERIES_MARKER_CIRCLE, SERIES_MARKER_SQUARE,
	                                             SERIES_MARKER_TRIANGLE, SERIES_MARKER_DIAMOND,
	                                             SERIES_MARKER_CROSS};
	for (size_t i = 0; i < chart->n_series; i++) {
		const struct series *series = &chart->series[i];
		struct plot_series *ps = &all[i];
		ps->series = series;
		ps->color = series->color != 0 ? series->color : (unsigned)(i % THEME_COLORS) + 1;
		ps->marker = series->marker;
		if (ps->marker == SERIES_MARKER_AUTO) {
			bool wanted = series->kind != SERIES_LINE || series->n <= MARKERS_AUTO_MAX;
			ps->marker = wanted ? markers[i % (sizeof(markers) / sizeof(markers[0]))]
			                    : SERIES_MARKER_NONE;
		}
		ps->lane = series->kind == SERIES_MARKS ? plot->n_lanes++ : 0;
		ps->bar = series->kind == SERIES_BARS ? plot->n_bars++ : 0;
	}
}

/* Chooses the ranges and divides the picture. `left_px` and `top_px` get the corner where the data
 * area begins. */
static void arrange_plot(const struct chart *chart, struct plot *plot,
                         const struct plot_series *all, double *left_px, double *top_px)
{
	struct series_range x_range = SERIES_RANGE_EMPTY, y_range = SERIES_RANGE_EMPTY;
	struct axis y = chart->y;
	bool values = false;
	y.from_zero |= chart_has_heights(chart);
	for (size_t i = 0; i < chart->n_series; i++) {
		series_extend(&chart->series[i], &x_range, &y_range);
		values |= chart->series[i].values;
	}
	if (values) /* room for the text above the highest bar */
		y_range.max *= 1.05;
	double about_px = height_px(chart) - 100.0;
	scale_choose(&plot->y, &y, &y_range, SCALE_LOOSE,
	             (unsigned)lround(fmax(about_px / Y_TICK_PX, 2)));
	*left_px = chart_frame_left_px(plot, &y);
	plot->width_px = fmax(width_px(chart) - *left_px - RIGHT_PX, LEAST_PX);
	scale_choose(&plot->x, &chart->x, &x_range, SCALE_TIGHT,
	             (unsigned)lround(fmax(plot->width_px / X_TICK_PX, 2)));

	unsigned rows = legend_rows(all, chart->n_series, plot->width_px);
	*top_px = TOP_PX + (chart->title != NULL ? TITLE_PX : 0) + rows * LEGEND_ROW_PX +
	          (rows > 0 ? 6 : 0);
	double bottom_px = chart_frame_bottom_px(plot, &chart->x) + plot->n_lanes * PLOT_LANE_PX;
	plot->height_px = fmax(height_px(chart) - *top_px - bottom_px, LEAST_PX);

	bool chosen = chart->x.min >= chart->x.max && plot->n_categories == 0;
	double inset_px = chosen ? X_INSET_PX : 0;
	plot->x.start_px = inset_px;
	plot->x.end_px = plot->width_px - inset_px;
	plot->y.start_px = plot->height_px;
	plot->y.end_px = 0;
}

static int draw_inside(const struct chart *chart, FILE *out)
{
	struct plot_series all[CHART_SERIES_MAX];
	struct plot plot = {
	        .out = out,
	        .categories = chart->x.categories,
	        .n_categories = chart->x.n_categories,
	        .x_unit = chart->x.unit,
	        .y_unit = chart->y.unit,
	};
	double left_px, top_px;
	int rc = 0;
	arrange_series(chart, &plot, all);
	arrange_plot(chart, &plot, all, &left_px, &top_px);

	if (chart->title != NULL) {
		char title[LABEL_SIZE];
		label_fit(title, chart->title, TITLE_FONT_PX, width_px(chart) - left_px);
		svg_text(out, "title", left_px, TOP_PX + 10, "start", 0, title);
	}
	double legend_px = TOP_PX + (chart->title != NULL ? TITLE_PX : 0) + 4;
	legend_draw(out, all, chart->n_series, left_px, legend_px, plot.width_px);
	fputs("<g transform=\"translate(", out);
	svg_point(out, left_px, top_px);
	fputs(")\">\n", out);
	chart_frame_draw_grid(&plot);
	/* Bars and histograms stand on the axis, so the axes are drawn over them. The axes must not
	 * hide points and lines that touch them. */
	bool axes_last = chart_has_heights(chart);
	if (!axes_last)
		chart_frame_draw_axes(&plot, &chart->x, &chart->y);
	for (size_t i = 0; rc == 0 && i < chart->n_series; i++)
		rc = plot_draw(&plot, &all[i]);
	if (axes_last)
		chart_frame_draw_axes(&plot, &chart->x, &chart->y);
	if (rc == 0)
		hover_draw(&plot, all, chart->n_series);
	if (chart_is_empty(chart))
		svg_text(out, "tick", plot.width_px / 2, plot.height_px / 2, "middle", 0,
		         "no data");
	fputs("</g>\n", out);
	return rc;
}

int chart_write(const struct chart *chart, FILE *out)
{
	int rc = chart_check(chart);

	if (rc != 0)
		return rc;
	fprintf(out, "<svg class=\"chart\" role=\"img\" width=\"%u\" height=\"%u\"",
	        width_px(chart), height_px(chart));
	fprintf(out, " viewBox=\"0 0 %u %u\" aria-label=\"", width_px(chart), height_px(chart));
	xml_text(out, chart->title != NULL ? chart->title : "chart");
	fputs("\">\n", out);
	rc = draw_inside(chart, out);
	fputs("</svg>\n", out);
	return rc == 0 && ferror(out) ? -EIO : rc;
}
