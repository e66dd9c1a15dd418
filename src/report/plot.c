/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/plot.h"

#include <math.h>
#include <string.h>

#include "report/svg.h"
#include "units/human_unit.h"

#define GROUP_PART    0.72 /* share of a category's place for its bars */
#define BAR_WIDEST_PX 56.0
#define VALUE_FONT_PX 11.0
#define DIGITS        3

/* Computes the left edge and the width of the i-th bar of a series. */
static void bars_place(const struct plot *plot, const struct plot_series *ps, size_t i,
                       double *left_px, double *width_px)
{
	double place_px = plot->width_px / (double)plot->n_categories;
	double bar_px = fmin(place_px * GROUP_PART / plot->n_bars, BAR_WIDEST_PX);
	*left_px = scale_px(&plot->x, (double)i) + (ps->bar - plot->n_bars / 2.0) * bar_px;
	*width_px = bar_px;
}

static double bar_end_px(const struct plot *plot, double value)
{
	return fmin(fmax(scale_px(&plot->y, value), -2), plot->height_px + 2);
}

static void bars_draw(const struct plot *plot, const struct plot_series *ps)
{
	const struct series *series = ps->series;
	double base_px = bar_end_px(plot, 0);
	for (size_t i = 0; i < series->n; i++) {
		double left_px, width_px, value = series->y[i];
		if (!isfinite(value))
			continue;
		bars_place(plot, ps, i, &left_px, &width_px);
		double end_px = bar_end_px(plot, value), gap_px = width_px > 6 ? 1 : 0,
		       inset_px = gap_px / 2;
		if (series->hollow) /* keep the outline inside the bar's own place */
			inset_px = 1 + gap_px / 2;
		svg_rect_open(plot->out, series->hollow ? "paper hollow" : "fill",
		              left_px + inset_px, fmin(end_px, base_px),
		              fmax(width_px - 2 * inset_px, 0.5), fabs(base_px - end_px));
		char text[HUMAN_UNIT_SIZE];
		scale_format(text, &plot->y, plot->y_unit, value, DIGITS + 1);
		fputs("<title>", plot->out);
		if (series->name != NULL) {
			xml_text(plot->out, series->name);
			fputs(", ", plot->out);
		}
		xml_text(plot->out, plot->categories[i]);
		fprintf(plot->out, ": %s</title>", text);
		svg_rect_close(plot->out);
	}
}

static void bars_draw_values(const struct plot *plot, const struct plot_series *ps)
{
	const struct series *series = ps->series;
	for (size_t i = 0; i < series->n; i++) {
		double left_px, width_px, value = series->y[i];
		if (!isfinite(value) || !scale_holds(&plot->y, value))
			continue;
		bars_place(plot, ps, i, &left_px, &width_px);
		char text[HUMAN_UNIT_SIZE];
		if (plot->y.unit[0] != '\0') /* the axis names the unit */
			decimal_short(text, sizeof(text), value / plot->y.unit_factor, DIGITS);
		else
			human_unit_format(text, sizeof(text), plot->y_unit, value, DIGITS);
		double room_px =
		        plot->n_bars == 1 ? plot->width_px / (double)plot->n_categories : width_px;
		if (label_width_px(text, VALUE_FONT_PX) > room_px + 2)
			continue;
		double tip_px = scale_px(&plot->y, value);
		if (series->low != NULL && isfinite(series->low[i]) && isfinite(series->high[i]))
			tip_px = scale_px(&plot->y, value < 0 ? series->low[i] : series->high[i]);
		svg_text(plot->out, "small", left_px + width_px / 2, tip_px + (value < 0 ? 13 : -4),
		         "middle", 0, text);
	}
}

static void whiskers_draw(const struct plot *plot, const struct plot_series *ps)
{
	const struct series *series = ps->series;
	FILE *out = plot->out;
	bool bars = series->kind == SERIES_BARS;
	if (series->low == NULL)
		return;
	fprintf(out, "<path class=\"%s\" d=\"", bars ? "whisker" : "thin");
	for (size_t i = 0; i < series->n; i++) {
		double x_px, width_px, cap_px = 3;
		if (!isfinite(series->low[i]) || !isfinite(series->high[i]))
			continue;
		if (bars) {
			bars_place(plot, ps, i, &x_px, &width_px);
			x_px += width_px / 2;
		} else if (isfinite(series->x[i]) && scale_holds(&plot->x, series->x[i])) {
			x_px = scale_px(&plot->x, series->x[i]);
		} else {
			continue;
		}
		double low_px = scale_px(&plot->y, series->low[i]),
		       high_px = scale_px(&plot->y, series->high[i]);
		if (fmin(low_px, high_px) > plot->height_px || fmax(low_px, high_px) < 0)
			continue;
		const double ends_px[] = {low_px, high_px};
		for (size_t k = 0; k < 2; k++) { /* a cap only where the end is in view */
			if (ends_px[k] < 0 || ends_px[k] > plot->height_px)
				continue;
			fputc('M', out);
			svg_point(out, x_px - cap_px, ends_px[k]);
			fputc('h', out);
			svg_number(out, 2 * cap_px);
		}
		fputc('M', out);
		svg_point(out, x_px, fmin(fmax(low_px, 0), plot->height_px));
		fputc('V', out);
		svg_number(out, fmin(fmax(high_px, 0), plot->height_px));
	}
	fputs("\"/>\n", out);
}

