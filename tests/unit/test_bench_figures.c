/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians, the IMIX, the noise loop, and the rules for regressions. */
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

/* Returns the tables of a document, to be freed. Frees the document. */
static char *printed(json_t *document)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(document);
	assert_non_null(out);
	bench_table_print(out, document);
	fclose(out);
	json_decref(document);
	return text;
}

static void the_table_names_the_conditions_of_what_was_measured(void **state)
{
	static const struct {
		const char *part;
		bool medians, layout, processor;
	} rows[] = {
	        {"cost", true, true, true},      {"precision", false, true, true},
	        {"rfc2544", false, true, true},  {"reconf", false, true, true},
	        {"latency", false, false, true}, {"clock", false, false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *document =
		        json_pack("{s:{s:s,s:i,s:f,s:i,s:b,s:f,s:i},s:[{s:s,s:f}]}", "machine",
		                  "layout", "pipeline", "runs", 5, "seconds", 0.3, "core", 3,
		                  "hugepages", 0, "flight_ns", 10e9, "flight_snap_bytes", 96,
		                  "rows", "part", rows[i].part, "seconds", 2.0);
		char *text = printed(document);

		if (!!strstr(text, "; medians of 5 runs of 0.3 s") != rows[i].medians ||
		    !!strstr(text, "pipeline") != rows[i].layout ||
		    !!strstr(text, "processor 3") != rows[i].processor ||
		    !!strstr(text, ", no hugepages") != rows[i].processor ||
		    !strstr(text, ", flight of 10 s with 96 bytes of each frame\n") ||
		    !!strstr(text, "2 s each") != !strcmp(rows[i].part, "precision"))
			fail_msg("%s: %s", rows[i].part, text);
		free(text);
	}
}

/* If there was no calm turn, there are no figures. A 0 would look like one. */
static void precision_without_a_calm_turn_has_dashes(void **state)
{
	json_t *document = json_pack(
	        "{s:{},s:[{s:s,s:s,s:{s:i,s:i,s:i},s:{s:i,s:i,s:i},s:{s:i},s:{s:i,s:i},s:i,s:i}]}",
	        "machine", "rows", "part", "precision", "load", "64 B", "lateness_ns", "count", 10,
	        "p50", 123, "max", 456, "calm_ns", "count", 0, "p50", 0, "max", 0, "noise_ns",
	        "count", 0, "through_ns", "count", 7, "p50", 9, "calm_turns", 0, "turns", 5);
	char *text = printed(document), *calm = strstr(text, "weir, calm"), *figures;

	(void)state;
	assert_non_null(strstr(text, "123"));
	assert_non_null(calm);
	assert_non_null(strstr(calm, "0 of 5 turns"));
	*strchr(calm, '\n') = '\0';
	figures = strchr(calm, '-');
	assert_non_null(figures);
	assert_int_equal(strspn(figures, " -"), strcspn(figures, "0123456789"));
	assert_non_null(strstr(calm, "-  "));
	assert_null(strstr(calm, " 0  "));
	free(text);
}

/* Returns the line behind this one, and ends this one. */
static char *line_after(char *line)
{
	char *end = strchr(line, '\n');

	assert_non_null(end);
	*end = '\0';
	return end + 1;
}

/* The table with the most columns: in each of its blocks, each part of a soak is a line of its own,
 * which begins with the first column. */
static void a_part_of_a_soak_is_a_line(void **state)
{
	json_t *document = json_pack("{s:{},s:[{s:s,s:[{s:i,s:i},{s:i,s:i}]}]}", "machine", "rows",
	                             "part", "soak", "parts", "until_s", 3600, "written_kib", 111,
	                             "until_s", 7200, "written_kib", 222);
	char *text = printed(document), *at = text, *first, *second;
	bool written = false, unaccounted = false;
	uint32_t blocks = 0;

	(void)state;
	while ((at = strstr(at, "until s"))) {
		first = line_after(at);
		second = line_after(first);
		unaccounted |= strstr(at, "unaccounted") != NULL;
		at = line_after(second);
		assert_int_equal(strtol(first, NULL, 10), 3600);
		assert_int_equal(strtol(second, NULL, 10), 7200);
		written |= strstr(first, "111") && strstr(second, "222");
		blocks++;
	}
	assert_true(blocks > 1 && written && unaccounted);
	free(text);
}

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

/* ---- comparison ---- */

static json_t *document(double ratio, double min, double max)
{
	return json_pack("{s:{},s:[{s:s,s:s,s:s,s:s,s:f,s:f,s:f}]}", "machine", "rows", "part",
	                 "cost", "scenario", "bare", "ports", "net_null", "frames", "64", "ratio",
	                 ratio, "ratio_min", min, "ratio_max", max);
}

static void a_ratio_beyond_bound_and_spread_is_worse(void **state)
{
	static const struct {
		double ratio, min, max;
		enum bench_verdict verdict;
	} rows[] = {
	        {0.50, 0.49, 0.51, BENCH_SAME},
	        {0.40, 0.39, 0.41, BENCH_SAME}, /* within the bound */
	        {0.30, 0.29, 0.31, BENCH_WORSE},
	        {0.30, 0.20, 0.50, BENCH_SAME}, /* its runs overlap the old ones */
	        {0.80, 0.79, 0.81, BENCH_BETTER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *before = document(0.5, 0.48, 0.52);
		json_t *after = document(rows[i].ratio, rows[i].min, rows[i].max);
		struct bench_comparison comparison[4];

		assert_int_equal(bench_compare(before, after, 0.25, comparison, 4), 1);
		assert_int_equal(comparison[0].verdict, rows[i].verdict);
		assert_string_equal(comparison[0].name, "cost bare net_null 64");
		json_decref(before);
		json_decref(after);
	}
}

static void figures_that_one_side_lacks_are_named(void **state)
{
	json_t *some = document(0.5, 0.5, 0.5), *none = json_pack("{s:{},s:[]}", "machine", "rows");
	struct bench_comparison comparison[4];

	(void)state;
	assert_int_equal(bench_compare(some, none, 0.25, comparison, 4), 1);
	assert_int_equal(comparison[0].verdict, BENCH_GONE);
	assert_int_equal(bench_compare(none, some, 0.25, comparison, 4), 1);
	assert_int_equal(comparison[0].verdict, BENCH_NEW);
	json_decref(some);
	json_decref(none);
}

static void conditions_that_are_not_the_same_are_named(void **state)
{
	json_t *before = json_pack("{s:{s:s,s:i,s:b},s:[]}", "machine", "layout", "pipeline",
	                           "priority", 50, "hugepages", 1, "rows");
	json_t *after =
	        json_pack("{s:{s:s,s:i,s:b,s:i},s:[]}", "machine", "layout", "run-to-completion",
	                  "priority", 50, "hugepages", 1, "flight_ns", 5, "rows");
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	assert_non_null(out);
	assert_int_equal(bench_compare_print(out, before, after, 0.25), 0);
	fclose(out);
	assert_non_null(strstr(text, "layout was \"pipeline\", and is \"run-to-completion\" now"));
	assert_non_null(strstr(text, "flight_ns was not there, and is 5 now"));
	assert_null(strstr(text, "priority"));
	assert_null(strstr(text, "hugepages"));
	free(text);
	json_decref(before);
	json_decref(after);
}

static void absolute_figures_are_not_judged(void **state)
{
	json_t *row = json_pack("{s:s,s:f}", "part", "precision", "mpps", 14.88);
	char name[160];
	struct bench_ratio ratio;

	(void)state;
	assert_false(bench_compare_figure(row, name, &ratio));
	json_decref(row);
}

static void a_depth_is_judged_by_its_cost_against_the_first(void **state)
{
	json_t *row = json_pack("{s:s,s:i,s:f,s:f,s:f,s:f}", "part", "depth", "depth", 7500000,
	                        "relative", 1.25, "mpps", 40.0, "mpps_min", 30.0, "mpps_max", 50.0);
	char name[160];
	struct bench_ratio ratio;

	(void)state;
	assert_true(bench_compare_figure(row, name, &ratio));
	assert_string_equal(name, "depth 7500000");
	assert_true(fabs(ratio.median - 0.8) < 1e-9);
	assert_true(fabs(ratio.min - 0.6) < 1e-9);
	assert_true(fabs(ratio.max - 1.0) < 1e-9);
	json_decref(row);
}

/* ---- rows ---- */

static void a_cost_row_has_the_keys_that_were_promised(void **state)
{
	static const char *const keys[] = {"scenario",      "frame_bytes",  "mpps",
	                                   "ns_per_packet", "ceiling_mpps", "ratio"};
	struct bench_cost cost = {.mpps = {50, 49, 51, 5},
	                          .ceiling_mpps = {170, 169, 171, 5},
	                          .ratio = {0.294, 0.29, 0.3, 5},
	                          .ns_per_packet = 20};
	json_t *row = bench_row_cost("bare", "net_null", 64, &cost);

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_non_null(json_object_get(row, keys[i]));
	assert_true(bench_number(row, "frame_bytes") == 64);
	assert_true(bench_number(row, "ns_per_packet") == 20);
	json_decref(row);
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
	        cmocka_unit_test(a_part_of_a_soak_is_a_line),
	        cmocka_unit_test(the_median_stands_between_the_others),
	        cmocka_unit_test(the_table_names_the_conditions_of_what_was_measured),
	        cmocka_unit_test(precision_without_a_calm_turn_has_dashes),
	        cmocka_unit_test(the_imix_holds_28_16_and_4_of_48),
	        cmocka_unit_test(the_imix_is_spread_evenly),
	        cmocka_unit_test(frames_of_one_length_are_a_pattern_of_one),
	        cmocka_unit_test(the_noise_loop_watches_as_long_as_asked_and_meets_its_grid),
	        cmocka_unit_test(a_ratio_beyond_bound_and_spread_is_worse),
	        cmocka_unit_test(figures_that_one_side_lacks_are_named),
	        cmocka_unit_test(conditions_that_are_not_the_same_are_named),
	        cmocka_unit_test(absolute_figures_are_not_judged),
	        cmocka_unit_test(a_depth_is_judged_by_its_cost_against_the_first),
	        cmocka_unit_test(a_cost_row_has_the_keys_that_were_promised),
	        cmocka_unit_test(a_precision_row_has_percentiles_beside_the_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
