/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "units/human_unit.h"

/* If the smallest datum is below this part of the largest, the range begins at 0. */
#define NEAR_ZERO_LOOSE 0.3
#define NEAR_ZERO_TIGHT 0.05
#define SLACK           1e-9 /* in steps: a tick this little outside the range counts */
#define MORE            1.25 /* up to so many times the wanted ticks rather than far fewer */
/* a tight range is extended to a tick within this part of the range */
#define REACH   0.03
#define DIGITS  3
#define FAR_PX  10000
#define LARGEST 1e150

/* Returns the smallest step of 1, 2 or 5 times a power of ten that is at least `step`. */
static double scale_round_step(double step)
{
	if (!(step > 0) || !isfinite(step))
		return 1;
	double power = pow(10, floor(log10(step)));
	double factor = step / power;
	if (factor <= 1 + SLACK)
		return power;
	return (factor <= 2 + SLACK ? 2 : factor <= 5 + SLACK ? 5 : 10) * power;
}

/* Chooses a range around the data, which is never empty, before rounding. */
static void choose_linear_range(struct scale *scale, const struct axis *axis,
                                const struct series_range *data, enum scale_fit fit)
{
	scale->lo = data->min <= data->max ? data->min : 0;
	scale->hi = data->min <= data->max ? data->max : 1;
	double near_zero = fit == SCALE_LOOSE ? NEAR_ZERO_LOOSE : NEAR_ZERO_TIGHT;
	if (axis->from_zero || (scale->lo > 0 && scale->lo < near_zero * scale->hi)) {
		scale->lo = fmin(scale->lo, 0);
		scale->hi = fmax(scale->hi, 0);
	}
	double magnitude = fmax(fabs(scale->lo), fabs(scale->hi));
	if (magnitude == 0) {
		scale->hi = 1;
	} else if (scale->hi - scale->lo <=
	           magnitude * 1e-9) { /* constant: loose ranges begin at 0 */
		if (fit == SCALE_LOOSE && scale->lo > 0)
			scale->lo = 0;
		else
			scale->lo -= 0.1 * magnitude;
		scale->hi += 0.1 * magnitude;
	}
}

static void tick_add(struct scale *scale, double value, bool major)
{
	if (scale->n_ticks == SCALE_TICKS_MAX)
		return;
	struct scale_tick *tick = &scale->ticks[scale->n_ticks++];
	tick->value = value;
	tick->major = major;
	tick->label[0] = '\0';
}

/*
 * Adds ticks at multiples of a round step. Before that, widens the range to the multiple beyond
 * each end, if that is within `parts` of the range.
 */
static void add_linear_ticks(struct scale *scale, double parts, unsigned n_wanted)
{
	double step = scale_round_step((scale->hi - scale->lo) / n_wanted / MORE);
	double below = step * floor(scale->lo / step + SLACK),
	       above = step * ceil(scale->hi / step - SLACK);
	double reach = parts * (scale->hi - scale->lo);
	if (scale->lo - below <= reach)
		scale->lo = fmin(scale->lo, below);
	if (above - scale->hi <= reach)
		scale->hi = fmax(scale->hi, above);
	double first, last;
	do { /* a given range may hold fewer than two multiples: they would show no distance */
		first = ceil(scale->lo / step - SLACK);
		last = floor(scale->hi / step + SLACK);
		step = last - first < 1 ? scale_round_step(step / 2.5) : step;
	} while (last - first < 1);
	for (double k = first; k <= last && scale->n_ticks < SCALE_TICKS_MAX; k++)
		tick_add(scale, k * step, true);
}

/* Returns how many decimals show every tick exactly, in units of `factor`. */
static unsigned tick_decimals(const struct scale *scale, double factor)
{
	unsigned decimals = 0;
	double power = 1;
	for (size_t i = 0; i < scale->n_ticks; i++) {
		double v = scale->ticks[i].value / factor;
		while (decimals < 9 && fabs(v * power - round(v * power)) > 1e-4) {
			decimals++;
			power *= 10;
		}
	}
	return decimals;
}

/* Labels the ticks with equal decimals. If the unit is written behind a space and the axis has a
 * label, the unit stands there once. */
static void label_linear_ticks(struct scale *scale, const struct axis *axis)
{
	double magnitude = fmax(fabs(scale->lo), fabs(scale->hi));
	const struct human_prefix *prefix = human_unit_prefix(axis->unit, magnitude, DIGITS);
	bool shared = axis->label != NULL && prefix->gap[0] != '\0';
	unsigned decimals = tick_decimals(scale, prefix->factor);
	bool scientific = axis->unit == HUMAN_PLAIN && (magnitude >= 1e6 || magnitude < 1e-3);
	if (shared) {
		scale->unit = prefix->name;
		scale->unit_factor = prefix->factor;
	}
	for (size_t i = 0; i < scale->n_ticks; i++) {
		struct scale_tick *tick = &scale->ticks[i];
		char number[DECIMAL_SIZE];
		if (scientific)
			decimal_scientific(number, sizeof(number), tick->value, 6);
		else if (axis->unit == HUMAN_COUNT && tick->value == 0)
			decimal_fixed(number, sizeof(number), 0, 0);
		else
			decimal_fixed(number, sizeof(number), tick->value / prefix->factor,
			              decimals);
		bool bare = shared || (axis->unit == HUMAN_COUNT && tick->value == 0);
		snprintf(tick->label, sizeof(tick->label), "%s%s%s", number,
		         bare ? "" : prefix->gap, bare ? "" : prefix->name);
	}
}

/* Returns the round number (1, 2, 5 times a power of ten) at or below a positive value (direction
 * -1), or at or above it (1). */
