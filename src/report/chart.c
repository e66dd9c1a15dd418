/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/chart.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/plot.h"
#include "report/svg.h"
#include "report/theme.h"

static int axis_check(const struct axis *axis)
{
	if (axis->unit >= HUMAN_UNITS || axis->scale > AXIS_LOG10)
		return -EINVAL;
	if (!isfinite(axis->min) || !isfinite(axis->max) || axis->min > axis->max)
		return -EINVAL;
	if (axis->scale == AXIS_LOG10 && axis->min < axis->max && axis->min <= 0)
		return -EINVAL;
	if ((axis->n_ticks > 0 && axis->ticks == NULL) ||
	    (axis->n_categories > 0 && axis->categories == NULL))
		return -EINVAL;
	return 0;
}

/*
 * The values under the pointer. The data area is covered by HOVER_STRIPS strips side by side. Each
 * strip has a tooltip of the browser (an SVG <title>) with its place on the x axis and the values
 * of each series in it. So each chart shows its values in a bounded number of bytes, however many
 * data it has and however they are drawn. Charts with categories need no strips: their bars show
 * their values.
 */
#define HOVER_STRIPS     72
#define HOVER_SERIES_MAX 8 /* of a chart; the values of further series are not shown */

#define DIGITS 4

/* The values of a series in a strip. */
struct cell {
	double low, high; /* low > high: nothing */
	size_t n;
};

static double strip_px(const struct plot *plot)
{
	return plot->width_px / HOVER_STRIPS;
}

/* Returns the strip of x, or HOVER_STRIPS if x is not in view. */
static size_t strip_of(const struct plot *plot, double x)
{
	double px = isfinite(x) && scale_holds(&plot->x, x) ? scale_px(&plot->x, x) : -1;

	if (px < 0 || px > plot->width_px)
		return HOVER_STRIPS;
	return fmin(px / strip_px(plot), HOVER_STRIPS - 1);
}

static void take(struct cell *cell, double low, double high)
{
	if (!isfinite(low) || !isfinite(high))
		return;
	cell->low = cell->n == 0 ? low : fmin(cell->low, low);
	cell->high = cell->n == 0 ? high : fmax(cell->high, high);
	cell->n++;
}

/* Gives strips without a point of their own the value that holds there. */
static void hold_steps(struct cell *cells)
{
	double last = NAN;

	for (size_t i = 0; i < HOVER_STRIPS; i++) {
		double next = cells[i].high;

		if (cells[i].n == 0)
			take(&cells[i], last, last);
		else
			last = next;
	}
}

static void take_series(const struct plot *plot, const struct series *series, struct cell *cells)
{
	if (series->kind == SERIES_HISTOGRAM) {
		for (size_t i = 0; i < series->n; i++) {
			size_t from = strip_of(plot, series->x[i]),
			       to = strip_of(plot, series->x[i + 1]);

			if (from == HOVER_STRIPS)
				continue;
			for (size_t k = from; k <= to && k < HOVER_STRIPS; k++)
				take(&cells[k], series->y[i], series->y[i]);
		}
		return;
	}
	for (size_t i = 0; i < series->n; i++) {
		size_t strip;

		if (series->kind == SERIES_HLINES) {
			for (size_t k = 0; k < HOVER_STRIPS; k++)
				take(&cells[k], series->y[i], series->y[i]);
			continue;
		}
		strip = strip_of(plot, series->x[i]);
		if (strip == HOVER_STRIPS)
			continue;
		if (series->kind == SERIES_MARKS)
			take(&cells[strip], 0, 0);
		else if (series->kind == SERIES_VLINES)
			take(&cells[strip], series->x[i], series->x[i]);
		else if (series->kind == SERIES_BAND)
			take(&cells[strip], series->low[i], series->high[i]);
		else
			take(&cells[strip], series->y[i], series->y[i]);
	}
	if (series->kind == SERIES_STEP)
		hold_steps(cells);
}

