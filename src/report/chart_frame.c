/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>

#include "report/plot.h"
#include "report/svg.h"

#define FONT_PX         12.0
#define TICK_FONT_PX    11.0
#define TICK_PX         5.0
#define MINOR_TICK_PX   3.0
#define LEFT_LEAST_PX   72.0
#define LEFT_STEP_PX    8.0
#define AXIS_LABEL_PX   20.0
#define LABEL_GAP_PX    8.0  /* least distance between neighbouring tick labels */
#define SLANT_DEGREES   38.0 /* of category names that do not fit side by side */
#define SLANT_WIDEST_PX 120.0

static double widest_px(const struct scale *scale)
{
	double widest = 0;
	for (size_t i = 0; i < scale->n_ticks; i++)
		widest = fmax(widest, label_width_px(scale->ticks[i].label, TICK_FONT_PX));
	return widest;
}

double chart_frame_left_px(const struct plot *plot, const struct axis *y)
{
	double need_px = widest_px(&plot->y) + 12 + (y->label != NULL ? AXIS_LABEL_PX : 0);
	return fmax(LEFT_LEAST_PX, ceil(need_px / LEFT_STEP_PX) * LEFT_STEP_PX);
}

static double widest_category_px(const struct plot *plot)
{
	double widest = 0;
	for (size_t i = 0; i < plot->n_categories; i++)
		widest = fmax(widest, label_width_px(plot->categories[i], TICK_FONT_PX));
	return widest;
}

static bool slants(const struct plot *plot)
{
	return widest_category_px(plot) + LABEL_GAP_PX >
	       plot->width_px / (double)plot->n_categories;
}

double chart_frame_bottom_px(const struct plot *plot, const struct axis *x)
{
	double bottom = 24;
	if (plot->n_categories > 0 && slants(plot))
		bottom = 16 + fmin(widest_category_px(plot), SLANT_WIDEST_PX) *
		                      sin(SLANT_DEGREES * M_PI / 180);
	return bottom + (x->label != NULL ? AXIS_LABEL_PX : 0);
}

static double foot_px(const struct plot *plot)
{
	return plot->height_px + plot->n_lanes * PLOT_LANE_PX;
}

void chart_frame_draw_grid(const struct plot *plot)
{
	fputs("<path class=\"grid\" d=\"", plot->out);
	for (size_t i = 0; i < plot->y.n_ticks; i++) {
		if (!plot->y.ticks[i].major)
			continue;
		fputc('M', plot->out);
		svg_point(plot->out, 0, scale_px(&plot->y, plot->y.ticks[i].value));
		fputc('h', plot->out);
		svg_number(plot->out, plot->width_px);
	}
	for (size_t i = 0; i < plot->x.n_ticks; i++) {
		if (!plot->x.ticks[i].major)
			continue;
		fputc('M', plot->out);
		svg_point(plot->out, scale_px(&plot->x, plot->x.ticks[i].value), 0);
		fputc('v', plot->out);
		svg_number(plot->out, plot->height_px);
	}
	fputs("\"/>\n", plot->out);
}

static void draw_tick_lines(const struct plot *plot)
{
	FILE *out = plot->out;
	fputs("<path class=\"axis\" d=\"M0 0V", out);
	svg_number(out, foot_px(plot));
	fputc('H', out);
	svg_number(out, plot->width_px);
	for (size_t i = 0; i < plot->y.n_ticks; i++) {
		fputc('M', out);
		svg_point(out, 0, scale_px(&plot->y, plot->y.ticks[i].value));
		fputc('h', out);
		svg_number(out, plot->y.ticks[i].major ? -TICK_PX : -MINOR_TICK_PX);
	}
	for (size_t i = 0; i < plot->x.n_ticks; i++) {
		fputc('M', out);
		svg_point(out, scale_px(&plot->x, plot->x.ticks[i].value), foot_px(plot));
		fputc('v', out);
		svg_number(out, plot->x.ticks[i].major ? TICK_PX : MINOR_TICK_PX);
	}
	fputs("\"/>\n", out);
	if (plot->n_lanes == 0 && plot->y.kind == AXIS_LINEAR &&
	    (plot->y.lo >= 0 || plot->y.hi <= 0))
		return;
	/* The end of the data area above lanes, or zero where it is not the axis. */
	double zero_px = plot->y.kind == AXIS_LINEAR && plot->y.lo < 0 ? scale_px(&plot->y, 0)
	                                                               : plot->height_px;
	svg_line(out, "axis faint", 0, zero_px, plot->width_px, zero_px);
}

