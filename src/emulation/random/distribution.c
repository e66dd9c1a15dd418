/* SPDX-License-Identifier: BSD-3-Clause */
#include "random/distribution.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Fills the table from the inverse of the distribution function: value(argument, tail, upper) is
 * the deviation that the distribution exceeds (upper) or stays below (otherwise) with probability
 * `tail`, 0 < tail <= 0.5. */
static void distribution_fill(struct distribution *distribution,
                              double (*value)(const void *argument, double tail, int upper),
                              const void *argument);

/* The families with one tail longer than the other whose quantiles are computed by a formula. */

/* Return the logarithm of the probability below and above a quantile that has the tail on one
 * side. */
static double log_below(double tail, int upper)
{
	return upper ? log1p(-tail) : log(tail);
}

static double log_above(double tail, int upper)
{
	return upper ? log(tail) : log1p(-tail);
}

static double normal_of(double tail, int upper)
{
	return upper ? distribution_normal_quantile(tail) : -distribution_normal_quantile(tail);
}

static double exponential_value(const void *argument, double tail, int upper)
{
	double jitter = *(const double *)argument;

	return jitter * (-log_above(tail, upper) - 1);
}

void distribution_exponential(struct distribution *distribution, uint64_t jitter_ns)
{
	double jitter = (double)jitter_ns;

	distribution_fill(distribution, exponential_value, &jitter);
}

/* Uses U^(-1/3), with U the probability above. */
static double pareto_value(const void *argument, double tail, int upper)
{
	double jitter = *(const double *)argument;

	return jitter * 4 / 3 * (exp(-log_above(tail, upper) / 3) - 1.5);
}

void distribution_pareto(struct distribution *distribution, uint64_t jitter_ns)
{
	double jitter = (double)jitter_ns;

	distribution_fill(distribution, pareto_value, &jitter);
}

static double paretonormal_value(const void *argument, double tail, int upper)
{
	double jitter = *(const double *)argument;

	return jitter * normal_of(tail, upper) / 4 + pareto_value(argument, tail, upper) * 3 / 4;
}

void distribution_paretonormal(struct distribution *distribution, uint64_t jitter_ns)
{
	double jitter = (double)jitter_ns;

	distribution_fill(distribution, paretonormal_value, &jitter);
}

struct skew {
	double mean, jitter;
	double shape; /* gamma */
};

static double lognormal_value(const void *argument, double tail, int upper)
{
	const struct skew *skew = argument;
	double ratio = skew->jitter / skew->mean, variance = log1p(ratio * ratio);

	return skew->mean * expm1(sqrt(variance) * normal_of(tail, upper) - variance / 2);
}

void distribution_lognormal(struct distribution *distribution, uint64_t mean_ns, uint64_t jitter_ns)
{
	struct skew skew = {.mean = (double)mean_ns, .jitter = (double)jitter_ns};

	distribution_fill(distribution, lognormal_value, &skew);
}

/* ---- gamma ---- */

/* Returns ln of the density of ln X at y, for X of a gamma distribution with this shape and scale
 * 1. */
static double gamma_log_density(double shape, double y)
{
	return shape * y - exp(y) - lgamma(shape);
}

/* Returns ln of the probability below e^y: the series of the incomplete gamma function. */
static double gamma_log_lower(double shape, double y)
{
	double x = exp(y), term = 1 / shape, sum = term;

	for (double a = shape + 1; term > sum * 1e-17; a++) {
		term *= x / a;
		sum += term;
	}
	return gamma_log_density(shape, y) + log(sum);
}

/* Returns ln of the probability above e^y: the continued fraction (Lentz's algorithm). */
static double gamma_log_upper(double shape, double y)
{
	double x = exp(y), b = x + 1 - shape, c = 1e300, d = 1 / b, h = d;

	for (int i = 1; i < 10000; i++) {
		double a = -i * (i - shape), change;

		b += 2;
		d = a * d + b;
		d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
		c = b + a / c;
		c = fabs(c) < 1e-300 ? 1e-300 : c;
		change = c * d;
		h *= change;
		if (fabs(change - 1) < 1e-16)
			break;
	}
	return gamma_log_density(shape, y) + log(h);
}

/* Computes ln of the probabilities below and above e^y. */
static void gamma_logs(double shape, double y, double *below, double *above)
{
	if (exp(y) < shape + 1) {
		*below = gamma_log_lower(shape, y);
		*above = *below < -1e-300 ? log(-expm1(*below)) : -700;
	} else {
		*above = gamma_log_upper(shape, y);
		*below = log1p(-exp(*above));
	}
}

