/* SPDX-License-Identifier: BSD-3-Clause */
/* The families with one tail longer than the other whose quantiles are computed by a formula. */
#include "random/distribution.h"

#include <math.h>

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