/* Draws every label, from the first on, that keeps its distance from the last one drawn. */
static void draw_x_labels(const struct plot *plot)
{
	double free_px = -INFINITY;
	for (size_t i = 0; i < plot->x.n_ticks; i++) {
		const struct scale_tick *tick = &plot->x.ticks[i];
		double px = scale_px(&plot->x, tick->value);
		double half_px = label_width_px(tick->label, TICK_FONT_PX) / 2;
		if (!tick->major || px - half_px < free_px)
			continue;
		svg_text(plot->out, "tick", px, foot_px(plot) + TICK_PX + 13, "middle", 0,
		         tick->label);
		free_px = px + half_px + LABEL_GAP_PX;
	}
}

static void draw_categories(const struct plot *plot)
{
	bool slanted = slants(plot);
	double place_px = plot->width_px / (double)plot->n_categories;
	double free_px = -INFINITY;
	for (size_t i = 0; i < plot->n_categories; i++) {
		char text[LABEL_SIZE];
		double px = scale_px(&plot->x, (double)i);
		/* A slanted name must not reach beyond the left edge of the picture. */
		double room_px = fmin(SLANT_WIDEST_PX,
		                      (px + LEFT_LEAST_PX - 6) / cos(SLANT_DEGREES * M_PI / 180));
		label_fit(text, plot->categories[i], TICK_FONT_PX, slanted ? room_px : place_px);
		if (px < free_px)
			continue;
		if (slanted)
			svg_text(plot->out, "tick", px + 3, foot_px(plot) + 13, "end",
			         -SLANT_DEGREES, text);
		else
			svg_text(plot->out, "tick", px, foot_px(plot) + TICK_PX + 13, "middle", 0,
			         text);
		free_px = px + TICK_FONT_PX + 2;
	}
}

static void axis_title(char *buf, const struct axis *axis, const struct scale *scale,
                       double room_px)
{
	char text[2 * LABEL_SIZE];
	snprintf(text, sizeof(text), scale->unit[0] != '\0' ? "%.*s (%s)" : "%.*s", LABEL_SIZE,
	         axis->label, scale->unit);
	label_fit(buf, text, FONT_PX, room_px);
}

void chart_frame_draw_axes(const struct plot *plot, const struct axis *x, const struct axis *y)
{
	char text[LABEL_SIZE];
	draw_tick_lines(plot);
	double free_px = INFINITY;
	for (size_t i = 0; i < plot->y.n_ticks; i++) {
		const struct scale_tick *tick = &plot->y.ticks[i];
		double px = scale_px(&plot->y, tick->value);
		if (!tick->major || px > free_px)
			continue;
		svg_text(plot->out, "tick", -TICK_PX - 4, px + 4, "end", 0, tick->label);
		free_px = px - TICK_FONT_PX;
	}
	if (plot->n_categories > 0)
		draw_categories(plot);
	else
		draw_x_labels(plot);
	if (x->label != NULL) {
		axis_title(text, x, &plot->x, plot->width_px);
		svg_text(plot->out, "", plot->width_px / 2,
		         foot_px(plot) + chart_frame_bottom_px(plot, x) - 6, "middle", 0, text);
	}
	if (y->label != NULL) {
		axis_title(text, y, &plot->y, plot->height_px + 40);
		svg_text(plot->out, "", -widest_px(&plot->y) - 20, plot->height_px / 2, "middle",
		         -90, text);
	}
}

/* ---- the legend ---- */

#define NAME_GAP_PX  6.0
#define ENTRY_GAP_PX 20.0

/* Returns the width of the sample. */
static double sample_px(const struct series *series)
{
	switch (series->kind) {
	case SERIES_POINTS:
	case SERIES_BARS:
	case SERIES_VLINES:
		return 12;
	default:
		return 22;
	}
}

struct cursor {
	double x_px;
	unsigned row;
};

/* Moves on to the place of the entry, on the next row if this one is full. Writes the entry's text
 * into name. */