void polyline_begin(struct polyline *line, FILE *out, bool step, bool joined)
{
	memset(line, 0, sizeof(*line));
	line->out = out;
	line->step = step;
	line->begun = joined;
}

/* Ends a part of the path. A part of one point would be invisible, so it becomes a line of no
 * length, whose round ends are a dot. */
static void part_end(struct polyline *line)
{
	if (line->begun && line->lone)
		fputs("h0", line->out);
	line->begun = false;
}

static void vertex_write(struct polyline *line, const struct polyline_vertex *v)
{
	if (!line->begun) {
		fputc('M', line->out);
		svg_point(line->out, v->x_px, v->y_px);
		line->begun = true;
		line->lone = true;
		return;
	}
	line->lone = false;
	if (line->step) {
		fputc('H', line->out);
		svg_number(line->out, v->x_px);
		fputc('V', line->out);
		svg_number(line->out, v->y_px);
	} else {
		fputc('L', line->out);
		svg_point(line->out, v->x_px, v->y_px);
	}
}

static void column_flush(struct polyline *line)
{
	if (!line->filled)
		return;
	const struct polyline_vertex *early = &line->top, *late = &line->low;
	if (early->order > late->order) {
		early = &line->low;
		late = &line->top;
	}
	const struct polyline_vertex *all[] = {&line->first, early, late, &line->last};
	for (size_t i = 0; i < 4; i++)
		if (i == 0 || all[i]->order != all[i - 1]->order)
			vertex_write(line, all[i]);
	line->filled = false;
}

void polyline_add(struct polyline *line, double x_px, double y_px)
{
	struct polyline_vertex v = {x_px, y_px, line->order++};
	double column = floor(x_px);
	if (line->filled && column == line->column) {
		if (y_px < line->top.y_px)
			line->top = v;
		if (y_px > line->low.y_px)
			line->low = v;
		line->last = v;
		line->gap = false;
		return;
	}
	column_flush(line);
	if (line->gap)
		part_end(line);
	line->gap = false;
	line->filled = true;
	line->column = column;
	line->first = line->top = line->low = line->last = v;
}

void polyline_end(struct polyline *line)
{
	column_flush(line);
	part_end(line);
}

static void path_open(const struct plot *plot, const char *class, bool dashed)
{
	fprintf(plot->out, "<path class=\"%s%s\" d=\"", class, dashed ? " dash" : "");
}

static void path_close(const struct plot *plot)
{
	fputs("\"/>\n", plot->out);
}

static void line_draw(const struct plot *plot, const struct series *series)
{
	struct polyline line;
	path_open(plot, "line", series->dashed);
	polyline_begin(&line, plot->out, series->kind == SERIES_STEP, false);
	for (size_t i = 0; i < series->n; i++) {
		if (isfinite(series->x[i]) && isfinite(series->y[i]))
			polyline_add(&line, scale_px(&plot->x, series->x[i]),
			             scale_px(&plot->y, series->y[i]));
		else
			line.gap = true;
	}
	polyline_end(&line);
	path_close(plot);
}

static bool band_has(const struct series *series, size_t i)
{
	return isfinite(series->x[i]) && isfinite(series->low[i]) && isfinite(series->high[i]);
}

/* Writes the outline of points [begin, end): along the top, and back along the bottom. */
static void band_part_draw(const struct plot *plot, const struct series *series, size_t begin,
                           size_t end)
{
	struct polyline line;
	polyline_begin(&line, plot->out, false, false);
	for (size_t i = begin; i < end; i++)
		if (band_has(series, i))
			polyline_add(&line, scale_px(&plot->x, series->x[i]),
			             scale_px(&plot->y, series->high[i]));
	polyline_end(&line);
	polyline_begin(&line, plot->out, false, true);
	for (size_t i = end; i-- > begin;)
		if (band_has(series, i))
			polyline_add(&line, scale_px(&plot->x, series->x[i]),
			             scale_px(&plot->y, series->low[i]));
	polyline_end(&line);
	fputc('Z', plot->out);
}

