/* SPDX-License-Identifier: BSD-3-Clause */
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

static void buckets_are_gapless_and_each_begins_where_it_says(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t floor = histogram_bucket_floor(i);

		assert_int_equal(histogram_bucket_of(floor), i);
		if (i > 0)
			assert_int_equal(histogram_bucket_of(floor - 1), i - 1);
	}
	assert_int_equal(histogram_bucket_floor(HISTOGRAM_BUCKETS), UINT64_C(1) << 48);
}

static void a_bucket_is_never_wider_than_a_32nd_of_its_value(void **state)
{
	(void)state;
	for (uint32_t i = HISTOGRAM_SUB; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t floor = histogram_bucket_floor(i);

		assert_true((histogram_bucket_floor(i + 1) - floor) * HISTOGRAM_SUB <= floor);
	}
}

static void values_beyond_the_range_fall_into_the_last_bucket_and_stay_exact_in_max(void **state)
{
	(void)state;
	histogram_add(&h, UINT64_MAX, 1);
	histogram_add(&h, UINT64_C(1) << 48, 2);
	histogram_add(&h, (UINT64_C(1) << 48) - 1, 1);
	assert_int_equal(h.bucket[HISTOGRAM_BUCKETS - 1], 4);
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

/* Up to 63, every value has a bucket of its own, so the percentiles are those of the sorted
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

static void percentiles_are_right_to_1_point_6_percent(void **state)
{
	enum { N = 100000 };
	static const uint32_t shares[] = {1,      1000,   10000,  250000, 500000,
	                                  900000, 990000, 999000, 999990, 1000000};
	struct draw_key key = draw_key_make(5, "histogram", "values");
	uint64_t *values = malloc(N * sizeof(*values));

	(void)state;
	assert_non_null(values);
	for (uint32_t i = 0; i < N; i++) {
		/* over twenty octaves, and in each octave over all its values */
		values[i] = (UINT64_C(1) << (10 + draw_u64(key, i, 0) % 20)) +
		            draw_u64(key, i, 1) % (UINT64_C(1) << 10);
		values[i] += values[i] * (draw_u64(key, i, 2) % 1024) / 1024;
		histogram_add(&h, values[i], 1);
	}
	qsort(values, N, sizeof(*values), compare);
	for (size_t i = 0; i < LENGTH(shares); i++) {
		uint64_t rank = ((uint64_t)N * shares[i] + 999999) / 1000000;
		double exact = (double)values[rank - 1];
		double said = (double)histogram_percentile(&h, shares[i]);

		assert_true(said >= exact * (1 - 1 / 63.0) && said <= exact * (1 + 1 / 63.0));
	}
	free(values);
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
	assert_memory_equal(all.bucket, later.bucket, sizeof(all.bucket));
	assert_int_equal(all.count, later.count);
	assert_int_equal(all.sum, later.sum);
	assert_true(all.min <= later.min && all.max >= later.max);
	assert_int_equal(histogram_bucket_of(all.min), histogram_bucket_of(later.min));
	assert_int_equal(histogram_bucket_of(all.max), histogram_bucket_of(later.max));
	for (uint32_t at = 1000; at < 1000000; at += 7919)
		assert_true(histogram_percentile(&all, at) == histogram_percentile(&later, at));
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
	        cmocka_unit_test_setup(a_bucket_is_never_wider_than_a_32nd_of_its_value, fresh),
	        cmocka_unit_test_setup(
	                values_beyond_the_range_fall_into_the_last_bucket_and_stay_exact_in_max,
	                fresh),
	        cmocka_unit_test_setup(a_constant_reads_exactly_as_it_is, fresh),
	        cmocka_unit_test_setup(an_empty_histogram_says_nought, fresh),
	        cmocka_unit_test_setup(percentiles_of_small_values_are_exact, fresh),
	        cmocka_unit_test_setup(percentiles_are_right_to_1_point_6_percent, fresh),
	        cmocka_unit_test_setup(merging_is_adding_all_that_went_into_both, fresh),
	        cmocka_unit_test_setup(merging_with_an_empty_one_changes_nothing, fresh),
	        cmocka_unit_test_setup(many_spans_at_once_are_the_same_spans_one_by_one, fresh),
	        cmocka_unit_test(what_is_left_is_what_came_later),
	        cmocka_unit_test(a_constant_that_came_later_reads_exactly_as_it_is),
	        cmocka_unit_test_setup(nothing_added_nought_times_leaves_no_trace, fresh),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
