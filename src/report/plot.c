/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/plot.h"

#include <math.h>

#include "report/svg.h"

/* Opens an inner <svg>, which cuts off what lies beyond a given range. It needs no id that other
 * charts could share. */
static void clip_open(const struct plot *plot)
{
	FILE *out = plot->out;
	double width = plot->width_px + 2, height = plot->height_px + 2;
	fputs("<svg x=\"-1\" y=\"-1\" width=\"", out);
	svg_number(out, width);
	fputs("\" height=\"", out);
	svg_number(out, height);
	fputs("\" viewBox=\"-1 -1 ", out);
	svg_point(out, width, height);
	fputs("\">\n", out);
}

static void clip_close(const struct plot *plot)
{
	fputs("</svg>\n", plot->out);
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
		clip_open(plot);
		if (series->kind == SERIES_BARS)
			bars_draw(plot, ps);
		else
			curve_draw(plot, ps);
		clip_close(plot);
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
