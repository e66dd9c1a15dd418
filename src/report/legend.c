/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/legend.h"

#include "report/label.h"
#include "report/svg.h"

#define FONT_PX      12.0
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