/* Wilson and Hilferty: the cube root is nearly normal. */
static double gamma_cube(double shape, double z)
{
	double root = 1 - 1 / (9 * shape) + z / (3 * sqrt(shape));

	return root > 0 ? shape * root * root * root : 0;
}

/* From this shape on the approximation is better than 1e-5 standard deviations. */
#define GAMMA_CUBE_FROM 20000

/* Returns the quantile for scale 1: Newton's method for ln X on the logarithm of the tail, kept
 * inside a shrinking bracket. */
static double gamma_quantile(double shape, double tail, int upper)
{
	double wanted = upper ? log_above(tail, upper) : log_below(tail, upper);
	/* the probability below x is less than x^shape / Gamma(shape + 1) */
	double low = (log_below(tail, upper) + lgamma(shape + 1)) / shape, high = log(shape) + 60;
	double y = log(fmax(gamma_cube(shape, normal_of(tail, upper)), 1e-300));

	if (shape >= GAMMA_CUBE_FROM)
		return gamma_cube(shape, normal_of(tail, upper));
	low = fmin(low, high) - 1e-9;
	if (low < -600) /* e^-600 counts as 0 */
		return 0;
	y = fmin(fmax(y, low), high);
	for (int i = 0; i < 200; i++) {
		double below, above, off, slope, next;

		gamma_logs(shape, y, &below, &above);
		off = (upper ? above : below) - wanted;
		if ((off > 0) == (upper != 0))
			low = y;
		else
			high = y;
		slope = exp(gamma_log_density(shape, y) - (upper ? above : below));
		next = upper ? y + off / slope : y - off / slope;
		if (!(next > low && next < high))
			next = (low + high) / 2;
		if (fabs(next - y) < 1e-13 * (1 + fabs(y)))
			return exp(next);
		y = next;
	}
	return exp(y);
}

double distribution_gamma_quantile(double shape, double tail, int upper)
{
	return gamma_quantile(shape, tail, upper) / shape;
}

static double gamma_value(const void *argument, double tail, int upper)
{
	const struct skew *skew = argument;

	return skew->mean * (distribution_gamma_quantile(skew->shape, tail, upper) - 1);
}

void distribution_gamma(struct distribution *distribution, uint64_t mean_ns, uint64_t jitter_ns)
{
	double ratio = (double)mean_ns / (double)jitter_ns;
	struct skew skew = {
	        .mean = (double)mean_ns,
	        .jitter = (double)jitter_ns,
	        .shape = ratio * ratio,
	};

	distribution_fill(distribution, gamma_value, &skew);
}

/* ---- drawing ---- */

/* Returns the probability that lies below, in units of 2^-64. */
static uint64_t rank_of(uint64_t uniform)
{
	return uniform >> 63 ? ~(uniform & (UINT64_MAX >> 1)) : uniform;
}

static int64_t grid_draw(const struct distribution *distribution, uint64_t rank)
{
	const int64_t *value = distribution->value;
	unsigned __int128 place = (unsigned __int128)rank * distribution->n;
	uint64_t i = (uint64_t)(place >> 64), part = (uint64_t)place;

	/* The i-th quantile is in the middle of the i-th interval. */
	if (part < UINT64_C(1) << 63) {
		if (i == 0)
			return value[0];
		i--;
	}
	part -= UINT64_C(1) << 63;
	if (i + 1 >= distribution->n)
		return value[distribution->n - 1];
	return value[i] +
	       (int64_t)(((__int128)(value[i + 1] - value[i]) * (int64_t)(part >> 1)) >> 63);
}

int64_t distribution_draw_values(const struct distribution *distribution, uint64_t uniform)
{
	uint64_t rank = rank_of(uniform);

	switch ((enum distribution_form)distribution->form) {
	case DISTRIBUTION_TWO:
		return distribution->value[rank >= distribution->rank];
	case DISTRIBUTION_VALUES:
		return distribution->value[((unsigned __int128)rank * distribution->n) >> 64];
	case DISTRIBUTION_GRID:
		return grid_draw(distribution, rank);
	case DISTRIBUTION_QUANTILES:
		break;
	}
	return 0;
}

/* Draws as distribution_draw if `is_near`. A quantile and its successor are one load, and a product
 * has 64 bits. Beyond the last octave, the octave's first quantile is used. */
