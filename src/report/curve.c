/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws lines, steps, bands, histograms and the lines across a chart. */
#include <math.h>
#include <string.h>

#include "report/plot.h"
#include "report/svg.h"

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

void curve_draw(const struct plot *plot, const struct plot_series *ps)
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
