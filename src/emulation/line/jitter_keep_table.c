/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's part of jitter_keep.h: the table of L = ln F, its hull, and the correlation. */
#include <math.h>
#include <pthread.h>

#include "line/jitter_keep.h"

/* ---- E ---- */

static struct distribution exponential;

static void exponential_fill(void)
{
	for (int upper = 0; upper < 2; upper++) {
		for (int octave = 0; octave < DISTRIBUTION_OCTAVES; octave++) {
			for (int segment = 0; segment <= DISTRIBUTION_SEGMENTS; segment++) {
				double tail = ldexp(1.0 + segment / (double)DISTRIBUTION_SEGMENTS,
				                    -(octave + 2));
				double e = upper ? -log(tail) : -log1p(-tail);

				exponential.quantile[upper][octave][segment] =
				        llround(ldexp(e, KEEP_LOG_BITS));
			}
		}
	}
}

static const struct distribution *exponential_make(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, exponential_fill);
	return &exponential;
}

/* ---- L as a piecewise linear curve ---- */

struct curve {
	uint32_t n;
	double x[KEEP_NODES], log[KEEP_NODES];
};

/* Adds a point. x does not decrease; of several points with one x the last counts. Keeps the curve
 * concave: removes points below the line between their neighbours. */
static void curve_add(struct curve *curve, double x, double log)
{
	uint32_t n = curve->n;

	if (n > 0 && x <= curve->x[n - 1])
		n--;
	while (n > 1 && (log - curve->log[n - 1]) * (curve->x[n - 1] - curve->x[n - 2]) >=
	                        (curve->log[n - 1] - curve->log[n - 2]) * (x - curve->x[n - 1]))
		n--;
	curve->x[n] = x;
	curve->log[n] = log;
	curve->n = n + 1;
}

static void curve_read(struct curve *curve, const struct distribution *distribution)
{
	curve->n = 0;
	for (int octave = DISTRIBUTION_OCTAVES - 1; octave >= 0; octave--) {
		for (int i = 0; i < KEEP_SEGMENTS; i++) {
			double tail = ldexp(1 + i / (double)KEEP_SEGMENTS, -(octave + 2));

			curve_add(curve, (double)distribution_quantile(distribution, tail, 0),
			          log(tail));
		}
	}
	for (int octave = 0; octave < DISTRIBUTION_OCTAVES; octave++) {
		for (int i = KEEP_SEGMENTS; i > 0; i--) {
			double tail = ldexp(1 + i / (double)KEEP_SEGMENTS, -(octave + 2));

			curve_add(curve, (double)distribution_quantile(distribution, tail, 1),
			          log1p(-tail));
		}
	}
	curve_add(curve,
	          (double)distribution_quantile(distribution, ldexp(1, -(DISTRIBUTION_OCTAVES + 1)),
	                                        1),
	          0);
}

/* Computes the mean and mean square of t on [0, 1] with a density proportional to e^(ut), u >=
 * 0. */
static void piece_moments(double u, double *one, double *two)
{
	if (u < 1e-3) {
		*one = 0.5 + u / 12;
		*two = 1.0 / 3 + u / 12;
	} else {
		*one = 1 / -expm1(-u) - 1 / u;
		*two = (exp(u) * (u * u - 2 * u + 2) - 2) / (u * u * expm1(u));
	}
}

static void curve_moments(const struct curve *curve, double *mean, double *deviation)
{
	double first = curve->x[0], sum = 0, square = 0;

	/* relative to the first node, for precision */
	for (uint32_t i = 0; i + 1 < curve->n; i++) {
		double x = curve->x[i] - first, width = curve->x[i + 1] - curve->x[i];
		double rise = curve->log[i + 1] - curve->log[i];
		double weight = exp(curve->log[i]) * expm1(rise), one, two;

		piece_moments(rise, &one, &two);
		sum += weight * (x + width * one);
		square += weight * (x * x + 2 * x * width * one + width * width * two);
	}
	*mean = first + sum;
	*deviation = sqrt(fmax(0, square - sum * sum));
}

/* The limited precision of the table changes mean and deviation by less than this share. */
#define HULL_OFF 0.01

static void keep_nodes(struct jitter_keep *keep, const struct curve *curve)
{
	keep->n = curve->n;
	for (uint32_t i = 0; i < curve->n; i++) {
		keep->x[i] = llround(curve->x[i]);
		keep->log[i] = llround(ldexp(curve->log[i], KEEP_LOG_BITS));
	}
	for (uint32_t i = 0; i + 1 < curve->n; i++)
		keep->per_ns_q63[i] = (UINT64_C(1) << 63) / (uint64_t)(keep->x[i + 1] - keep->x[i]);
}

