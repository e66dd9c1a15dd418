/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account/histogram.h"
#include "random/draw.h"
#include "runner/group.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct histogram h, other;

static int fresh(void **state)
{
	(void)state;
	histogram_clear(&h);
	histogram_clear(&other);
	return 0;
}

/* The widest range: 1 ns to 2^48. The bits that it leaves are the fewest. */
static uint32_t bits_of_all(void)
{
	struct histogram *all = calloc(1, sizeof(*all));
	uint32_t bits;

	assert_non_null(all);
	histogram_add(all, 0, 1);
	histogram_add(all, UINT64_MAX, 1);
	bits = histogram_bits(all);
	free(all);
	return bits;
}

static void buckets_are_gapless_and_each_begins_where_it_says(void **state)
{
	(void)state;
	for (uint32_t bits = bits_of_all(); bits <= HISTOGRAM_BITS; bits++) {
		const uint32_t end = histogram_bucket_of(HISTOGRAM_MOST, bits) + 1;

		for (uint32_t i = 0; i < end; i++) {
			uint64_t floor = histogram_bucket_floor(i, bits);

			assert_int_equal(histogram_bucket_of(floor, bits), i);
			if (i > 0)
				assert_int_equal(histogram_bucket_of(floor - 1, bits), i - 1);
		}
		assert_int_equal(histogram_bucket_floor(end, bits), UINT64_C(1) << 48);
	}
}

static void a_bucket_is_as_wide_as_the_range_of_all_values_says(void **state)
{
	static const struct {
		uint64_t least, greatest, parts; /* of its values, a bucket is so many at least */
	} rows[] = {
	        {40000000, 40000000, 65536},    {40000000, 79000000, 1024},
	        {271828182, 299000000, 8192},   {1000, 3990, 512},
	        {20000000, 319000000, 256},     {1000000, 255000000, 128},
	        {1000, 65000000, 64},           {1000, UINT64_C(3600000000000), 32},
	        {0, UINT64_C(68000000000), 32}, {0, UINT64_MAX, 16},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		fresh(NULL);
		histogram_add(&h, rows[i].least, 1);
		histogram_add(&h, rows[i].greatest, 1);
		for (struct histogram_walk w = histogram_walk(&h); histogram_walk_next(&w);)
			assert_true((w.top - w.low) * rows[i].parts <= w.low);
		assert_int_equal(UINT32_C(1) << histogram_bits(&h), rows[i].parts);
	}
}

static void values_beyond_the_range_fall_into_the_last_bucket_and_stay_exact_in_max(void **state)
{
	struct histogram_walk walk;

	(void)state;
	histogram_add(&h, UINT64_MAX, 1);
	histogram_add(&h, UINT64_C(1) << 48, 2);
	histogram_add(&h, (UINT64_C(1) << 48) - 1, 1);
	walk = histogram_walk(&h);
	assert_true(histogram_walk_next(&walk));
	assert_int_equal(walk.count, 4);
	assert_int_equal(walk.top, HISTOGRAM_MOST);
	assert_false(histogram_walk_next(&walk));
	assert_int_equal(h.max, UINT64_MAX);
	assert_int_equal(h.min, (UINT64_C(1) << 48) - 1);
}

static void a_constant_reads_exactly_as_it_is(void **state)
{
	static const uint64_t values[] = {0, 1, 31, 32, 63, 64, 1000, 100000000, 123456789012};
	static const uint32_t shares[] = {0, 1, 500000, 990000, 999000, 1000000};

	for (size_t i = 0; i < LENGTH(values); i++) {
		fresh(state);
		histogram_add(&h, values[i], 1000003);
		assert_int_equal(h.count, 1000003);
		assert_int_equal(h.sum, values[i] * 1000003);
		for (size_t j = 0; j < LENGTH(shares); j++)
			assert_int_equal(histogram_percentile(&h, shares[j]), values[i]);
	}
}

static void an_empty_histogram_says_nought(void **state)
{
	(void)state;
	assert_int_equal(histogram_percentile(&h, 500000), 0);
	assert_int_equal(h.min, 0);
	assert_int_equal(h.max, 0);
}

