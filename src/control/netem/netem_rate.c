/* SPDX-License-Identifier: BSD-3-Clause */
#include "netem/netem_rate.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define NODES      6000
#define NORMAL     0.98 /* from this correlation on, F is taken as normal */
#define LEAST      1e-15
#define ROUNDS_MAX 400
#define CHANGE     1e-8

/* The lower half of F: node i is at LEAST * ratio^i, the last at 1/2. */
struct solution {
	double at[NODES], f[NODES], integral[NODES]; /* of F from 0 */
	double log_ratio;
};

static void integrate(struct solution *s)
{
	s->integral[0] = s->f[0] * s->at[0] / 2;
	for (int i = 1; i < NODES; i++)
		s->integral[i] = s->integral[i - 1] +
		                 (s->f[i] + s->f[i - 1]) / 2 * (s->at[i] - s->at[i - 1]);
}

/* Returns the integral of F from 0 to z. */
static double area(const struct solution *s, double z)
{
	double along;
	int i;

	if (z <= LEAST)
		return 0;
	if (z >= 1)
		return z - 0.5;
	if (z > 0.5)
		return z - 0.5 + area(s, 1 - z);
	i = (int)(log(z / LEAST) / s->log_ratio);
	if (i >= NODES - 1)
		return s->integral[NODES - 1];
	along = z - s->at[i];
	return s->integral[i] +
	       along * (s->f[i] + (s->f[i + 1] - s->f[i]) * along / (s->at[i + 1] - s->at[i]) / 2);
}

/* Does one iteration. Returns true if F has changed. */
static bool improve(struct solution *s, double correlation, double *next)
{
	double rest = 1 - correlation, change = 0;

	for (int i = 0; i < NODES; i++) {
		double p = s->at[i];

		next[i] = correlation / rest *
		          (area(s, p / correlation) - area(s, (p - rest) / correlation));
		change = fmax(change, fabs(next[i] - s->f[i]) / fmax(s->f[i], LEAST));
	}
	for (int i = 0; i < NODES; i++)
		s->f[i] = next[i];
	return change > CHANGE;
}

static double value(const struct solution *s, double p)
{
	double place;
	int i;

	if (p > 0.5)
		return 1 - value(s, 1 - p);
	if (p <= LEAST)
		return 0;
	place = log(p / LEAST) / s->log_ratio;
	i = (int)place;
	if (i >= NODES - 1)
		return s->f[NODES - 1];
	return s->f[i] + (s->f[i + 1] - s->f[i]) * (p - s->at[i]) / (s->at[i + 1] - s->at[i]);
}

static double visible(double rate)
{
	return rate < 1e-12 ? 0 : rate;
}

double netem_rate(double p, double correlation)
{
	struct solution *s;
	double deviation = sqrt((1 - correlation) / (1 + correlation) / 12);
	double next[NODES], rate;

	if (p <= 0 || p >= 1 || correlation <= 0 || correlation >= 1)
		return p;
	/* x is then a sum of so many terms that it is almost normal, and the grid is too coarse for
	 * it. */
	if (correlation > NORMAL)
		return visible(erfc((0.5 - p) / deviation / M_SQRT2) / 2);
	s = malloc(sizeof(*s));
	if (!s)
		return p;
	s->log_ratio = log(0.5 / LEAST) / (NODES - 1);
	for (int i = 0; i < NODES; i++)
		s->f[i] = s->at[i] = LEAST * exp(i * s->log_ratio);
	for (int round = 0; round < ROUNDS_MAX; round++) {
		integrate(s);
		if (!improve(s, correlation, next))
			break;
	}
	rate = value(s, p);
	free(s);
	return visible(rate);
}