static void cursor_place(struct cursor *cursor, const struct plot_series *ps, double width_px,
                         char *name)
{
	label_fit(name, ps->series->name, FONT_PX, width_px - sample_px(ps->series) - NAME_GAP_PX);
	double entry_px = sample_px(ps->series) + NAME_GAP_PX + label_width_px(name, FONT_PX);
	if (cursor->x_px > 0 && cursor->x_px + entry_px > width_px) {
		cursor->x_px = 0;
		cursor->row++;
	}
}

static void cursor_pass(struct cursor *cursor, const struct plot_series *ps, const char *name)
{
	cursor->x_px +=
	        sample_px(ps->series) + NAME_GAP_PX + label_width_px(name, FONT_PX) + ENTRY_GAP_PX;
}

unsigned legend_rows(const struct plot_series *all, size_t n, double width_px)
{
	struct cursor cursor = {0, 0};
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		char name[LABEL_SIZE];
		if (all[i].series->name == NULL)
			continue;
		cursor_place(&cursor, &all[i], width_px, name);
		cursor_pass(&cursor, &all[i], name);
		any = true;
	}
	return any ? cursor.row + 1 : 0;
}

static void sample_path(FILE *out, const char *class, const struct series *series, double x_px,
                        double y_px, const char *path)
{
	fprintf(out, "<path class=\"%s%s\" d=\"M", class, series->dashed ? " dash" : "");
	svg_point(out, x_px, y_px);
	fprintf(out, "%s\"/>\n", path);
}

/* Draws the sample, which begins at x_px and has its middle at y_px. */
static void sample_draw(FILE *out, const struct plot_series *ps, double x_px, double y_px)
{
	const struct series *series = ps->series;
	fprintf(out, "<g class=\"c%u\">\n", ps->color);
	switch (series->kind) {
	case SERIES_LINE:
	case SERIES_HLINES:
		sample_path(out, series->kind == SERIES_LINE ? "line" : "thin", series, x_px, y_px,
		            "h22");
		break;
	case SERIES_STEP:
		sample_path(out, "line", series, x_px, y_px, "m1 4h7v-8h7v4h6");
		break;
	case SERIES_BAND:
		sample_path(out, "area", series, x_px, y_px, "m0-6h22v12h-22z");
		break;
	case SERIES_BARS:
		sample_path(out, series->hollow ? "paper hollow" : "fill", series, x_px, y_px,
		            "m0-6h12v12h-12z");
		break;
	case SERIES_HISTOGRAM:
		if (!series->hollow)
			sample_path(out, "area", series, x_px, y_px, "m2 6v-7h6v-5h6v3h6v9z");
		sample_path(out, "thin", series, x_px, y_px, "m2 6v-7h6v-5h6v3h6v9z");
		break;
	case SERIES_MARKS:
		sample_path(out, "thin", series, x_px, y_px, "m6-5v10m5-10v10m5-10v10");
		break;
	case SERIES_VLINES:
		sample_path(out, "thin", series, x_px, y_px, "m6-8v16");
		break;
	case SERIES_POINTS:
		break;
	}
	if ((series->kind == SERIES_POINTS || series->kind == SERIES_LINE) &&
	    ps->marker != SERIES_MARKER_NONE) {
		fprintf(out, "<path class=\"%s\" d=\"M", marker_class(ps));
		svg_point(out, x_px + sample_px(series) / 2, y_px);
		fprintf(out, "%s\"/>\n", marker_path(ps->marker, false));
	}
	fputs("</g>\n", out);
}

void legend_draw(FILE *out, const struct plot_series *all, size_t n, double x_px, double y_px,
                 double width_px)
{
	struct cursor cursor = {0, 0};
	for (size_t i = 0; i < n; i++) {
		char name[LABEL_SIZE];
		if (all[i].series->name == NULL)
			continue;
		cursor_place(&cursor, &all[i], width_px, name);
		double row_px = y_px + cursor.row * LEGEND_ROW_PX;
		sample_draw(out, &all[i], x_px + cursor.x_px, row_px);
		svg_text(out, "", x_px + cursor.x_px + sample_px(all[i].series) + NAME_GAP_PX,
		         row_px + 4, "start", 0, name);
		cursor_pass(&cursor, &all[i], name);
	}
}