/* Small values have buckets of their own, so the percentiles are those of the sorted
 * list. */
static void percentiles_of_small_values_are_exact(void **state)
{
	static const struct {
		uint32_t per_million;
		uint64_t value;
	} rows[] = {{0, 1},       {1, 1},       {20000, 1},   {20001, 2},   {500000, 25},
	            {500001, 26}, {980000, 49}, {980001, 50}, {1000000, 50}};

	(void)state;
	for (uint64_t i = 1; i <= 50; i++)
		histogram_add(&h, i, 1);
	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_int_equal(histogram_percentile(&h, rows[i].per_million), rows[i].value);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

enum { VALUES = 100000 };

static uint64_t at_rank(const uint64_t *values, uint32_t per_million)
{
	return values[((uint64_t)VALUES * per_million + 999999) / 1000000 - 1];
}

static double uniform(struct draw_key key, uint32_t i, uint32_t lane)
{
	return (double)(draw_u64(key, i, lane) >> 11) / 0x1p53;
}

/* Box and Muller. */
static double normal(struct draw_key key, uint32_t i)
{
	return sqrt(-2 * log(1 - uniform(key, i, 0))) * cos(2 * M_PI * uniform(key, i, 1));
}

static uint64_t normal_280ms(struct draw_key key, uint32_t i)
{
	return (uint64_t)(280e6 + 2e6 * normal(key, i));
}

static uint64_t normal_40ms_narrow(struct draw_key key, uint32_t i)
{
	return (uint64_t)(40e6 + 2e3 * normal(key, i));
}

static uint64_t uniform_10ms(struct draw_key key, uint32_t i)
{
	return (uint64_t)(5e6 + 10e6 * uniform(key, i, 0));
}

static uint64_t exponential(struct draw_key key, uint32_t i)
{
	return (uint64_t)(20e6 - 30e6 * log(1 - uniform(key, i, 0)));
}

static uint64_t twenty_octaves(struct draw_key key, uint32_t i)
{
	return (uint64_t)(1000 * exp2(20 * uniform(key, i, 0)));
}

/* The error of the estimate is less than a bucket, which has at most 1 / `parts` of the value. That
 * of interpolation is far less, if the density has no steps: `typical` parts. The draws have fixed
 * keys, so no run differs. */
static void percentiles_of_known_distributions_are_those_of_the_sorted_list(void **state)
{
	static const struct {
		uint64_t (*draw)(struct draw_key key, uint32_t i);
		double parts, typical;
	} rows[] = {{normal_280ms, 4096, 50000},
	            {normal_40ms_narrow, 65536, 1000000},
	            {uniform_10ms, 512, 5000},
	            {exponential, 128, 2000},
	            {twenty_octaves, 32, 200}};
	static const uint32_t shares[] = {1,      1000,   10000,  250000, 500000,
	                                  900000, 990000, 999000, 999990, 1000000};
	const struct draw_key key = draw_key_make(5, "histogram", "values");
	uint64_t *values = malloc(VALUES * sizeof(*values));

	assert_non_null(values);
	for (size_t row = 0; row < LENGTH(rows); row++) {
		fresh(state);
		for (uint32_t i = 0; i < VALUES; i++) {
			values[i] = rows[row].draw(key, i);
			histogram_add(&h, values[i], 1);
		}
		qsort(values, VALUES, sizeof(*values), compare);
		for (size_t i = 0; i < LENGTH(shares); i++) {
			double exact = (double)at_rank(values, shares[i]);
			double off = fabs((double)histogram_percentile(&h, shares[i]) - exact);

			assert_true(off <= exact / rows[row].parts);
			if (shares[i] >= 10000 && shares[i] <= 990000)
				assert_true(off <= exact / rows[row].typical);
		}
	}
	free(values);
}

/* `delay 280ms jitter 2ms distribution normal`, from a hundred packets: the median and the 99th
 * percentile, which were once one bucket. */
static void a_deviation_of_2_ms_at_280_shows_in_the_percentiles(void **state)
{
	const struct draw_key key = draw_key_make(7, "histogram", "jitter");
	uint64_t p50, p99;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		histogram_add(&h, normal_280ms(key, i), 1);
	p50 = histogram_percentile(&h, 500000);
	p99 = histogram_percentile(&h, 990000);
	assert_true(p50 > 279000000 && p50 < 281000000);
	assert_true(p99 > 282500000 && p99 < 289000000);
	assert_int_equal(histogram_digits(&h), 5);
}

static void the_order_of_values_does_not_matter(void **state)
{
	const struct draw_key key = draw_key_make(8, "histogram", "order");

	(void)state;
	for (uint32_t i = 0; i < 5000; i++)
		histogram_add(&h, draw_u64(key, i, 0) >> (i % 64), 1);
	for (uint32_t i = 5000; i-- > 0;)
		histogram_add(&other, draw_u64(key, i, 0) >> (i % 64), 1);
	assert_memory_equal(&h, &other, sizeof(h));
}

static void digits_are_those_that_a_bucket_leaves(void **state)
{
	static const struct {
		uint64_t least, greatest;
		int digits;
	} rows[] = {{40000000, 40000000, 6},   {40000000, 40000010, 6}, {280000000, 280001000, 6},
	            {272000000, 290000000, 4}, {40000000, 75000000, 4}, {20000000, 310000000, 3},
	            {0, UINT64_MAX, 3}};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		fresh(NULL);
		histogram_add(&h, rows[i].least, 1);
		histogram_add(&h, rows[i].greatest, 1);
		assert_int_equal(histogram_digits(&h), rows[i].digits);
	}
}

