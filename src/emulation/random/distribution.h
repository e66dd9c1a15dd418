/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A probability distribution of nanoseconds, drawn by inversion: the packet path needs one uniform
 * 64-bit number, a table look-up and an integer interpolation.
 *
 * A uniform number is taken in two parts. Its top bit gives the side of the median, the rest the
 * probability that lies beyond, so that both tails are equally fine. Four forms:
 *
 *   quantiles  a table that is dense where it matters: on each side of the median, every halving of
 *              the remaining probability has 64 segments of its own, down to a tail of 2^-33. The
 *              values are piecewise linear in between, constant beyond.
 *   two        two values, each with a probability of its own
 *   values     n equally likely values: a measurement, exactly
 *   grid       n quantiles at the probabilities (i + 1/2) / n, piecewise linear in between: netem's
 *              tables
 *
 * Families, for a jitter j; m is the mean from which the deviations are counted:
 *
 *   uniform       on [-j, j]: standard deviation j / sqrt 3
 *   normal        standard deviation j
 *   exponential   from -j on, standard deviation j; with a delay of j that is the exponential
 *                 distribution itself
 *   gamma         of mean m and standard deviation j, from 0 on: shape (m/j)^2; deviations from m
 *   lognormal     of mean m and standard deviation j: exp of a normal with the variance
 *                 ln(1 + (j/m)^2); deviations from m
 *   pareto        netem's: 4/3 j (U^(-1/3) - 3/2), shape 3, mean 0, standard deviation 2/sqrt(3) j;
 *                 without the end at 4 j that netem's 16-bit table has
 *   paretonormal  netem's: at each probability a quarter of the normal quantile and three quarters
 *                 of that of pareto
 *   bimodal       -j, or +j with a given probability
 *
 * Units: ns, signed: the deviation from the mean. Ranges: to +-2^51 ns (26 days), clamped.
 *
 * Thread: made by control, then read only.
 */
#ifndef WEIR_DISTRIBUTION_H
#define WEIR_DISTRIBUTION_H

#include <stdbool.h>
#include <stdint.h>

#define DISTRIBUTION_OCTAVES  32
#define DISTRIBUTION_SEGMENTS 64
#define DISTRIBUTION_MAX      (INT64_C(1) << 51)
/* ns, about a second: two such values differ by 2^31 at most */
#define DISTRIBUTION_NEAR (INT64_C(1) << 30)
/* The greatest ratio of j to m. */
#define DISTRIBUTION_SKEW_MAX 10

enum distribution_form {
	DISTRIBUTION_QUANTILES,
	DISTRIBUTION_TWO,
	DISTRIBUTION_VALUES,
	DISTRIBUTION_GRID,
};

struct distribution {
	uint32_t form;  /* enum distribution_form */
	uint32_t n;     /* VALUES, GRID */
	uint64_t rank;  /* TWO: the probability of value[0], in units of 2^-64 */
	int64_t *value; /* all forms but QUANTILES: n values (TWO: two), not descending; owned */
	/* QUANTILES: [upper][octave][segment]: the quantile beyond which the tail probability is (1
	 * + segment / 64) / 2^(octave + 2). */
	int64_t quantile[2][DISTRIBUTION_OCTAVES][DISTRIBUTION_SEGMENTS + 1];
	/* The same in half the space, for bursts; valid if all are within DISTRIBUTION_NEAR. */
	bool is_near;
	int32_t near[2][DISTRIBUTION_OCTAVES][DISTRIBUTION_SEGMENTS + 1];
};

void distribution_uniform(struct distribution *distribution, uint64_t half_width_ns);
void distribution_normal(struct distribution *distribution, uint64_t deviation_ns);
void distribution_exponential(struct distribution *distribution, uint64_t jitter_ns);
void distribution_pareto(struct distribution *distribution, uint64_t jitter_ns);
void distribution_paretonormal(struct distribution *distribution, uint64_t jitter_ns);
/* mean_ns > 0; the jitter is at most DISTRIBUTION_SKEW_MAX times the mean. */
void distribution_gamma(struct distribution *distribution, uint64_t mean_ns, uint64_t jitter_ns);
void distribution_lognormal(struct distribution *distribution, uint64_t mean_ns,
                            uint64_t jitter_ns);
/* `late`: the probability of +jitter, in units of 2^-63. Returns 0 or -ENOMEM. */
int distribution_bimodal(struct distribution *distribution, uint64_t jitter_ns, uint64_t late);