/* Writes `1.2 ms`, or `1.2 ms to 1.4 ms`. */
static void write_range(FILE *out, enum human_unit unit, const struct scale *scale, double low,
                        double high)
{
	char from[HUMAN_UNIT_SIZE], to[HUMAN_UNIT_SIZE];

	scale_format(from, scale, unit, low, DIGITS);
	scale_format(to, scale, unit, high, DIGITS);
	fputs(from, out);
	if (strcmp(from, to) != 0)
		fprintf(out, " to %s", to);
}

static void write_cell(const struct plot *plot, const struct series *series,
                       const struct cell *cell)
{
	fputc('\n', plot->out);
	if (series->name != NULL) {
		xml_text(plot->out, series->name);
		fputs(": ", plot->out);
	}
	if (series->kind == SERIES_MARKS)
		fprintf(plot->out, "%zu", cell->n);
	else if (series->kind == SERIES_VLINES)
		write_range(plot->out, plot->x_unit, &plot->x, cell->low, cell->high);
	else
		write_range(plot->out, plot->y_unit, &plot->y, cell->low, cell->high);
}

/* Returns the value of the x axis at a pixel. */
static double x_at(const struct plot *plot, double px)
{
	const struct scale *x = &plot->x;
	double share = (px - x->start_px) / (x->end_px - x->start_px);

	share = fmin(fmax(share, 0), 1);
	if (x->kind == AXIS_LOG10)
		return x->lo * pow(x->hi / x->lo, share);
	return x->lo + share * (x->hi - x->lo);
}

static void hover_draw(const struct plot *plot, const struct plot_series *all, size_t n_series)
{
	struct cell cells[HOVER_SERIES_MAX][HOVER_STRIPS] = {0};
	double height_px = plot->height_px + plot->n_lanes * PLOT_LANE_PX;
	size_t n = n_series < HOVER_SERIES_MAX ? n_series : HOVER_SERIES_MAX;

	if (plot->n_categories > 0)
		return;
	for (size_t s = 0; s < n; s++)
		take_series(plot, all[s].series, cells[s]);
	for (size_t i = 0; i < HOVER_STRIPS; i++) {
		double left_px = (double)i * strip_px(plot);
		size_t told = 0;

		for (size_t s = 0; s < n; s++)
			told += cells[s][i].n > 0 && all[s].series->kind != SERIES_HLINES;
		if (told == 0)
			continue;
		svg_rect_open(plot->out, "hover", left_px, 0, strip_px(plot), height_px);
		fputs("<title>", plot->out);
		write_range(plot->out, plot->x_unit, &plot->x, x_at(plot, left_px),
		            x_at(plot, left_px + strip_px(plot)));
		for (size_t s = 0; s < n; s++) {
			if (cells[s][i].n > 0)
				write_cell(plot, all[s].series, &cells[s][i]);
		}
		fputs("</title>", plot->out);
		svg_rect_close(plot->out);
	}
}

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

int bins_divide(double *edges, size_t n, enum axis_scale scale, double lo, double hi)
{
	if (n == 0 || !(lo < hi) || !isfinite(lo) || !isfinite(hi) ||
	    (scale == AXIS_LOG10 && lo <= 0))
		return -EINVAL;
	for (size_t i = 0; i <= n; i++) {
		double part = (double)i / (double)n;
		edges[i] = scale == AXIS_LOG10 ? lo * pow(hi / lo, part) : lo + (hi - lo) * part;
	}
	edges[n] = hi; /* exact, so that rounding does not lose the largest sample */
	return 0;
}

size_t bins_count(const double *edges, double *counts, size_t n, const double *samples,
                  size_t n_samples)
{
	size_t outside = 0;
	for (size_t i = 0; i < n_samples; i++) {
		size_t lower = 0, upper = n;
		if (n == 0 || !(samples[i] >= edges[0] && samples[i] <= edges[n])) {
			outside++;
			continue;
		}
		while (upper - lower > 1) {
			size_t middle = lower + (upper - lower) / 2;
			if (samples[i] >= edges[middle])
				lower = middle;
			else
				upper = middle;
		}
		counts[lower]++;
	}
	return outside;
}