static void merging_is_adding_all_that_went_into_both(void **state)
{
	static struct histogram all;
	struct draw_key key = draw_key_make(6, "histogram", "merge");

	(void)state;
	histogram_clear(&all);
	for (uint32_t i = 0; i < 10000; i++) {
		uint64_t value = draw_u64(key, i, 0) >> (draw_u64(key, i, 1) % 64);

		histogram_add(i % 3 ? &h : &other, value, i % 5);
		if (i % 5)
			histogram_add(&all, value, i % 5);
	}
	histogram_merge(&h, &other);
	assert_memory_equal(&h, &all, sizeof(h));
}

static void merging_with_an_empty_one_changes_nothing(void **state)
{
	(void)state;
	histogram_add(&h, 100, 3);
	histogram_merge(&h, &other);
	assert_int_equal(h.min, 100);
	assert_int_equal(h.count, 3);
	histogram_merge(&other, &h);
	assert_memory_equal(&h, &other, sizeof(h));
}

static void nothing_added_nought_times_leaves_no_trace(void **state)
{
	(void)state;
	histogram_add(&h, 1000, 0);
	assert_memory_equal(&h, &other, sizeof(h));
}

static void many_spans_at_once_are_the_same_spans_one_by_one(void **state)
{
	const struct draw_key key = draw_key_make(9, "spans", "");
	static struct histogram twin, single;
	uint64_t from[64], to[64];

	(void)state;
	histogram_clear(&twin);
	histogram_clear(&single);
	for (uint32_t n = 0; n <= LENGTH(from); n++) {
		/* In every third round, all spans lie in one octave, up to its ends; some are as
		 * long as those of the last bucket. */
		uint64_t least = n % 3 ? 0 : UINT64_C(1) << (n % 49);

		for (uint32_t i = 0; i < n; i++) {
			uint64_t draw = draw_u64(key, i, n + 100);

			from[i] = draw_u64(key, i, n) >> 20;
			to[i] = from[i] + least;
			if (least)
				to[i] += i == 1 ? least - 1 : i > 1 ? draw & (least - 1) : 0;
			else
				to[i] += draw >> (16 + n % 40);
			histogram_add(&other, to[i] - from[i], 1);
		}
		histogram_add_spans(&h, &twin, from, to, n);
		histogram_add_spans(&single, NULL, from, to, n);
		assert_memory_equal(&h, &other, sizeof(h));
		assert_memory_equal(&twin, &other, sizeof(h));
		assert_memory_equal(&single, &other, sizeof(h));
	}
}

/* The values that came first are subtracted. The rest is as if it had come alone, to the resolution
 * of the buckets. */
