/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The distributions of jitter against their distribution functions, a million draws each.
 *
 * Kolmogorov and Smirnov: the largest distance between the empirical and the true distribution
 * function is, with probability 0.999, below 1.9495 / sqrt(n). The draws are rounded to a ns; the
 * spreads are a million ns and more, which moves the distance by less than 1e-6.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random/distribution.h"
#include "random/draw.h"
#include "simtime.h"
#include "runner/group.h"

enum { DRAWS = 1000000 };

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The top bit of the uniform number chooses the side of the median. */
#define UPPER (UINT64_C(1) << 63)

static struct distribution distribution;
static int64_t *draws;

static int make_room(void **state)
{
	(void)state;
	draws = malloc(DRAWS * sizeof(*draws));
	return draws ? 0 : -1;
}

static int free_room(void **state)
{
	(void)state;
	free(draws);
	return 0;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void draw_all(uint64_t seed)
{
	struct draw_key key = draw_key_make(seed, "line", "delay");

	for (uint32_t i = 0; i < DRAWS; i++)
		draws[i] = distribution_draw(&distribution, draw_u64(key, i, 0));
	qsort(draws, DRAWS, sizeof(*draws), compare);
}

static double distance(double (*function)(double x, double spread), double spread)
{
	double most = 0;

	for (uint32_t i = 0; i < DRAWS; i++) {
		double f = function((double)draws[i], spread);

		most = fmax(most,
		            fmax(fabs(f - i / (double)DRAWS), fabs(f - (i + 1) / (double)DRAWS)));
	}
	return most;
}

static double mean_of(void)
{
	double sum = 0;

	for (uint32_t i = 0; i < DRAWS; i++)
		sum += (double)draws[i];
	return sum / DRAWS;
}

static double deviation_of(double mean)
{
	double sum = 0;

	for (uint32_t i = 0; i < DRAWS; i++)
		sum += ((double)draws[i] - mean) * ((double)draws[i] - mean);
	return sqrt(sum / DRAWS);
}

static double uniform_function(double x, double half_width)
{
	return x <= -half_width ? 0 : x >= half_width ? 1 : (x / half_width + 1) / 2;
}

static double normal_function(double x, double deviation)
{
	return erfc(-x / deviation / M_SQRT2) / 2;
}

#define KS_999     (1.9495 / sqrt(DRAWS))
#define NORMAL_999 3.2905 /* the mean of many lies within this many standard errors */

static void uniform_draws_pass_kolmogorov_and_smirnov(void **state)
{
	static const uint64_t widths[] = {SIMTIME_MS, 50 * SIMTIME_MS, DELAY_MAX_NS};

	(void)state;
	for (size_t i = 0; i < LENGTH(widths); i++) {
		double width = (double)widths[i];

		distribution_uniform(&distribution, widths[i]);
		draw_all(11 + i);
		assert_true(distance(uniform_function, width) < KS_999);
		assert_true(fabs(mean_of()) < NORMAL_999 * width / sqrt(3.0 * DRAWS));
		/* the fourth moment of a uniform distribution: 9/5 of the square of its variance */
		assert_true(fabs(deviation_of(mean_of()) / (width / sqrt(3)) - 1) <
		            NORMAL_999 * sqrt(0.8 / DRAWS) / 2);
	}
}

static void uniform_draws_reach_both_ends_and_never_pass_them(void **state)
{
	(void)state;
	distribution_uniform(&distribution, 5 * SIMTIME_MS);
	draw_all(3);
	assert_in_range(draws[0] + 5000000, 0, 100);
	assert_in_range(5000000 - draws[DRAWS - 1], 0, 100);
	assert_in_range(distribution_draw(&distribution, 0) + 5000000, 0, 2);
	assert_in_range(5000000 - distribution_draw(&distribution, UPPER), 0, 2);
}

static void normal_draws_pass_kolmogorov_and_smirnov(void **state)
{
	static const uint64_t deviations[] = {SIMTIME_MS, 20 * SIMTIME_MS, DELAY_MAX_NS};

	(void)state;
	for (size_t i = 0; i < LENGTH(deviations); i++) {
		double deviation = (double)deviations[i], mean;

		distribution_normal(&distribution, deviations[i]);
		draw_all(21 + i);
		mean = mean_of();
		assert_true(distance(normal_function, deviation) < KS_999);
		assert_true(fabs(mean) < NORMAL_999 * deviation / sqrt(DRAWS));
		assert_true(fabs(deviation_of(mean) / deviation - 1) <
		            NORMAL_999 / sqrt(2.0 * DRAWS));
	}
}

/* The number of a million draws that lie beyond k deviations is binomial. The bound is four
 * deviations of that, or, where almost none is expected, a probability of 1 in 1000 that there is
 * any. */
static void normal_tails_are_as_heavy_as_they_should_be(void **state)
{
	(void)state;
	distribution_normal(&distribution, SIMTIME_MS);
	draw_all(31);
	for (int k = 1; k <= 6; k++) {
		double p = erfc(k / M_SQRT2) / 2, expected = p * DRAWS;
		uint32_t below = 0, above = 0;
		double room = 4 * sqrt(expected) + (expected < 1);

		for (uint32_t i = 0; i < DRAWS; i++) {
			below += draws[i] < -k * (int64_t)SIMTIME_MS;
			above += draws[i] > k * (int64_t)SIMTIME_MS;
		}
		assert_true(fabs(below - expected) <= room);
		assert_true(fabs(above - expected) <= room);
	}
}

/* The quantiles of the table, far beyond those that a million draws reach. */
static void normal_quantiles_are_right_down_to_the_last_octave(void **state)
{
	static const struct {
		uint64_t uniform; /* lower tail 2^-2, 2^-10, 2^-20, 2^-33 of all draws */
		double sigmas;
	} rows[] = {
	        {UINT64_C(1) << 62, -0.674489750196},
	        {UINT64_C(1) << 54, -3.097269078199},
	        {UINT64_C(1) << 44, -4.763001034268},
	        {UINT64_C(1) << 31, -6.337957754554},
	};

	(void)state;
	distribution_normal(&distribution, UINT64_C(1000000000000));
	for (size_t i = 0; i < LENGTH(rows); i++) {
		double low = (double)distribution_draw(&distribution, rows[i].uniform);
		double high = (double)distribution_draw(&distribution, rows[i].uniform | UPPER);

		assert_true(fabs(low / 1e12 - rows[i].sigmas) < 2e-6);
		assert_true(fabs(high / 1e12 + rows[i].sigmas) < 2e-6);
	}
}

static void set(int kind)
{
	if (kind)
		distribution_normal(&distribution, 10 * SIMTIME_MS);
	else
		distribution_uniform(&distribution, 10 * SIMTIME_MS);
}

static void below_the_median_draws_grow_with_the_uniform_number(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		int64_t last = INT64_MIN;

		set(kind);
		for (uint64_t i = 0; i < 1 << 20; i++) {
			int64_t value = distribution_draw(&distribution, i << 43);

			assert_true(value >= last);
			last = value;
		}
		/* monotonic across every border between octaves */
		for (int bit = 0; bit < 63; bit++) {
			uint64_t at = UINT64_C(1) << bit;

			assert_true(distribution_draw(&distribution, at - 1) <=
			            distribution_draw(&distribution, at));
		}
	}
}