/* Frees the values, but not the distribution itself. */
void distribution_release(struct distribution *distribution);

/* Returns the x >= 0 beyond which the standard normal distribution has the probability `tail`. */
double distribution_normal_quantile(double tail);

/* Returns a quantile of the gamma distribution with mean 1. */
double distribution_gamma_quantile(double shape, double tail, int upper);
/* The standard deviation of paretonormal for j = 1: sqrt(a^2 + b^2 + 2 a b c) for a = 1/4, b = 3/4
 * 2/sqrt 3, and c = 0.6783, the correlation of a normal and a pareto variable of the same
 * probability. */
#define DISTRIBUTION_PARETONORMAL_DEVIATION 1.0518

/* Computes the moments of the draws. Thread: control. */
void distribution_moments(const struct distribution *distribution, double *mean, double *deviation);
/* Returns the quantile with the probability `tail` beyond it, above (upper) or below; 0 < tail <=
 * 0.5. Thread: control. */
int64_t distribution_quantile(const struct distribution *distribution, double tail, int upper);

/* For all forms but QUANTILES. */
int64_t distribution_draw_values(const struct distribution *distribution, uint64_t uniform);
/* Applies distribution_draw to each of n numbers. */
void distribution_draw_burst(const struct distribution *distribution, const uint64_t *uniform,
                             uint32_t n, int64_t *out);

static inline int64_t distribution_draw(const struct distribution *distribution, uint64_t uniform)
{
	uint64_t tail = uniform << 1 | 1; /* the tail probability, in units of 2^-65 */
	uint32_t octave = (uint32_t)__builtin_clzll(tail);
	const int64_t *at = &distribution->quantile[0][0][0];
	uint64_t mantissa, row = (uniform >> 63) * DISTRIBUTION_OCTAVES + octave;
	int64_t step;

	if (__builtin_expect(distribution->form != DISTRIBUTION_QUANTILES, 0))
		return distribution_draw_values(distribution, uniform);
	if (octave >= DISTRIBUTION_OCTAVES)
		return distribution->quantile[uniform >> 63][DISTRIBUTION_OCTAVES - 1][0];
	mantissa = tail << octave << 1;
	at += row * (DISTRIBUTION_SEGMENTS + 1) + (mantissa >> 58);
	step = (int64_t)(((__int128)(at[1] - at[0]) * (int64_t)(mantissa << 6 >> 32)) >> 32);
	return at[0] + step;
}

/*
 * The standard normal distribution in integers, in both directions: from a uniform number to z, and
 * back. A round trip reproduces the tail probability to 1e-4 of it, down to tails of 2^-33.
 *
 * z is a fixed-point number with GAUSSIAN_BITS fraction bits; |z| < 6.5.
 *
 * Thread: control calls gaussian() once before the packet path; the tables never change.
 */

#define GAUSSIAN_BITS 56

/* The table of the way back: a point every 2^-8. */
#define GAUSSIAN_STEP_BITS 48
#define GAUSSIAN_POINTS    1665

struct gaussian {
	struct distribution quantile;       /* of z */
	uint64_t tail[GAUSSIAN_POINTS + 1]; /* the probability beyond i / 256, times 2^64 */
};

const struct gaussian *gaussian(void);

static inline int64_t gaussian_draw(const struct gaussian *gaussian, uint64_t uniform)
{
	return distribution_draw(&gaussian->quantile, uniform);
}

/* Returns the uniform number, as distribution_draw takes it, whose quantile is z. */
static inline uint64_t gaussian_uniform(const struct gaussian *gaussian, int64_t z)
{
	uint64_t size = (uint64_t)(z < 0 ? -z : z);
	uint64_t i = size >> GAUSSIAN_STEP_BITS;
	uint64_t part = size & ((UINT64_C(1) << GAUSSIAN_STEP_BITS) - 1);
	uint64_t tail;

	if (i >= GAUSSIAN_POINTS)
		return (uint64_t)(z > 0) << 63;
	tail = gaussian->tail[i] -
	       (uint64_t)(((unsigned __int128)(gaussian->tail[i] - gaussian->tail[i + 1]) * part) >>
	                  GAUSSIAN_STEP_BITS);
	if (tail > UINT64_MAX >> 1)
		tail = UINT64_MAX >> 1;
	return (uint64_t)(z > 0) << 63 | tail;
}

#endif