static void what_is_left_is_what_came_later(void **state)
{
	static struct histogram all, later;
	struct draw_key key = draw_key_make(9, "histogram", "later");
	struct histogram_part part;
	uint32_t bits;

	(void)state;
	histogram_clear(&all);
	histogram_clear(&later);
	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t value = draw_u64(key, i, 0) >> (20 + i % 40);

		if (i == 12000)
			assert_true(histogram_part_make(&part, &all));
		histogram_add(&all, value, 1);
		if (i >= 12000)
			histogram_add(&later, value, 1);
	}
	histogram_less(&all, &part);
	assert_int_equal(all.count, later.count);
	assert_int_equal(all.sum, later.sum);
	assert_int_equal(histogram_bits(&all), histogram_bits(&later));
	assert_memory_equal(all.bucket, later.bucket, sizeof(all.bucket));
	assert_true(all.min <= later.min && all.max >= later.max);
	bits = histogram_bits(&all);
	assert_int_equal(histogram_bucket_of(all.min, bits), histogram_bucket_of(later.min, bits));
	assert_int_equal(histogram_bucket_of(all.max, bits), histogram_bucket_of(later.max, bits));
	for (uint32_t at = 1000; at < 1000000; at += 7919) {
		uint64_t of_all = histogram_percentile(&all, at);

		assert_int_equal(histogram_bucket_of(of_all, bits),
		                 histogram_bucket_of(histogram_percentile(&later, at), bits));
	}
	histogram_part_free(&part);
}

/* 40 ms, then 80, then 60: the 60 is read exactly, though it is neither the least nor the greatest
 * value. */
static void a_constant_that_came_later_reads_exactly_as_it_is(void **state)
{
	static struct histogram rest;
	struct histogram_part part;

	(void)state;
	histogram_clear(&rest);
	histogram_add(&rest, 40000000, 100);
	histogram_add(&rest, 80000000, 100);
	assert_true(histogram_part_make(&part, &rest));
	histogram_add(&rest, 60000000, 7);
	histogram_less(&rest, &part);
	assert_int_equal(rest.count, 7);
	assert_int_equal(rest.min, 60000000);
	assert_int_equal(rest.max, 60000000);
	assert_int_equal(histogram_percentile(&rest, 500000), 60000000);
	histogram_part_free(&part);
	assert_true(histogram_part_make(&part, &rest));
	histogram_less(&rest, &part);
	assert_int_equal(rest.count, 0);
	assert_int_equal(rest.max, 0);
	histogram_part_free(&part);
}

GROUP(histogram)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(buckets_are_gapless_and_each_begins_where_it_says, fresh),
	        cmocka_unit_test_setup(a_bucket_is_as_wide_as_the_range_of_all_values_says, fresh),
	        cmocka_unit_test_setup(
	                values_beyond_the_range_fall_into_the_last_bucket_and_stay_exact_in_max,
	                fresh),
	        cmocka_unit_test_setup(a_constant_reads_exactly_as_it_is, fresh),
	        cmocka_unit_test_setup(an_empty_histogram_says_nought, fresh),
	        cmocka_unit_test_setup(percentiles_of_small_values_are_exact, fresh),
	        cmocka_unit_test_setup(
	                percentiles_of_known_distributions_are_those_of_the_sorted_list, fresh),
	        cmocka_unit_test_setup(a_deviation_of_2_ms_at_280_shows_in_the_percentiles, fresh),
	        cmocka_unit_test_setup(the_order_of_values_does_not_matter, fresh),
	        cmocka_unit_test_setup(digits_are_those_that_a_bucket_leaves, fresh),
	        cmocka_unit_test_setup(merging_is_adding_all_that_went_into_both, fresh),
	        cmocka_unit_test_setup(merging_with_an_empty_one_changes_nothing, fresh),
	        cmocka_unit_test_setup(many_spans_at_once_are_the_same_spans_one_by_one, fresh),
	        cmocka_unit_test(what_is_left_is_what_came_later),
	        cmocka_unit_test(a_constant_that_came_later_reads_exactly_as_it_is),
	        cmocka_unit_test_setup(nothing_added_nought_times_leaves_no_trace, fresh),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