static double round_log(double value, int direction)
{
	double step = scale_round_step(value);
	if (direction > 0 || step <= value * (1 + SLACK))
		return step;
	/* The next below: from 10 to 5, 5 to 2, 2 to 1. */
	double power = pow(10, floor(log10(step) + SLACK));
	double factor = round(step / power);
	return factor == 1 ? 0.5 * power : factor == 2 ? power : 2 * power;
}

static void choose_log_range(struct scale *scale, const struct axis *axis,
                             const struct series_range *data, enum scale_fit fit)
{
	bool any = isfinite(data->min_positive) && data->max > 0;
	scale->lo = any ? data->min_positive : 1;
	scale->hi = any ? data->max : 10;
	if (axis->from_zero) /* bars and histograms stand on the axis: the smallest must still have
	                      * a height */
		scale->lo /= 2;
	if (fit == SCALE_LOOSE || scale->hi <= scale->lo * (1 + SLACK)) {
		scale->lo = round_log(scale->lo, -1);
		scale->hi = round_log(scale->hi, 1);
	}
	if (scale->hi <= scale->lo * (1 + SLACK)) {
		scale->lo /= 10;
		scale->hi *= 10;
	}
}

/*
 * Adds labelled ticks at 1, 2, 5 if there is room, else at each decade, else at every 2nd, 3rd,
 * ...; and unlabelled ticks between, as long as they stay apart.
 */
static void add_log_ticks(struct scale *scale, unsigned n_wanted)
{
	int first = (int)floor(log10(scale->lo) + SLACK),
	    last = (int)ceil(log10(scale->hi) - SLACK);
	double decades = log10(scale->hi) - log10(scale->lo);
	unsigned every = (unsigned)fmax(1, ceil(decades / (1.6 * n_wanted)));
	bool dense = decades < 2 || 3 * decades <= 1.6 * n_wanted;
	for (int d = first; d <= last; d++) {
		for (int m = 1; m <= 9; m++) {
			double value = m * pow(10, d);
			bool major = m == 1 ? (unsigned)(d - first) % every == 0
			                    : dense && (m == 2 || m == 5);
			if (value < scale->lo * (1 - SLACK) || value > scale->hi * (1 + SLACK))
				continue;
			if (major || decades <= (m == 1 ? 30 : 10))
				tick_add(scale, value, major);
		}
	}
}

void scale_choose(struct scale *scale, const struct axis *axis, const struct series_range *data,
                  enum scale_fit fit, unsigned n_wanted)
{
	bool given = axis->min < axis->max;
	double parts = given ? 0 : fit == SCALE_LOOSE ? INFINITY : REACH;
	memset(scale, 0, sizeof(*scale));
	scale->kind = axis->scale;
	scale->unit = "";
	if (n_wanted < 2)
		n_wanted = 2;
	if (axis->n_categories > 0) {
		scale->kind = AXIS_LINEAR;
		scale->lo = -0.5;
		scale->hi = (double)axis->n_categories - 0.5;
		return;
	}
	if (axis->scale == AXIS_LOG10)
		choose_log_range(scale, axis, data, fit);
	else
		choose_linear_range(scale, axis, data, fit);
	if (given) {
		scale->lo = axis->min;
		scale->hi = axis->max;
	}
	/* Differences and quotients of the ends must be finite. */
	scale->lo = fmax(scale->lo, axis->scale == AXIS_LOG10 ? 1 / LARGEST : -LARGEST);
	scale->hi = fmin(scale->hi, LARGEST);
	if (axis->n_ticks > 0) {
		for (size_t i = 0; i < axis->n_ticks; i++)
			if (axis->ticks[i] >= scale->lo && axis->ticks[i] <= scale->hi)
				tick_add(scale, axis->ticks[i], true);
	}
	/* Within less than a decade, multiples of a step mark a log10 axis better than 1, 2, 5. */
	if (axis->scale == AXIS_LOG10 && (axis->n_ticks > 0 || scale->hi > 5 * scale->lo)) {
		if (axis->n_ticks == 0)
			add_log_ticks(scale, n_wanted);
		for (size_t i = 0; i < scale->n_ticks; i++)
			if (scale->ticks[i].major)
				human_unit_format(scale->ticks[i].label, SCALE_TICK_SIZE,
				                  axis->unit, scale->ticks[i].value, DIGITS + 1);
		return;
	}
	if (axis->n_ticks == 0)
		add_linear_ticks(scale, parts, n_wanted);
	label_linear_ticks(scale, axis);
}

void scale_format(char text[HUMAN_UNIT_SIZE], const struct scale *scale, enum human_unit unit,
                  double value, unsigned digits)
{
	char number[DECIMAL_SIZE];

	if (scale->unit[0] == '\0') {
		human_unit_format(text, HUMAN_UNIT_SIZE, unit, value, digits);
		return;
	}
	decimal_short(number, sizeof(number), value / scale->unit_factor, digits);
	snprintf(text, HUMAN_UNIT_SIZE, "%.40s %s", number, scale->unit);
}

double scale_px(const struct scale *scale, double value)
{
	double part;
	if (scale->kind == AXIS_LOG10)
		part = value <= 0
		               ? 0
		               : (log(value) - log(scale->lo)) / (log(scale->hi) - log(scale->lo));
	else
		part = (value - scale->lo) / (scale->hi - scale->lo);
	double px = scale->start_px + part * (scale->end_px - scale->start_px);
	return fmin(fmax(px, -FAR_PX), FAR_PX);
}

bool scale_holds(const struct scale *scale, double value)
{
	if (scale->kind == AXIS_LOG10 && value <= 0)
		return true;
	return value >= scale->lo && value <= scale->hi;
}
