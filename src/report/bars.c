/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "report/decimal.h"
#include "report/label.h"
#include "report/plot.h"
#include "report/svg.h"
#include "report/xml.h"

#define GROUP_PART    0.72 /* share of a category's place for its bars */
#define BAR_WIDEST_PX 56.0
#define VALUE_FONT_PX 11.0
#define DIGITS        3

void bars_place(const struct plot *plot, const struct plot_series *ps, size_t i, double *left_px,
                double *width_px)
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

void bars_draw(const struct plot *plot, const struct plot_series *ps)
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
		char text[CHART_UNIT_SIZE];
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

void bars_draw_values(const struct plot *plot, const struct plot_series *ps)
{
	const struct series *series = ps->series;
	for (size_t i = 0; i < series->n; i++) {
		double left_px, width_px, value = series->y[i];
		if (!isfinite(value) || !scale_holds(&plot->y, value))
			continue;
		bars_place(plot, ps, i, &left_px, &width_px);
		char text[CHART_UNIT_SIZE];
		if (plot->y.unit[0] != '\0') /* the axis names the unit */
			decimal_short(text, sizeof(text), value / plot->y.unit_factor, DIGITS);
		else
			chart_unit_format(text, sizeof(text), plot->y_unit, value, DIGITS);
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
