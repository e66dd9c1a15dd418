/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/hover.h"

#include <math.h>
#include <string.h>

#include "report/svg.h"
#include "report/xml.h"

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

static void take_bins(const struct plot *plot, const struct series *series, struct cell *cells)
{
	for (size_t i = 0; i < series->n; i++) {
		size_t from = strip_of(plot, series->x[i]), to = strip_of(plot, series->x[i + 1]);

		if (from == HOVER_STRIPS)
			continue;
		for (size_t k = from; k <= to && k < HOVER_STRIPS; k++)
			take(&cells[k], series->y[i], series->y[i]);
	}
}

static void take_series(const struct plot *plot, const struct series *series, struct cell *cells)
{
	if (series->kind == SERIES_HISTOGRAM) {
		take_bins(plot, series, cells);
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
static void write_range(FILE *out, enum chart_unit unit, const struct scale *scale, double low,
                        double high)
{
	char from[CHART_UNIT_SIZE], to[CHART_UNIT_SIZE];

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

void hover_draw(const struct plot *plot, const struct plot_series *all, size_t n_series)
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
