/* SPDX-License-Identifier: BSD-3-Clause */
#include "line/jitter_copula.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>

/* ---- the decay of z with time: a table ---- */

/* x is a number of half-lives with X_BITS fraction bits. The table has SEGMENTS pieces for each
 * octave of x. */
#define X_BITS   58
#define SEGMENTS 32

struct copula_decay {
	/* for x whose highest bit is 63 - octave */
	uint64_t lost_q62[64][SEGMENTS + 1];       /* 1 - 2^-x */
	uint64_t innovation_q62[64][SEGMENTS + 1]; /* sqrt(1 - 4^-x) */
};

static struct copula_decay decay_table;

static void decay_fill(void)
{
	for (int octave = 0; octave < 64; octave++) {
		for (int i = 0; i <= SEGMENTS; i++) {
			double x = ldexp(1 + i / (double)SEGMENTS, 63 - octave - X_BITS);

			decay_table.lost_q62[octave][i] = (uint64_t)ldexp(-expm1(-x * M_LN2), 62);
			decay_table.innovation_q62[octave][i] =
			        (uint64_t)ldexp(sqrt(-expm1(-2 * x * M_LN2)), 62);
		}
	}
}

static const struct copula_decay *decay(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, decay_fill);
	return &decay_table;
}

static uint64_t between(const uint64_t *at, uint64_t part_q32)
{
	return at[0] + (uint64_t)(((__int128)(int64_t)(at[1] - at[0]) * (int64_t)part_q32) >> 32);
}

/* ---- the packet path ---- */

static int64_t step(int64_t z, int64_t n, uint64_t lost_q62, uint64_t innovation_q62)
{
	return z - (int64_t)(((__int128)z * (int64_t)lost_q62) >> 62) +
	       (int64_t)(((__int128)n * (int64_t)innovation_q62) >> 62);
}

int64_t jitter_copula_next(const struct jitter_copula *copula, int64_t z, uint64_t passed_ns,
                           uint64_t uniform)
{
	int64_t n = gaussian_draw(copula->gaussian, uniform);
	unsigned __int128 halves;
	uint64_t x, mantissa;
	uint32_t octave, segment;

	if (!copula->decay)
		return step(z, n, copula->lost_q62, copula->innovation_q62);
	halves = (unsigned __int128)passed_ns * copula->per_ns_q64 >> (64 - X_BITS);
	if (halves >> 64)
		return n;
	x = (uint64_t)halves;
	if (x == 0)
		return z;
	octave = (uint32_t)__builtin_clzll(x);
	mantissa = x << octave << 1;
	segment = (uint32_t)(mantissa >> 59);
	mantissa = mantissa << 5 >> 32;
	return step(z, n, between(&copula->decay->lost_q62[octave][segment], mantissa),
	            between(&copula->decay->innovation_q62[octave][segment], mantissa));
}

/* ---- control: from the correlation of the delays to that of z ---- */

/* Mehler: if the quantile function of the distribution is a series of Hermite polynomials of z, the
 * delays of two z with the correlation r have the covariance sum a_k^2 r^k. For a function with
 * jumps, the terms beyond TERMS decrease as k^(-3/2); for a smooth function they vanish. */
#define TERMS      64
#define REST_TERMS 16384
#define GRID       1024
#define GRID_Z(i)  (((i) + 0.5) / 64 - 8)

struct series {
	double share[TERMS + 1]; /* of the variance, for each power of r */
	double rest;             /* the share of all higher powers */
	double rest_sum;         /* the sum of their k^(-3/2) */
};

/* Computes the standardised quantile at each z of the grid, and the weight of that z. Returns false
 * if the variance is 0. */
static bool grid_fill(const struct distribution *distribution, double *value, double *weight)
{
	const struct gaussian *normal = gaussian();
	double sum = 0, mean = 0, square = 0;

	for (int i = 0; i < GRID; i++) {
		int64_t z = llround(ldexp(GRID_Z(i), GAUSSIAN_BITS));

		weight[i] = exp(-GRID_Z(i) * GRID_Z(i) / 2);
		value[i] = (double)distribution_draw(distribution, gaussian_uniform(normal, z));
		sum += weight[i];
		mean += weight[i] * value[i];
	}
	mean /= sum;
	for (int i = 0; i < GRID; i++) {
		weight[i] /= sum;
		value[i] -= mean;
		square += weight[i] * value[i] * value[i];
	}
	for (int i = 0; i < GRID && square > 0; i++)
		value[i] /= sqrt(square);
	return square > 0;
}

static void series_make(struct series *series, const struct distribution *distribution)
{
	double value[GRID], weight[GRID], before[GRID] = {0}, h[GRID];

	*series = (struct series){.rest = 1};
	for (int k = TERMS + 1; k <= REST_TERMS; k++)
		series->rest_sum += pow(k, -1.5);
	if (!grid_fill(distribution, value, weight)) {
		series->share[1] = 1;
		series->rest = 0;
		return;
	}
	for (int i = 0; i < GRID; i++)
		h[i] = 1;
	for (int k = 1; k <= TERMS; k++) {
		double a = 0;

		for (int i = 0; i < GRID; i++) {
			double next = (GRID_Z(i) * h[i] - sqrt(k - 1) * before[i]) / sqrt(k);

			before[i] = h[i];
			h[i] = next;
			a += weight[i] * value[i] * next;
		}
		series->share[k] = fmin(a * a, series->rest);
		series->rest -= series->share[k];
	}
}

static double series_at(const struct series *series, double r)
{
	double sum = 0, power = pow(r, TERMS + 1), rest = 0;

	for (int k = TERMS; k > 0; k--)
		sum = (sum + series->share[k]) * r;
	for (int k = TERMS + 1; k <= REST_TERMS && power > 1e-9; k++) {
		rest += power * pow(k, -1.5);
		power *= r;
	}
	return sum + series->rest * rest / series->rest_sum;
}

double jitter_copula_solve(const struct distribution *distribution, double correlation)
{
	struct series series;
	double low = 0, high = 1;

	series_make(&series, distribution);
	for (int i = 0; i < 40; i++) {
		double middle = (low + high) / 2;

		if (series_at(&series, middle) < correlation)
			low = middle;
		else
			high = middle;
	}
	return high;
}

void jitter_copula_correlation(struct jitter_copula *copula,
                               const struct distribution *distribution, double correlation)
{
	double r = correlation >= 1 ? 1 : jitter_copula_solve(distribution, correlation);

	*copula = (struct jitter_copula){
	        .gaussian = gaussian(),
	        .lost_q62 = (uint64_t)ldexp(1 - r, 62),
	        .innovation_q62 = (uint64_t)ldexp(sqrt((1 - r) * (1 + r)), 62),
	};
}

void jitter_copula_half_life(struct jitter_copula *copula, const struct distribution *distribution,
                             uint64_t half_life_ns)
{
	/* The correlation of z after the half-life of the delays. */
	double left = fmin(jitter_copula_solve(distribution, 0.5), 0.9999);
	double per_ns = -log2(left) / (double)half_life_ns;

	*copula = (struct jitter_copula){
	        .gaussian = gaussian(),
	        .decay = decay(),
	        .per_ns_q64 = (uint64_t)fmin(fmax(ldexp(per_ns, 64), 1), 0x1p63),
	};
}
