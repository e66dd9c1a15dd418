/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws points and marks: one by one while they are few, counted in cells when they are many. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report/plot.h"
#include "report/svg.h"

int density_init(struct density *density, unsigned columns, unsigned rows)
{
	density->columns = columns;
	density->rows = rows;
	density->fullest = 0;
	density->n_occupied = 0;
	density->counts = calloc((size_t)columns * rows, sizeof(*density->counts));
	return density->counts == NULL ? -ENOMEM : 0;
}

void density_free(struct density *density)
{
	free(density->counts);
	density->counts = NULL;
}

void density_add(struct density *density, double column, double row)
{
	if (!(column >= 0 && column < density->columns && row >= 0 && row < density->rows))
		return;
	uint32_t *count = &density->counts[(size_t)row * density->columns + (size_t)column];
	density->n_occupied += *count == 0;
	if (*count < UINT32_MAX)
		++*count;
	if (*count > density->fullest)
		density->fullest = *count;
}

static unsigned bits(uint32_t value)
{
	unsigned n = 0;
	for (; value != 0; value >>= 1)
		n++;
	return n;
}

/* Returns true if so few cells are occupied that larger dots do not run together. */
static bool density_is_sparse(const struct density *density)
{
	return density->n_occupied < (size_t)density->columns * density->rows / 12;
}

int density_level(const struct density *density, size_t cell)
{
	uint32_t count = density->counts[cell];
	unsigned most = bits(density->fullest), fewer = most - bits(count);
	if (count == 0)
		return -1;
	if (most < DENSITY_LEVELS)
		most = DENSITY_LEVELS;
	return (int)(DENSITY_LEVELS - 1 - fewer * DENSITY_LEVELS / most);
}

size_t density_write(const struct density *density, unsigned level, FILE *out)
{
	size_t runs = 0;
	for (unsigned row = 0; row < density->rows; row++) {
		size_t start = (size_t)row * density->columns;
		for (unsigned column = 0; column < density->columns; column++) {
			unsigned begin = column;
			while (column < density->columns &&
			       density_level(density, start + column) == (int)level)
				column++;
			if (column == begin)
				continue;
			fprintf(out, "M%u %uh%u", begin, row, column - 1 - begin);
			runs++;
		}
	}
	return runs;
}

#define CELL_PX 1.5
#define FEW     150 /* up to so many points are large, and have tooltips */
#define DIGITS  4

static const char *const strengths[DENSITY_LEVELS] = {"0.58", "0.72", "0.86", "1"};

const char *marker_path(enum series_marker marker, bool small)
{
	switch (marker) {
	case SERIES_MARKER_SQUARE:
		return small ? "m-2-2h4v4h-4z" : "m-3.4-3.4h6.8v6.8h-6.8z";
	case SERIES_MARKER_TRIANGLE:
		return small ? "m0-2.8l2.7 4.7h-5.4z" : "m0-4.8l4.4 7.6h-8.8z";
	case SERIES_MARKER_DIAMOND:
		return small ? "m0-2.9l2.9 2.9-2.9 2.9-2.9-2.9z"
		             : "m0-4.8l4.8 4.8-4.8 4.8-4.8-4.8z";
	case SERIES_MARKER_CROSS:
		return small ? "m-2-2l4 4m0-4l-4 4" : "m-3.4-3.4l6.8 6.8m0-6.8l-6.8 6.8";
	default:
		return small ? "m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0"
		             : "m-3.8 0a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0-7.6 0";
	}
}

const char *marker_class(const struct plot_series *ps)
{
	if (ps->marker == SERIES_MARKER_CROSS)
		return "line";
	return ps->series->hollow ? "paper hollow" : "fill";
}

static bool in_view(const struct plot *plot, const struct series *series, size_t i)
{
	double x = series->x[i], y = series->y[i];
	return isfinite(x) && isfinite(y) && scale_holds(&plot->x, x) && scale_holds(&plot->y, y);
}

static size_t nearest_place(const struct plot *plot, double x)
{
	return (size_t)fmin(fmax(round(x), 0), (double)plot->n_categories - 1);
}

