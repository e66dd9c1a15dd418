/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of a chart while it is drawn: scales, the data area with its series, legend and frame.
 * Private to report.
 */
#ifndef WEIR_PLOT_H
#define WEIR_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/chart.h"
#include "report/series.h"

/*
 * A scale is the working state of one axis: the range in use, its ticks with their texts, and where
 * a value lies in pixels. Made from the axis' description and the range of the data; points only
 * into the description.
 */
#define SCALE_TICKS_MAX 128
#define SCALE_TICK_SIZE HUMAN_UNIT_SIZE

enum scale_fit {
	SCALE_TIGHT, /* a chosen range ends with the data */
	SCALE_LOOSE, /* a chosen range ends at ticks */
};

struct scale_tick {
	double value;
	bool major; /* has a label */
	char label[SCALE_TICK_SIZE];
};

struct scale {
	enum axis_scale kind;
	double lo, hi;
	double start_px, end_px; /* of lo and hi; end may be smaller */
	const char *unit;        /* the unit that all tick labels share and leave out, or "" */
	double unit_factor;      /* base units in one of `unit` */
	size_t n_ticks;
	struct scale_tick ticks[SCALE_TICKS_MAX]; /* ascending, within [lo, hi] */
};

/* Chooses range and ticks, about `n_wanted` of them with labels. The caller sets the pixels
 * afterwards. */
void scale_choose(struct scale *scale, const struct axis *axis, const struct series_range *data,
                  enum scale_fit fit, unsigned n_wanted);

/* Returns the place of a value, in pixels. A value <= 0 on a log10 axis lies at its lower end. A
 * place far outside is brought nearer. */
double scale_px(const struct scale *scale, double value);

/* Writes a value as text, in the unit of the ticks if they share one, else in the unit that suits
 * it. */
void scale_format(char text[HUMAN_UNIT_SIZE], const struct scale *scale, enum human_unit unit,
                  double value, unsigned digits);

/* Returns true if the value lies in the range; on a log10 axis, values <= 0 do, at its lower
 * end. */
bool scale_holds(const struct scale *scale, double value);

/*
 * The data area: where values lie, and how much room there is. Its origin is the upper left corner.
 * Below the area there is a lane for each series of marks, and below the lanes the x axis.
 */
#define PLOT_LANE_PX 13
struct plot {
	FILE *out;
	struct scale x, y;
	double width_px, height_px; /* of the data area, without the lanes */
	unsigned n_lanes;
	const char *const *categories;
	size_t n_categories;
	enum human_unit x_unit, y_unit;
	unsigned n_bars; /* series of bars, which share each category's place */
};

/* A series within its chart. */
struct plot_series {
	const struct series *series;
	unsigned color;            /* 1 .. THEME_COLORS */
	enum series_marker marker; /* never AUTO */
	unsigned lane;             /* of marks */
	unsigned bar;              /* its place among the n_bars, from 0 */
};

/* Draws a series. Returns 0, or -ENOMEM. */
int plot_draw(const struct plot *plot, const struct plot_series *ps);

int scatter_draw(const struct plot *plot, const struct plot_series *ps);
int marks_draw(const struct plot *plot, const struct plot_series *ps);

/* Return relative path data of a marker around the current point of a path, and the classes to draw
 * it with. */
const char *marker_path(enum series_marker marker, bool small);
const char *marker_class(const struct plot_series *ps);

/*
 * A polyline is SVG path data of a line through any number of points whose x does not change
 * direction. Of the points in one pixel column only the first, the topmost, the lowest and the last
 * are kept, in their order: the picture looks the same, no spike is lost, and the length is bounded
 * by the width (some 50 bytes a column). A gap within a column is not shown.
 */
struct polyline_vertex {
	double x_px, y_px;
	size_t order;
};

struct polyline {
	FILE *out;
	bool step;   /* horizontal, then vertical, instead of straight */
	bool begun;  /* a part of the path has its first point */
	bool lone;   /* ... and only that point */
	bool gap;    /* start again with the next column */
	bool filled; /* the column holds points */
	double column;
	size_t order;
	struct polyline_vertex first, top, low, last;
};

/* Begins a line at the next point. With `joined`, the line begins where the path data so far have
 * ended. */
void polyline_begin(struct polyline *line, FILE *out, bool step, bool joined);
void polyline_add(struct polyline *line, double x_px, double y_px);
void polyline_end(struct polyline *line);

/*
 * A density counts how many points fall into each cell of a picture, and draws the cells in four
 * strengths, by the number of bits of their counts: the fullest cell in the strongest (3), and one
 * strength weaker for each quarter of its bits that a count has less. While no cell holds more than
 * a few points, all are strong.
 */
#define DENSITY_LEVELS 4

struct density {
	unsigned columns, rows;
	size_t n_occupied;
	uint32_t fullest;
	uint32_t *counts; /* columns * rows, row by row; owned */
};

/* Allocates the counts; density_free frees them. Returns 0 or -ENOMEM. */
int density_init(struct density *density, unsigned columns, unsigned rows);
void density_free(struct density *density);

/* Counts a point. A point outside the picture is ignored. */
void density_add(struct density *density, double column, double row);

/* Returns the level of a cell, or -1 if it is empty. */
int density_level(const struct density *density, size_t cell);

/*
 * Writes path data of the cells of one level, in cell units: for each unbroken run in a row, a
 * stroke from the middle of its first cell to the middle of its last. Returns the number of runs.
 */
size_t density_write(const struct density *density, unsigned level, FILE *out);

/*
 * The legend: the names of a chart's series, each behind a sample of how it is drawn, in rows above
 * the data area, where they cover nothing.
 */
#define LEGEND_ROW_PX 19

/* Returns how many rows the named series need in this width; 0 if none has a name. */
unsigned legend_rows(const struct plot_series *all, size_t n, double width_px);

/* Draws the rows. The middle of the first is at y_px. */
void legend_draw(FILE *out, const struct plot_series *all, size_t n, double x_px, double y_px,
                 double width_px);

/*
 * The frame around the data area: grid, axes, ticks and their labels; and the room that they take.
 */
/* Returns the room left of the data area for the labels of the y axis. */
double chart_frame_left_px(const struct plot *plot, const struct axis *y);

/* Returns the room below the data area and its lanes for the labels of the x axis. Needs the plot's
 * width. */
double chart_frame_bottom_px(const struct plot *plot, const struct axis *x);

/* Draw them, relative to the plot's origin. */
void chart_frame_draw_grid(const struct plot *plot);
void chart_frame_draw_axes(const struct plot *plot, const struct axis *x, const struct axis *y);

#endif
