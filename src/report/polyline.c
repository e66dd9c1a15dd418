/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/polyline.h"

#include <math.h>
#include <string.h>

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

void polyline_gap(struct polyline *line)
{
	line->gap = true;
}

void polyline_end(struct polyline *line)
{
	column_flush(line);
	part_end(line);
}