static void draw_each(const struct plot *plot, const struct plot_series *ps, size_t n_in_view)
{
	const struct series *series = ps->series;
	bool few = n_in_view <= FEW;
	const char *shape = marker_path(ps->marker, !few);
	if (!few)
		fprintf(plot->out, "<path class=\"%s\" d=\"", marker_class(ps));
	for (size_t i = 0; i < series->n; i++) {
		if (!in_view(plot, series, i))
			continue;
		if (few)
			fprintf(plot->out, "<path class=\"%s\" d=\"", marker_class(ps));
		fputc('M', plot->out);
		svg_point(plot->out, scale_px(&plot->x, series->x[i]),
		          scale_px(&plot->y, series->y[i]));
		fputs(shape, plot->out);
		if (few) {
			fputs("\">", plot->out);
			char x[HUMAN_UNIT_SIZE], y[HUMAN_UNIT_SIZE];
			scale_format(x, &plot->x, plot->x_unit, series->x[i], DIGITS);
			scale_format(y, &plot->y, plot->y_unit, series->y[i], DIGITS);
			fputs("<title>", plot->out);
			if (series->name != NULL) {
				xml_text(plot->out, series->name);
				fputs(": ", plot->out);
			}
			if (plot->n_categories > 0) /* in view, so within half a place of one */
				xml_text(plot->out,
				         plot->categories[nearest_place(plot, series->x[i])]);
			else
				fputs(x, plot->out);
			fprintf(plot->out, ", %s</title>", y);
			fputs("</path>\n", plot->out);
		}
	}
	if (!few)
		fputs("\"/>\n", plot->out);
}

static int draw_density(const struct plot *plot, const struct series *series)
{
	struct density density;
	int rc = density_init(&density, (unsigned)(plot->width_px / CELL_PX) + 1,
	                      (unsigned)(plot->height_px / CELL_PX) + 1);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < series->n; i++)
		if (in_view(plot, series, i))
			density_add(&density, scale_px(&plot->x, series->x[i]) / CELL_PX,
			            scale_px(&plot->y, series->y[i]) / CELL_PX);
	/* The middle of a cell is the origin of its path; dots a little larger than a cell join
	 * into areas. */
	fprintf(plot->out, "<g transform=\"translate(.75 .75)scale(1.5)\" stroke-width=\"%s\">\n",
	        density_is_sparse(&density) ? "2" : "1.4");
	for (unsigned level = 0; level < DENSITY_LEVELS; level++) {
		fprintf(plot->out, "<path class=\"dots\" stroke-opacity=\"%s\" d=\"",
		        strengths[level]);
		density_write(&density, level, plot->out);
		fputs("\"/>\n", plot->out);
	}
	fputs("</g>\n", plot->out);
	density_free(&density);
	return 0;
}

int scatter_draw(const struct plot *plot, const struct plot_series *ps)
{
	size_t n_in_view = 0;
	for (size_t i = 0; i < ps->series->n; i++)
		n_in_view += in_view(plot, ps->series, i);
	if (n_in_view > SERIES_MARKERS_MAX)
		return draw_density(plot, ps->series);
	draw_each(plot, ps, n_in_view);
	return 0;
}

int marks_draw(const struct plot *plot, const struct plot_series *ps)
{
	const struct series *series = ps->series;
	struct density density;
	unsigned columns = (unsigned)(plot->width_px / CELL_PX) + 1;
	int rc = density_init(&density, columns, 1);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < series->n; i++)
		if (isfinite(series->x[i]) && scale_holds(&plot->x, series->x[i]))
			density_add(&density, scale_px(&plot->x, series->x[i]) / CELL_PX, 0);
	double top_px = plot->height_px + ps->lane * PLOT_LANE_PX + 3;
	for (unsigned level = 0; level < DENSITY_LEVELS; level++) {
		fprintf(plot->out, "<path class=\"thin\" stroke-opacity=\"%s\" d=\"",
		        strengths[level]);
		for (unsigned column = 0; column < columns; column++) {
			if (density_level(&density, column) != (int)level)
				continue;
			fputc('M', plot->out);
			svg_point(plot->out, (column + 0.5) * CELL_PX, top_px);
			fprintf(plot->out, "v%d", PLOT_LANE_PX - 4);
		}
		fputs("\"/>\n", plot->out);
	}
	density_free(&density);
	return 0;
}