static void the_upper_half_mirrors_the_lower(void **state)
{
	struct draw_key key = draw_key_make(51, "distribution", "mirror");

	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		set(kind);
		for (uint64_t i = 0; i < 1 << 20; i++) {
			uint64_t uniform = draw_u64(key, i, 0) >> (1 + i % 60);
			int64_t below = distribution_draw(&distribution, uniform);
			int64_t above = distribution_draw(&distribution, uniform | UPPER);

			assert_in_range(above + below + 1, 0, 2);
		}
	}
}

static void a_burst_is_drawn_as_its_numbers_one_by_one(void **state)
{
	struct draw_key key = draw_key_make(51, "distribution", "burst");
	uint64_t uniform[70];
	int64_t out[70];

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		if (kind < 2)
			set(kind);
		else if (kind == 2) /* two neighbouring quantiles are seconds apart */
			distribution_normal(&distribution, 3 * UINT64_C(1000000000));
		else
			assert_int_equal(
			        distribution_bimodal(&distribution, 1000, UINT64_C(1) << 61), 0);
		/* down to the last octave, and beyond */
		for (uint64_t i = 0; i < LENGTH(uniform); i++)
			uniform[i] = draw_u64(key, i, 0) >> i % 64 | (i & 1 ? UPPER : 0);
		distribution_draw_burst(&distribution, uniform, LENGTH(uniform), out);
		for (size_t i = 0; i < LENGTH(uniform); i++)
			assert_int_equal(out[i], distribution_draw(&distribution, uniform[i]));
		distribution_release(&distribution);
	}
}

static void a_spread_of_nought_draws_nought(void **state)
{
	(void)state;
	distribution_uniform(&distribution, 0);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(distribution_draw(&distribution, i << 57), 0);
}

/* Interpolated values are rounded down to whole ns, so the mean may be half a ns low. */
static void a_spread_of_one_nanosecond_stays_within_it(void **state)
{
	(void)state;
	distribution_uniform(&distribution, 1);
	draw_all(41);
	assert_in_range(draws[0] + 1, 0, 2);
	assert_in_range(draws[DRAWS - 1] + 1, 0, 2);
	assert_true(fabs(mean_of()) <= 0.5 + 0.01);
}

GROUP(distribution)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(uniform_draws_pass_kolmogorov_and_smirnov),
	        cmocka_unit_test(uniform_draws_reach_both_ends_and_never_pass_them),
	        cmocka_unit_test(normal_draws_pass_kolmogorov_and_smirnov),
	        cmocka_unit_test(normal_tails_are_as_heavy_as_they_should_be),
	        cmocka_unit_test(normal_quantiles_are_right_down_to_the_last_octave),
	        cmocka_unit_test(below_the_median_draws_grow_with_the_uniform_number),
	        cmocka_unit_test(the_upper_half_mirrors_the_lower),
	        cmocka_unit_test(a_burst_is_drawn_as_its_numbers_one_by_one),
	        cmocka_unit_test(a_spread_of_nought_draws_nought),
	        cmocka_unit_test(a_spread_of_one_nanosecond_stays_within_it),
	};

	return cmocka_run_group_tests_name("distribution", tests, make_room, free_room);
}