static int64_t draw_near(const int32_t *near, uint64_t uniform)
{
	uint64_t tail = uniform << 1 | 1;
	uint32_t octave = (uint32_t)__builtin_clzll(tail);
	bool beyond = octave >= DISTRIBUTION_OCTAVES;
	uint64_t mantissa = beyond ? 0 : tail << octave << 1;
	uint64_t row = (uniform >> 63) * DISTRIBUTION_OCTAVES +
	               (beyond ? DISTRIBUTION_OCTAVES - 1 : octave);
	int32_t at[2];

	memcpy(at, near + row * (DISTRIBUTION_SEGMENTS + 1) + (mantissa >> 58), sizeof(at));
	return at[0] + ((((int64_t)at[1] - at[0]) * (int64_t)(mantissa << 6 >> 32)) >> 32);
}

void distribution_draw_burst(const struct distribution *distribution,
                             const uint64_t *restrict uniform, uint32_t n, int64_t *restrict out)
{
	if (distribution->is_near) {
		for (uint32_t i = 0; i < n; i++)
			out[i] = draw_near(&distribution->near[0][0][0], uniform[i]);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		out[i] = distribution_draw(distribution, uniform[i]);
}

int64_t distribution_quantile(const struct distribution *distribution, double tail, int upper)
{
	double units = ldexp(tail, 64);
	uint64_t uniform = units >= 0x1p63 ? UINT64_MAX >> 1 : (uint64_t)units;

	return distribution_draw(distribution, uniform | (uint64_t)(upper != 0) << 63);
}

/* ---- moments ---- */

struct sums {
	double one, two; /* of w x, w x^2 */
};

/* Adds an interval of probability w in which the quantiles are linear from a to b. */
static void sums_add(struct sums *sums, double w, double a, double b)
{
	sums->one += w * (a + b) / 2;
	sums->two += w * (a * a + a * b + b * b) / 3;
}

static void sums_of_table(const struct distribution *distribution, struct sums *sums)
{
	for (int upper = 0; upper < 2; upper++) {
		for (int octave = 0; octave < DISTRIBUTION_OCTAVES; octave++) {
			const int64_t *at = distribution->quantile[upper][octave];

			for (int i = 0; i < DISTRIBUTION_SEGMENTS; i++)
				sums_add(sums, ldexp(1.0 / DISTRIBUTION_SEGMENTS, -(octave + 2)),
				         (double)at[i], (double)at[i + 1]);
		}
		sums_add(sums, ldexp(1, -(DISTRIBUTION_OCTAVES + 1)),
		         (double)distribution->quantile[upper][DISTRIBUTION_OCTAVES - 1][0],
		         (double)distribution->quantile[upper][DISTRIBUTION_OCTAVES - 1][0]);
	}
}

static void sums_of_values(const struct distribution *distribution, struct sums *sums)
{
	const int64_t *value = distribution->value;
	uint32_t n = distribution->n;
	double low = ldexp((double)distribution->rank, -64);

	switch ((enum distribution_form)distribution->form) {
	case DISTRIBUTION_TWO:
		sums_add(sums, low, (double)value[0], (double)value[0]);
		sums_add(sums, 1 - low, (double)value[1], (double)value[1]);
		break;
	case DISTRIBUTION_VALUES:
		for (uint32_t i = 0; i < n; i++)
			sums_add(sums, 1.0 / n, (double)value[i], (double)value[i]);
		break;
	case DISTRIBUTION_GRID:
		sums_add(sums, 0.5 / n, (double)value[0], (double)value[0]);
		sums_add(sums, 0.5 / n, (double)value[n - 1], (double)value[n - 1]);
		for (uint32_t i = 0; i + 1 < n; i++)
			sums_add(sums, 1.0 / n, (double)value[i], (double)value[i + 1]);
		break;
	case DISTRIBUTION_QUANTILES:
		break;
	}
}

void distribution_moments(const struct distribution *distribution, double *mean, double *deviation)
{
	struct sums sums = {0, 0};

	if (distribution->form == DISTRIBUTION_QUANTILES)
		sums_of_table(distribution, &sums);
	else
		sums_of_values(distribution, &sums);
	*mean = sums.one;
	*deviation = sqrt(fmax(0, sums.two - sums.one * sums.one));
}

/* ---- making ---- */

static void quantiles_begin(struct distribution *distribution)
{
	distribution->form = DISTRIBUTION_QUANTILES;
	distribution->is_near = true;
}

static void quantile_put(struct distribution *distribution, int upper, int octave, int segment,
                         double x)
{
	const double most = (double)DISTRIBUTION_MAX;
	int64_t quantile = llround(fmin(fmax(x, -most), most));

	distribution->quantile[upper][octave][segment] = quantile;
	distribution->near[upper][octave][segment] = (int32_t)quantile;
	distribution->is_near &= llabs(quantile) <= DISTRIBUTION_NEAR;
}

static void distribution_fill(struct distribution *distribution,
                              double (*value)(const void *argument, double tail, int upper),
                              const void *argument)
{
	quantiles_begin(distribution);
	for (int upper = 0; upper < 2; upper++) {
		for (int octave = 0; octave < DISTRIBUTION_OCTAVES; octave++) {
			for (int segment = 0; segment <= DISTRIBUTION_SEGMENTS; segment++) {
				double tail = ldexp(1.0 + segment / (double)DISTRIBUTION_SEGMENTS,
				                    -(octave + 2));

				quantile_put(distribution, upper, octave, segment,
				             value(argument, tail, upper));
			}
		}
	}
}

void distribution_release(struct distribution *distribution)
{
	if (distribution->form != DISTRIBUTION_QUANTILES)
		free(distribution->value);
	distribution->value = NULL;
}

static double uniform_value(const void *argument, double tail, int upper)
{
	double half_width = *(const double *)argument;

	return upper ? half_width * (1 - 2 * tail) : half_width * (2 * tail - 1);
}

void distribution_uniform(struct distribution *distribution, uint64_t half_width_ns)
{
	double half_width = (double)half_width_ns;

	distribution_fill(distribution, uniform_value, &half_width);
}

/* Solves erfc(x / sqrt 2) / 2 = tail by Newton's method on the logarithm, which is nearly a
 * parabola and converges from anywhere. */
double distribution_normal_quantile(double tail)
{
	double x = sqrt(-2 * log(2 * tail) * 0.9);

	if (tail >= 0.5)
		return 0;
	for (int i = 0; i < 60; i++) {
		double q = erfc(x / M_SQRT2) / 2;
		double density = exp(-x * x / 2) / sqrt(2 * M_PI);
		double step = q / density * log(q / tail);

		x += step;
		if (fabs(step) < 1e-14 * (1 + x))
			break;
	}
	return x;
}

/* Scales the table of z, which is made once. */
void distribution_normal(struct distribution *distribution, uint64_t deviation_ns)
{
	const struct distribution *z = &gaussian()->quantile;
	double deviation = (double)deviation_ns;

	quantiles_begin(distribution);
	for (int upper = 0; upper < 2; upper++) {
		for (int octave = 0; octave < DISTRIBUTION_OCTAVES; octave++) {
			for (int i = 0; i <= DISTRIBUTION_SEGMENTS; i++) {
				double x = deviation * ldexp((double)z->quantile[upper][octave][i],
				                             -GAUSSIAN_BITS);

				quantile_put(distribution, upper, octave, i, x);
			}
		}
	}
}

int distribution_bimodal(struct distribution *distribution, uint64_t jitter_ns, uint64_t late)
{
	int64_t *value = malloc(2 * sizeof(*value));

	if (!value)
		return -ENOMEM;
	value[0] = -(int64_t)jitter_ns;
	value[1] = (int64_t)jitter_ns;
	distribution->value = value;
	distribution->n = 2;
	/* The last of the 2^64 ranks is always late; so if nothing is to be late, both values are
	 * the early one. */
	distribution->rank = late == 0 ? UINT64_MAX : 0 - (late << 1);
	if (late == 0)
		value[1] = value[0];
	distribution->form = DISTRIBUTION_TWO;
	return 0;
}

static struct gaussian tables;

/* Fills the tables. distribution_fill cannot do it: it clamps to the range of delays, and z is
 * larger. */
static void fill(void)
{
	struct distribution *quantile = &tables.quantile;

	for (int octave = 0; octave < DISTRIBUTION_OCTAVES; octave++) {
		for (int segment = 0; segment <= DISTRIBUTION_SEGMENTS; segment++) {
			double tail =
			        ldexp(1.0 + segment / (double)DISTRIBUTION_SEGMENTS, -(octave + 2));
			int64_t z =
			        llround(ldexp(distribution_normal_quantile(tail), GAUSSIAN_BITS));

			quantile->quantile[0][octave][segment] = -z;
			quantile->quantile[1][octave][segment] = z;
		}
	}
	for (int i = 0; i <= GAUSSIAN_POINTS; i++)
		tables.tail[i] = (uint64_t)ldexp(erfc(i / 256.0 / M_SQRT2) / 2, 64);
}

const struct gaussian *gaussian(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill);
	return &tables;
}
