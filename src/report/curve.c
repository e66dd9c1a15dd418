/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws lines, steps, bands, histograms and the lines across a chart. */
#include <math.h>

#include "report/plot.h"
#include "report/polyline.h"
#include "report/svg.h"

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
			polyline_gap(&line);
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

static void histogram_draw(const struct plot *plot, const struct series *series)
{
	if (!series->hollow) {
		path_open(plot, "area", false);
		histogram_outline(plot, series);
		path_close(plot);
	}
	path_open(plot, "thin", series->dashed);
	histogram_outline(plot, series);
	path_close(plot);
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
		histogram_draw(plot, ps->series);
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
