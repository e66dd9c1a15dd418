/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The working state of one axis: the range in use, its ticks with their texts, and where a value
 * lies in pixels. Made from the axis' description and the range of the data; points only into the
 * description.
 */
#ifndef WEIR_SCALE_H
#define WEIR_SCALE_H

#include "report/axis.h"
#include "report/series.h"

#define SCALE_TICKS_MAX 128
#define SCALE_TICK_SIZE CHART_UNIT_SIZE

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
void scale_format(char text[CHART_UNIT_SIZE], const struct scale *scale, enum chart_unit unit,
                  double value, unsigned digits);

/* Returns true if the value lies in the range; on a log10 axis, values <= 0 do, at its lower
 * end. */
bool scale_holds(const struct scale *scale, double value);

#endif
