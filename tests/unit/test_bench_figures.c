/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians, the IMIX, the noise loop, and rows of a document. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "measure/bench_cost.h"
#include "measure/bench_rig.h"
#include "measure/bench_source.h"
#include "runner/group.h"

static void the_median_stands_between_the_others(void **state)
{
	static const struct {
		uint32_t n;
		double values[5], median, min, max;
	} rows[] = {
	        {1, {7}, 7, 7, 7},
	        {2, {3, 1}, 2, 1, 3},
	        {3, {9, 1, 5}, 5, 1, 9},
	        {4, {4, 1, 3, 2}, 2.5, 1, 4},
	        {5, {5, 100, 4, 6, 0}, 5, 0, 100},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bench_spread spread = bench_spread_of(rows[i].values, rows[i].n);

		assert_true(spread.median == rows[i].median);
		assert_true(spread.min == rows[i].min);
		assert_true(spread.max == rows[i].max);
		assert_int_equal(spread.n, rows[i].n);
	}
	assert_true(bench_spread_of(NULL, 0).median == 0);
}

static void the_imix_holds_28_16_and_4_of_48(void **state)
{
	struct bench_frames frames;
	int small = 0, middle = 0, large = 0;

	(void)state;
	bench_frames_fill(&frames, 0);
	assert_int_equal(frames.n, 48);
	for (uint32_t i = 0; i < frames.n; i++) {
		small += frames.bytes[i] == 64;
		middle += frames.bytes[i] == 570;
		large += frames.bytes[i] == 1518;
	}
	assert_int_equal(small, 28);
	assert_int_equal(middle, 16);
	assert_int_equal(large, 4);
	assert_true(fabs(bench_frames_mean(&frames) - (28 * 64 + 16 * 570 + 4 * 1518) / 48.0) <
	            1e-9);
}

static void the_imix_is_spread_evenly(void **state)
{
	struct bench_frames frames;

	(void)state;
	bench_frames_fill(&frames, 0);
	/* 4 of 48 frames are large: one in each twelve. */
	for (uint32_t from = 0; from < 48; from += 12) {
		int large = 0;

		for (uint32_t i = from; i < from + 12; i++)
			large += frames.bytes[i] == 1518;
		assert_int_equal(large, 1);
	}
}

static void frames_of_one_length_are_a_pattern_of_one(void **state)
{
	struct bench_frames frames;

	(void)state;
	bench_frames_fill(&frames, 9000);
	assert_int_equal(frames.n, 1);
	assert_int_equal(frames.bytes[0], 9000);
	assert_true(bench_frames_need_source(9000));
	assert_true(bench_frames_need_source(0));
	assert_false(bench_frames_need_source(1518));
}

static void the_noise_loop_watches_as_long_as_asked_and_meets_its_grid(void **state)
{
	static struct bench_noise noise;

	(void)state;
	memset(&noise, 0, sizeof(noise));
	/* ticks count as ns: the length of a tick does not matter here */
	bench_noise_watch(&noise, 1, 2000000, 1000);
	assert_in_range(noise.duration_ns, 2000000, 60000000000);
	/* every instant of the grid is noticed, however late */
	assert_in_range(noise.lateness_ns.count, 1999, noise.duration_ns / 1000 + 1);
	assert_true(noise.taken_ns <= noise.duration_ns);
}

/* ---- rows ---- */

static void the_cost_has_the_keys_that_were_promised(void **state)
{
	static const char *const keys[] = {"mpps", "ns_per_packet", "ceiling_mpps", "ratio"};
	struct bench_cost cost = {.mpps = {50, 49, 51, 5},
	                          .ceiling_mpps = {170, 169, 171, 5},
	                          .ratio = {0.294, 0.29, 0.3, 5},
	                          .ns_per_packet = 20};
	json_t *figures = bench_json_cost(64, &cost);
	const json_t *row = json_object_get(figures, "cost");

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_non_null(json_object_get(row, keys[i]));
	assert_true(bench_number(row, "ns_per_packet") == 20);
	assert_true(bench_number(json_object_get(figures, "frame"), "frame_bytes") == 64);
	json_decref(figures);
}

static void a_precision_row_has_percentiles_beside_the_noise(void **state)
{
	static const char *const keys[] = {"p50", "p90", "p99", "p99.9", "p99.99", "max", "early"};
	static struct bench_precision precision;
	json_t *row;

	(void)state;
	histogram_add(&precision.lateness_ns, 60, 99);
	histogram_add(&precision.lateness_ns, 5000, 1);
	precision.early = 0;
	row = bench_row_precision("a load", 1e6, 64, 1000000, 2, &precision);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_non_null(json_object_get(json_object_get(row, "lateness_ns"), keys[i]));
		assert_non_null(json_object_get(json_object_get(row, "noise_ns"), keys[i]));
	}
	assert_true(bench_number(json_object_get(row, "lateness_ns"), "max") == 5000);
	assert_string_equal(bench_text(row, "load"), "a load");
	json_decref(row);
}

GROUP(bench_figures)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_median_stands_between_the_others),
	        cmocka_unit_test(the_imix_holds_28_16_and_4_of_48),
	        cmocka_unit_test(the_imix_is_spread_evenly),
	        cmocka_unit_test(frames_of_one_length_are_a_pattern_of_one),
	        cmocka_unit_test(the_noise_loop_watches_as_long_as_asked_and_meets_its_grid),
	        cmocka_unit_test(the_cost_has_the_keys_that_were_promised),
	        cmocka_unit_test(a_precision_row_has_percentiles_beside_the_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