/* Draws a band. A gap narrower than a pixel is bridged; otherwise a band could have as many parts
 * as points. */
static void band_draw(const struct plot *plot, const struct series *series)
{
	size_t begin = 0;
	path_open(plot, "area", false);
	while (begin < series->n) {
		if (!band_has(series, begin)) {
			begin++;
			continue;
		}
		size_t last = begin, i = begin + 1;
		for (; i < series->n; i++) {
			if (!band_has(series, i))
				continue;
			double step_px = scale_px(&plot->x, series->x[i]) -
			                 scale_px(&plot->x, series->x[last]);
			if (i != last + 1 && step_px > 1)
				break;
			last = i;
		}
		band_part_draw(plot, series, begin, last + 1);
		begin = i;
	}
	path_close(plot);
}

static void histogram_outline(const struct plot *plot, const struct series *series)
{
	double base_px = scale_px(&plot->y, 0);
	struct polyline line;
	fputc('M', plot->out);
	svg_point(plot->out, scale_px(&plot->x, series->x[0]), base_px);
	polyline_begin(&line, plot->out, true, true);
	for (size_t i = 0; i < series->n; i++)
		polyline_add(&line, scale_px(&plot->x, series->x[i]),
		             isfinite(series->y[i]) ? scale_px(&plot->y, series->y[i]) : base_px);
	polyline_end(&line);
	fputc('H', plot->out);
	svg_number(plot->out, scale_px(&plot->x, series->x[series->n]));
	fputc('V', plot->out);
	svg_number(plot->out, base_px);
}

static void across_draw(const struct plot *plot, const struct series *series)
{
	bool upright = series->kind == SERIES_VLINES;
	const struct scale *scale = upright ? &plot->x : &plot->y;
	const double *values = upright ? series->x : series->y;
	for (size_t i = 0; i < series->n; i++) {
		if (!isfinite(values[i]))
			continue;
		double px = scale_px(scale, values[i]);
		svg_line(plot->out, series->dashed ? "thin dash" : "thin", upright ? px : 0,
		         upright ? 0 : px, upright ? px : plot->width_px,
		         upright ? plot->height_px : px);
	}
}

static void curve_draw(const struct plot *plot, const struct plot_series *ps)
{
	switch (ps->series->kind) {
	case SERIES_BAND:
		band_draw(plot, ps->series);
		break;
	case SERIES_HISTOGRAM:
		if (!ps->series->hollow) {
			path_open(plot, "area", false);
			histogram_outline(plot, ps->series);
			path_close(plot);
		}
		path_open(plot, "thin", ps->series->dashed);
		histogram_outline(plot, ps->series);
		path_close(plot);
		break;
	case SERIES_VLINES:
	case SERIES_HLINES:
		across_draw(plot, ps->series);
		break;
	default:
		line_draw(plot, ps->series);
		break;
	}
}

int plot_draw(const struct plot *plot, const struct plot_series *ps)
{
	const struct series *series = ps->series;
	int rc = 0;
	if (series->n == 0)
		return 0;
	fprintf(plot->out, "<g class=\"c%u\">\n", ps->color);
	if (series->kind == SERIES_MARKS) {
		rc = marks_draw(plot, ps);
	} else if (series->kind != SERIES_POINTS) {
		/* An inner <svg> cuts off what lies beyond a given range. It needs no id that other
		 * charts could share. */
		FILE *out = plot->out;
		double width = plot->width_px + 2, height = plot->height_px + 2;
		fputs("<svg x=\"-1\" y=\"-1\" width=\"", out);
		svg_number(out, width);
		fputs("\" height=\"", out);
		svg_number(out, height);
		fputs("\" viewBox=\"-1 -1 ", out);
		svg_point(out, width, height);
		fputs("\">\n", out);
		if (series->kind == SERIES_BARS)
			bars_draw(plot, ps);
		else
			curve_draw(plot, ps);
		fputs("</svg>\n", plot->out);
	}
	if (series->kind == SERIES_BARS || series->kind == SERIES_POINTS ||
	    series->kind == SERIES_LINE)
		whiskers_draw(plot, ps);
	if (series->kind == SERIES_BARS && series->values)
		bars_draw_values(plot, ps);
	if ((series->kind == SERIES_POINTS || series->kind == SERIES_LINE) &&
	    ps->marker != SERIES_MARKER_NONE)
		rc = scatter_draw(plot, ps);
	fputs("</g>\n", plot->out);
	return rc;
}

/* Draws lines, steps, bands, histograms and the lines across a chart. */