bool jitter_keep_make(struct jitter_keep *keep, const struct distribution *distribution)
{
	const double least = ldexp(1, -(DISTRIBUTION_OCTAVES + 1));
	struct curve curve, whole = {.n = 0};
	double mean, deviation, got_mean, got_deviation, stretch;
	int64_t first, last;

	distribution_moments(distribution, &mean, &deviation);
	curve_read(&curve, distribution);
	curve_moments(&curve, &got_mean, &got_deviation);
	if (deviation < 0.5 || got_deviation <= 0)
		return false;
	stretch = deviation / got_deviation;
	if (fabs(got_mean - mean) < HULL_OFF * deviation && fabs(stretch - 1) < HULL_OFF) {
		stretch = 1;
		got_mean = mean;
	}
	for (uint32_t i = 0; i < curve.n; i++)
		curve_add(&whole, rint(mean + (curve.x[i] - got_mean) * stretch), curve.log[i]);
	if (whole.n < 2)
		return false;
	keep_nodes(keep, &whole);
	first = distribution_quantile(distribution, least, 0);
	last = distribution_quantile(distribution, least, 1);
	first = first < keep->x[0] ? first : keep->x[0];
	last = last > keep->x[keep->n - 1] ? last : keep->x[keep->n - 1];
	keep->span = last - first;
	keep->speed_q32 = UINT64_C(1) << 32;
	keep->fall_most = INT64_MAX;
	keep->exponential = exponential_make();
	return true;
}

/* ---- correlation ---- */

/* The curve, refined to steps of L that are small enough for numerical integration. */
#define GRID_MAX  (KEEP_NODES + 1024)
#define GRID_RISE 0.02

struct grid {
	uint32_t n;
	double x[GRID_MAX], log[GRID_MAX];
	double beyond[GRID_MAX]; /* the integral of 1 - G from here on */
};

static void grid_make(struct grid *grid, const struct jitter_keep *keep)
{
	grid->n = 0;
	for (uint32_t i = 0; i + 1 < keep->n; i++) {
		double log = ldexp((double)keep->log[i], -KEEP_LOG_BITS);
		double rise = ldexp((double)(keep->log[i + 1] - keep->log[i]), -KEEP_LOG_BITS);
		double width = (double)(keep->x[i + 1] - keep->x[i]);
		uint32_t parts = 1 + (uint32_t)(rise / GRID_RISE);

		if (parts > GRID_MAX - grid->n - (keep->n - i))
			parts = 1;
		for (uint32_t k = 0; k < parts; k++) {
			grid->x[grid->n] = (double)keep->x[i] + width * k / parts;
			grid->log[grid->n++] = log + rise * k / parts;
		}
	}
	grid->x[grid->n] = (double)keep->x[keep->n - 1];
	grid->log[grid->n++] = 0;
}

/* Returns the value at x of a function given at the grid's points. *at is the point found last. */
static double grid_value(const struct grid *grid, const double *of, double x, uint32_t *at)
{
	if (x <= grid->x[0])
		return of[0];
	if (x >= grid->x[grid->n - 1])
		return of[grid->n - 1];
	while (grid->x[*at + 1] <= x)
		++*at;
	return of[*at] +
	       (of[*at + 1] - of[*at]) * (x - grid->x[*at]) / (grid->x[*at + 1] - grid->x[*at]);
}

static void grid_beyond(struct grid *grid, double fall)
{
	double above[GRID_MAX];
	uint32_t at = 0;

	for (uint32_t i = 0; i < grid->n; i++)
		above[i] =
		        -expm1(grid->log[i] - grid_value(grid, grid->log, grid->x[i] + fall, &at));
	grid->beyond[grid->n - 1] = 0;
	for (uint32_t i = grid->n - 1; i > 0; i--)
		grid->beyond[i - 1] = grid->beyond[i] +
		                      (grid->x[i] - grid->x[i - 1]) * (above[i] + above[i - 1]) / 2;
}

/* Returns the correlation of d and d'. If H(m) is the mean of max(x, m), then E[d d'] = E[d H(d -
 * c)] and E[d'] = E[H(d - c)]. */
static double grid_correlation(struct grid *grid, double fall)
{
	double sum = 0, square = 0, next = 0, product = 0;
	uint32_t at = 0;

	grid_beyond(grid, fall);
	for (uint32_t i = 0; i < grid->n; i++) {
		double low = grid->x[i ? i - 1 : 0], x = (low + grid->x[i]) / 2;
		double weight = i ? exp(grid->log[i]) - exp(grid->log[i - 1]) : exp(grid->log[0]);
		double least = fmax(x - fall, grid->x[0]);
		double h = least + grid_value(grid, grid->beyond, least, &at);

		x -= grid->x[0];
		sum += weight * x;
		square += weight * x * x;
		next += weight * h;
		product += weight * x * h;
	}
	return (product - sum * next) / (square - sum * sum);
}

/* Returns the c for which the delays have this correlation. */
static double fall_for(const struct jitter_keep *keep, double correlation)
{
	struct grid grid;
	double low = log(1e-6), high = log((double)keep->span);

	grid_make(&grid, keep);
	for (int i = 0; i < 50; i++) {
		double middle = (low + high) / 2;

		if (grid_correlation(&grid, exp(middle)) > correlation)
			low = middle;
		else
			high = middle;
	}
	return exp(high);
}

void jitter_keep_correlation(struct jitter_keep *keep, double correlation)
{
	if (correlation >= 1)
		keep->fall_most = 0;
	else
		keep->fall_most = llround(fmax(1, fall_for(keep, correlation)));
}

void jitter_keep_half_life(struct jitter_keep *keep, uint64_t half_life_ns)
{
	double speed = fall_for(keep, 0.5) / (double)half_life_ns;

	keep->speed_q32 = (uint64_t)ldexp(fmin(1, speed), 32);
	if (keep->speed_q32 == 0)
		keep->speed_q32 = 1;
}
