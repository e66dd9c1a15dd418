/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report library: charts, the page that holds them, and the numbers and texts in both. This
 * file is longer than most, since the promises of a chart (bounded, well-formed, the same bytes)
 * are checked for all its parts with one set of data.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/chart.h"
#include "units/human_unit.h"
#include "report/page.h"
#include "report/plot.h"
#include "report/svg.h"
#include "report/theme.h"
#include "runner/group.h"
#include "unable.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
#define MANY      1000000

/* The output to a stream. */
struct text {
	char *bytes;
	size_t n;
	FILE *out;
};

static void text_open(struct text *text)
{
	text->out = open_memstream(&text->bytes, &text->n);
	assert_non_null(text->out);
}

static void text_close(struct text *text)
{
	assert_int_equal(fclose(text->out), 0);
}

static struct text chart_text(const struct chart *chart)
{
	struct text text;
	text_open(&text);
	assert_int_equal(chart_write(chart, text.out), 0);
	text_close(&text);
	return text;
}

static size_t count_of(const char *text, const char *what)
{
	size_t n = 0;
	for (const char *s = strstr(text, what); s != NULL; s = strstr(s + 1, what))
		n++;
	return n;
}

/* Returns a number in 0..1. The seed is fixed (xorshift64), so that every run has the same data. */
static double draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double)(*state >> 11) / 9007199254740992.0;
}

static double *many_times(void)
{
	double *x = calloc(MANY, sizeof(*x));
	assert_non_null(x);
	for (size_t i = 0; i < MANY; i++)
		x[i] = (double)i * 1e4;
	return x;
}

static double *many_values(uint64_t seed)
{
	double *y = calloc(MANY, sizeof(*y));
	assert_non_null(y);
	for (size_t i = 0; i < MANY; i++)
		y[i] = 1e6 * draw(&seed);
	return y;
}

/* ---- well-formedness: tags nest, attributes are quoted, ampersands begin an entity ---- */

#define DEPTH_MAX 32
#define TAG_SIZE  32

struct tags {
	char names[DEPTH_MAX][TAG_SIZE];
	size_t depth, roots;
};

/* Checks the tag at s, which points to '<'. Returns the character after the tag, or NULL. */
static const char *tag_check(struct tags *tags, const char *s)
{
	bool closing = s[1] == '/';
	char name[TAG_SIZE] = "";
	size_t n = 0;
	if (s[1] == '?' || s[1] == '!')
		return strchr(s, '>') == NULL ? NULL : strchr(s, '>') + 1;
	s += closing ? 2 : 1;
	while ((isalnum((unsigned char)*s)) && n < TAG_SIZE - 1)
		name[n++] = *s++;
	if (n == 0)
		return NULL;
	if (closing) {
		if (*s != '>' || tags->depth == 0 || strcmp(tags->names[--tags->depth], name) != 0)
			return NULL;
		return s + 1;
	}
	while (*s == ' ') {
		s += strspn(s, " ");
		s += strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-:");
		if (s[0] != '=' || s[1] != '"')
			return NULL;
		size_t len = strcspn(s + 2, "\"<");
		if (s[2 + len] != '"')
			return NULL;
		s += len + 3;
	}
	if (tags->depth == 0)
		tags->roots++;
	if (s[0] == '/' && s[1] == '>')
		return s + 2;
	if (*s != '>' || tags->depth == DEPTH_MAX)
		return NULL;
	memcpy(tags->names[tags->depth++], name, TAG_SIZE);
	return s + 1;
}

static bool entity_is_known(const char *s)
{
	static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
	for (size_t i = 0; i < LENGTH(known); i++)
		if (strncmp(s, known[i], strlen(known[i])) == 0)
			return true;
	return false;
}

static bool is_well_formed(const char *s)
{
	struct tags tags = {.depth = 0};
	while (*s != '\0') {
		unsigned char c = (unsigned char)*s;
		if (c == '<') {
			s = tag_check(&tags, s);
			if (s == NULL)
				return false;
			continue;
		}
		if ((c == '&' && !entity_is_known(s)) || c == '>' || (c < ' ' && c != '\n'))
			return false;
		s++;
	}
	return tags.depth == 0 && tags.roots == 1;
}

static void the_checker_of_this_test_sees_faults(void **state)
{
	(void)state;
	assert_true(is_well_formed("<?xml version=\"1.0\"?>\n<a b=\"c\"><d/>&lt;</a>"));
	assert_false(is_well_formed("<a><b></a></b>"));
	assert_false(is_well_formed("<a>"));
	assert_false(is_well_formed("<a b=c></a>"));
	assert_false(is_well_formed("<a>R&D</a>"));
	assert_false(is_well_formed("<a/><b/>"));
}

/* ---- every kind ---- */

static const double few_x[] = {1, 2, 3, 4, 5};
static const double few_y[] = {3, 0, NAN, 5, 4};
static const double few_low[] = {2, -1, 1, 4, INFINITY};
static const double few_high[] = {4, 1, 2, 6, 5};
static const char *const few_names[] = {"one", "two & a half", "<three>", "four", NULL};

static struct series few_of(enum series_kind kind)
{
	struct series series = {
	        .kind = kind, .name = "a \"name\"", .x = few_x, .y = few_y, .n = LENGTH(few_x)};
	if (kind == SERIES_HISTOGRAM)
		series.n--;
	if (kind == SERIES_BAND || kind == SERIES_POINTS || kind == SERIES_LINE ||
	    kind == SERIES_BARS) {
		series.low = few_low;
		series.high = few_high;
	}
	series.values = kind == SERIES_BARS;
	return series;
}

static void every_kind_of_series_is_drawn_well_formed(void **state)
{
	(void)state;
	for (unsigned kind = SERIES_POINTS; kind <= SERIES_HLINES; kind++) {
		for (unsigned scale = 0; scale < 4; scale++) {
			struct series two[] = {few_of(kind), few_of(kind)};
			two[1].hollow = two[1].dashed = true;
			struct chart chart = {
			        .title = "every kind",
			        .x = {.label = "x",
			              .unit = HUMAN_NS,
			              .scale = scale & 1 ? AXIS_LOG10 : AXIS_LINEAR},
			        .y = {.label = "y",
			              .unit = HUMAN_BPS,
			              .scale = scale & 2 ? AXIS_LOG10 : AXIS_LINEAR},
			        .series = two,
			        .n_series = 2,
			};
			if (kind == SERIES_BARS) {
				chart.x.categories = few_names;
				chart.x.n_categories = LENGTH(few_names);
			}
			struct text text = chart_text(&chart);
			assert_true(is_well_formed(text.bytes));
			assert_null(strstr(text.bytes, "nan"));
			assert_null(strstr(text.bytes, "inf"));
			assert_int_equal(count_of(text.bytes, "a &quot;name&quot;</text>"), 2);
			free(text.bytes);
		}
	}
}

static void numbers_at_the_ends_of_double_are_drawn_without_overflow(void **state)
{
	(void)state;
	static const double x[] = {-1.7e308, -1, -5e-324, 0, 5e-324, 1e-310, 1, 1.7e308};
	for (unsigned kind = SERIES_POINTS; kind <= SERIES_HLINES; kind++) {
		for (unsigned scale = 0; scale < 4; scale++) {
			struct series series = {
			        .kind = kind, .x = x, .y = x, .low = x, .high = x, .n = LENGTH(x)};
			if (kind == SERIES_HISTOGRAM)
				series.n--;
			struct chart chart = {
			        .x = {.scale = scale & 1 ? AXIS_LOG10 : AXIS_LINEAR},
			        .y = {.scale = scale & 2 ? AXIS_LOG10 : AXIS_LINEAR,
			              .unit = HUMAN_NS},
			        .series = &series,
			        .n_series = 1,
			};
			static const char *const names[LENGTH(x)] = {"a", "b", "c", "d",
			                                             "e", "f", "g", "h"};
			chart.x.categories = kind == SERIES_BARS ? names : NULL;
			chart.x.n_categories = kind == SERIES_BARS ? LENGTH(names) : 0;
			struct text text = chart_text(&chart);
			assert_true(is_well_formed(text.bytes));
			free(text.bytes);
		}
	}
}

static void without_data_the_axes_are_drawn_and_say_so(void **state)
{
	(void)state;
	struct series empty[] = {{.kind = SERIES_POINTS, .name = "none"},
	                         {.kind = SERIES_HISTOGRAM},
	                         {.kind = SERIES_MARKS}};
	for (size_t n = 0; n <= LENGTH(empty); n += LENGTH(empty)) {
		for (unsigned scale = 0; scale < 2; scale++) {
			struct chart chart = {
			        .x = {.label = "Time", .scale = scale, .unit = HUMAN_NS},
			        .series = empty,
			        .n_series = n};
			struct text text = chart_text(&chart);
			assert_true(is_well_formed(text.bytes));
			assert_non_null(strstr(text.bytes, "no data</text>"));
			assert_non_null(strstr(text.bytes, "class=\"axis\""));
			assert_true(count_of(text.bytes, "class=\"tick\"") >= 5);
			free(text.bytes);
		}
	}
}

/* ---- bounded ---- */

static void a_million_points_make_a_bounded_file(void **state)
{
	(void)state;
	/* The bounds that series.h promises, for data that fill the picture evenly, which is the
	 * worst likely case; and some 12 kB for the texts of each series' strips (chart.h). */
	enum { STRIPS = 12000 };
	static const struct {
		enum series_kind kind;
		size_t most;
	} cases[] = {
	        {SERIES_POINTS, 400000}, {SERIES_LINE, 60000},       {SERIES_STEP, 60000},
	        {SERIES_BAND, 60000},    {SERIES_HISTOGRAM, 120000}, /* area and outline */
	        {SERIES_MARKS, 16000},
	};
	double *x = many_times(), *y = many_values(1), *high = many_values(2);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct series series = {.kind = cases[i].kind, .x = x, .y = y, .n = MANY - 1};
		if (series.kind == SERIES_BAND) {
			series.low = y;
			series.high = high;
		}
		struct chart chart = {.series = &series, .n_series = 1};
		struct text text = chart_text(&chart);
		assert_in_range(text.n, 1000, cases[i].most + STRIPS);
		free(text.bytes);
	}
	free(x);
	free(y);
	free(high);
}

/* ---- values under the pointer ---- */

/* Returns the tooltip of the strip at this share of the width. */
static const char *title_at(const char *text, double share)
{
	size_t strip = (size_t)(share * count_of(text, "class=\"hover\""));

	for (size_t i = 0; i <= strip; i++)
		text = strstr(text, "class=\"hover\"") + 1;
	text = strstr(text, "<title>") + strlen("<title>");
	return text;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void every_strip_says_the_range_of_all_that_lies_in_it(void **state)
{
	double x[1000], y[1000], limit = 5e6, lost[] = {900e6, 901e6};
	const struct series series[] = {
	        {.kind = SERIES_POINTS, .name = "here & there", .x = x, .y = y, .n = 1000},
	        {.kind = SERIES_STEP, .name = "steps", .x = x, .y = y, .n = 1},
	        {.kind = SERIES_HLINES, .name = "limit", .y = &limit, .n = 1},
	        {.kind = SERIES_MARKS, .name = "lost", .x = lost, .n = 2},
	};
	const struct chart chart = {
	        .x = {.unit = HUMAN_NS, .max = 1e9},
	        .y = {.unit = HUMAN_NS},
	        .series = series,
	        .n_series = 4,
	};
	struct text text;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		x[i] = (double)i * 1e6;
		y[i] = i < 500 ? 1e6 : i % 2 ? 2e6 : 3e6;
	}
	text = chart_text(&chart);
	assert_true(is_well_formed(text.bytes));
	assert_int_equal(count_of(text.bytes, "class=\"hover\""), 72);
	assert_true(begins(title_at(text.bytes, 0), "0 ns to 13.89 ms\nhere &amp; there: 1 ms\n"
	                                            "steps: 1 ms\nlimit: 5 ms</title>"));
	/* The step extends to the end, and both losses lie in one strip. */
	assert_true(begins(title_at(text.bytes, 0.9),
	                   "888.9 ms to 902.8 ms\nhere &amp; there: 2 ms to 3 ms\nsteps: 1 ms\n"
	                   "limit: 5 ms\nlost: 2</title>"));
	free(text.bytes);
}

static void bins_say_their_heights_and_an_empty_strip_says_nothing(void **state)
{
	double edges[] = {0, 1, 2, 10}, heights[] = {0.25, 0.75, NAN}, line = 9.5;
	const struct series series[] = {
	        {.kind = SERIES_HISTOGRAM, .name = "share", .x = edges, .y = heights, .n = 3},
	        {.kind = SERIES_VLINES, .name = "asked for", .x = &line, .n = 1},
	};
	const struct chart chart = {.x = {.max = 10}, .series = series, .n_series = 2};
	struct text text = chart_text(&chart);

	(void)state;
	assert_true(is_well_formed(text.bytes));
	/* A fifth of the strips, including the strip that two bins share, and the strip of the
	 * line. */
	assert_in_range(count_of(text.bytes, "class=\"hover\""), 15, 17);
	assert_true(begins(title_at(text.bytes, 0), "0 to 0.1389\nshare: 0.25</title>"));
	assert_non_null(strstr(text.bytes, "\nshare: 0.25 to 0.75</title>"));
	assert_non_null(strstr(text.bytes, "\nasked for: 9.5</title>"));
	free(text.bytes);
}

static void gaps_at_every_other_point_do_not_unbound_the_file(void **state)
{
	(void)state;
	double *x = many_times(), *y = many_values(3);
	for (size_t i = 0; i < MANY; i += 2)
		y[i] = NAN;
	static const enum series_kind kinds[] = {SERIES_LINE, SERIES_STEP, SERIES_BAND,
	                                         SERIES_HISTOGRAM};
	for (size_t i = 0; i < LENGTH(kinds); i++) {
		struct series series = {.kind = kinds[i], .x = x, .y = y, .n = MANY - 1};
		if (series.kind == SERIES_BAND)
			series.low = series.high = y;
		struct chart chart = {.series = &series, .n_series = 1};
		struct text text = chart_text(&chart);
		assert_in_range(text.n, 1000, 120000);
		free(text.bytes);
	}
	free(x);
	free(y);
}

static void a_single_point_beside_a_million_is_still_drawn(void **state)
{
	(void)state;
	struct density density;
	assert_int_equal(density_init(&density, 10, 10), 0);
	for (size_t i = 0; i < MANY; i++)
		density_add(&density, 2, 2);
	density_add(&density, 7.9, 8.2);
	density_add(&density, NAN, 3);
	density_add(&density, 10, -1);
	assert_int_equal(density_level(&density, 22), DENSITY_LEVELS - 1);
	assert_int_equal(density_level(&density, 87), 0);
	assert_int_equal(density.n_occupied, 2);
	struct text text;
	text_open(&text);
	assert_int_equal(density_write(&density, 0, text.out), 1);
	text_close(&text);
	assert_string_equal(text.bytes, "M7 8h0");
	free(text.bytes);
	density_free(&density);
}

static void a_spike_of_one_sample_survives_in_a_line(void **state)
{
	(void)state;
	struct polyline line;
	struct text text;
	text_open(&text);
	polyline_begin(&line, text.out, false, false);
	for (size_t i = 0; i < MANY; i++)
		polyline_add(&line, (double)i / MANY * 10,
		             i == 345678   ? 7.5
		             : i == 345679 ? 99.5
		                           : 50);
	polyline_end(&line);
	text_close(&text);
	assert_int_equal(count_of(text.bytes, " 7.5"), 1);
	assert_int_equal(count_of(text.bytes, " 99.5"), 1);
	assert_true(text.n < 500);
	free(text.bytes);
}

/* ---- the same everywhere ---- */

static struct text rich_text(void)
{
	static double x[5000], y[5000];
	uint64_t seed = 7;
	for (size_t i = 0; i < LENGTH(x); i++) {
		x[i] = (double)i * 1234.5;
		y[i] = 40e6 + 1e6 * draw(&seed);
	}
	struct series series[] = {
	        {.kind = SERIES_POINTS, .name = "points", .x = x, .y = y, .n = LENGTH(x)},
	        {.kind = SERIES_LINE, .name = "line", .x = x, .y = y, .n = 100},
	        {.kind = SERIES_MARKS, .name = "marks", .x = x, .n = 50},
	};
	struct chart chart = {.x = {.label = "Time", .unit = HUMAN_NS},
	                      .series = series,
	                      .n_series = LENGTH(series)};
	return chart_text(&chart);
}

static void the_same_data_gives_the_same_bytes(void **state)
{
	(void)state;
	struct text first = rich_text(), second = rich_text();
	assert_int_equal(first.n, second.n);
	assert_memory_equal(first.bytes, second.bytes, first.n);
	free(first.bytes);
	free(second.bytes);
}

static void the_locale_does_not_change_the_bytes(void **state)
{
	(void)state;
	static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
	                                    "fr_FR.utf8",  "de_DE",      "fr_FR"};
	struct text plain = rich_text();
	bool found = false;
	for (size_t i = 0; i < LENGTH(comma) && !found; i++)
		found = setlocale(LC_ALL, comma[i]) != NULL;
	if (!found) {
		free(plain.bytes);
		UNABLE("no locale with a decimal comma is installed (locale-gen de_DE.UTF-8)");
	}
	struct text local = rich_text();
	setlocale(LC_ALL, "C");
	assert_int_equal(plain.n, local.n);
	assert_memory_equal(plain.bytes, local.bytes, plain.n);
	free(plain.bytes);
	free(local.bytes);
}

/* ---- axes ---- */

/* Returns true if the leading digit of a positive number is its only one, and is 1, 2 or 5. */
static bool is_round(double step)
{
	double digit = step / pow(10, floor(log10(step) + 1e-9));
	return fabs(digit - 1) < 1e-6 || fabs(digit - 2) < 1e-6 || fabs(digit - 5) < 1e-6;
}

static void ticks_are_round_numbers(void **state)
{
	(void)state;
	uint64_t seed = 11;
	for (unsigned i = 0; i < 2000; i++) {
		double lo = (draw(&seed) - 0.5) * pow(10, 12 * draw(&seed));
		double hi = lo + pow(10, 12 * draw(&seed) - 4);
		struct series_range range = {.min = lo, .max = hi, .min_positive = fmax(lo, 1)};
		struct axis axis = {.unit = HUMAN_PLAIN};
		struct scale scale;
		unsigned wanted = 2 + i % 9;
		scale_choose(&scale, &axis, &range, i % 2 ? SCALE_LOOSE : SCALE_TIGHT, wanted);
		assert_in_range(scale.n_ticks, 2, 3 * wanted);
		double step = scale.ticks[1].value - scale.ticks[0].value;
		if (hi - lo < 1e-4 * fabs(lo)) /* the difference of two ticks is mostly rounding */
			continue;
		assert_true(is_round(step));
		for (size_t k = 0; k < scale.n_ticks; k++)
			assert_true(fabs(remainder(scale.ticks[k].value, step)) < 1e-3 * step);
	}
}

static void a_chosen_range_holds_the_data_and_a_y_axis_ends_at_ticks(void **state)
{
	(void)state;
	uint64_t seed = 12;
	for (unsigned i = 0; i < 2000; i++) {
		double lo = pow(10, 9 * draw(&seed)), hi = lo * (1 + 100 * draw(&seed));
		struct series_range range = {.min = lo, .max = hi, .min_positive = lo};
		struct axis axis = {.scale = i % 2 ? AXIS_LOG10 : AXIS_LINEAR};
		struct scale scale;
		scale_choose(&scale, &axis, &range, SCALE_LOOSE, 6);
		assert_true(scale.lo <= lo * (1 + 1e-9) && scale.hi >= hi * (1 - 1e-9));
		if (axis.scale == AXIS_LINEAR) {
			assert_true(scale.ticks[0].value == scale.lo);
			assert_true(scale.ticks[scale.n_ticks - 1].value == scale.hi);
		} else {
			assert_true(is_round(scale.lo) || hi < 5 * lo);
			assert_true(is_round(scale.hi) || hi < 5 * lo);
		}
	}
}

static void tick_labels_name_round_values_in_the_best_prefix(void **state)
{
	(void)state;
	static const struct {
		enum human_unit unit;
		enum axis_scale scale;
		double min, max;
		const char *first, *second, *unit_name;
	} cases[] = {
	        {HUMAN_NS, AXIS_LINEAR, 0, 3e6, "0.0", "0.5", "ms"},
	        {HUMAN_NS, AXIS_LINEAR, 0, 6e10, "0", "10", "s"},
	        {HUMAN_BPS, AXIS_LINEAR, 0, 1e10, "0", "2", "Gbit/s"},
	        {HUMAN_COUNT, AXIS_LINEAR, 0, 60000, "0", "10k", ""},
	        {HUMAN_PERCENT, AXIS_LINEAR, 0, 0.006, "0.0%", "0.1%", ""},
	        {HUMAN_PLAIN, AXIS_LINEAR, 0, 6e7, "0", "10⁷", ""},
	        {HUMAN_NS, AXIS_LOG10, 100, 1e8, "100 ns", "1 µs", ""},
	        {HUMAN_COUNT, AXIS_LOG10, 1, 1e6, "1", "10", ""},
	        {HUMAN_PERCENT, AXIS_LOG10, 0.001, 1, "0.1%", "1%", ""},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct axis axis = {.label = "",
		                    .unit = cases[i].unit,
		                    .scale = cases[i].scale,
		                    .min = cases[i].min,
		                    .max = cases[i].max};
		struct series_range none = SERIES_RANGE_EMPTY;
		struct scale scale;
		const char *labels[2] = {NULL, NULL};
		scale_choose(&scale, &axis, &none, SCALE_TIGHT, 5);
		for (size_t k = 0, n = 0; k < scale.n_ticks && n < 2; k++)
			if (scale.ticks[k].major)
				labels[n++] = scale.ticks[k].label;
		assert_string_equal(labels[0], cases[i].first);
		assert_string_equal(labels[1], cases[i].second);
		assert_string_equal(scale.unit, cases[i].unit_name);
	}
}

static void zero_on_a_log_axis_lies_at_its_lower_end(void **state)
{
	(void)state;
	struct axis axis = {.scale = AXIS_LOG10};
	struct series_range range = {.min = -3, .max = 1000, .min_positive = 10};
	struct scale scale;
	scale_choose(&scale, &axis, &range, SCALE_LOOSE, 5);
	scale.start_px = 200;
	scale.end_px = 0;
	assert_true(scale.lo == 10 && scale.hi == 1000);
	assert_true(scale_px(&scale, 0) == 200);
	assert_true(scale_px(&scale, -3) == 200);
	assert_true(scale_holds(&scale, 0));
	assert_true(fabs(scale_px(&scale, 100) - 100) < 1e-9);
	assert_false(scale_holds(&scale, 5));
}

static double attribute(const char *element, const char *name)
{
	const char *s = strstr(element, name);
	assert_non_null(s);
	return strtod(s + strlen(name), NULL);
}

/* The labels of the x axis are the middle-anchored ticks in one row. Their widths are estimates,
 * hence the margin. */
static void labels_of_the_x_axis_do_not_overlap(void **state)
{
	(void)state;
	static const double ticks[] = {64, 65, 66, 128, 256, 512, 1024, 1280, 1400, 1518};
	static const struct axis axes[] = {
	        {.unit = HUMAN_NS, .min = 0, .max = 7.3e9},
	        {.unit = HUMAN_NS, .min = 12345678, .max = 12345999},
	        {.unit = HUMAN_BPS, .scale = AXIS_LOG10, .min = 1, .max = 1e12},
	        {.unit = HUMAN_BPS, .scale = AXIS_LOG10, .min = 1e6, .max = 9e6},
	        {.unit = HUMAN_BYTES,
	         .min = 0,
	         .max = 1600,
	         .ticks = ticks,
	         .n_ticks = LENGTH(ticks)},
	};
	for (size_t i = 0; i < LENGTH(axes) * 2; i++) {
		struct chart chart = {.x = axes[i / 2], .width_px = i % 2 ? 300 : 0};
		struct text text = chart_text(&chart);
		double last_px = -INFINITY;
		size_t n = 0;
		static const char begin[] = "<text class=\"tick\" text-anchor=\"middle\"";
		for (char *s = strstr(text.bytes, begin); s != NULL; s = strstr(s + 1, begin)) {
			char *label = strchr(s, '>') + 1, *end = strchr(label, '<');
			double middle_px = attribute(s, "x=\"");
			*end = '\0';
			if (strcmp(label, "no data") != 0) {
				double half_px = label_width_px(label, 11) / 2;
				assert_true(middle_px - half_px > last_px);
				last_px = middle_px + half_px;
				n++;
			}
			*end = '<';
		}
		assert_in_range(n, 2, 20);
		free(text.bytes);
	}
}

static void the_legend_stands_above_the_data_however_long(void **state)
{
	(void)state;
	struct series series[20];
	for (size_t i = 0; i < LENGTH(series); i++)
		series[i] = (struct series){.kind = SERIES_LINE,
		                            .name = "a rather long name of a series",
		                            .x = few_x,
		                            .y = few_y,
		                            .n = 5};
	struct chart chart = {.series = series, .n_series = LENGTH(series)};
	struct text text = chart_text(&chart);
	double lowest_px = 0;
	for (const char *s = strstr(text.bytes, "<text class=\"\""); s != NULL;
	     s = strstr(s + 1, "<text class=\"\""))
		lowest_px = fmax(lowest_px, attribute(s, " y=\""));
	const char *origin = strstr(text.bytes, "<g transform=\"translate(");
	assert_non_null(origin);
	double top_px = strtod(strchr(origin, ' ') + strlen(" transform=\"translate(72 "), NULL);
	assert_true(lowest_px > 100); /* the label did wrap */
	assert_true(top_px > lowest_px);
	free(text.bytes);
}

/* ---- numbers ---- */

static void what_is_compared_is_written_in_one_unit(void **state)
{
	static const struct {
		enum human_unit unit;
		double most, value;
		const char *text;
	} rows[] = {
	        {HUMAN_NS, 9.9e9, 850e6, "850 ms"},
	        {HUMAN_NS, 9.9e9, 2500, "0.0025 ms"},
	        {HUMAN_NS, 9.9e9, 9.9e9, "9900 ms"},
	        {HUMAN_NS, 1e10, 850e6, "0.85 s"},
	        {HUMAN_NS, 999e3, 250, "0.25 µs"},
	        {HUMAN_NS, 900, 250, "250 ns"},
	        {HUMAN_BPS, 47.5e6, 1500, "0.0015 Mbit/s"},
	        {HUMAN_BPS, 1e9, 47.5e6, "0.0475 Gbit/s"},
	        {HUMAN_BYTES, 140e3, 60, "0.06 kB"},
	        {HUMAN_PERCENT, 1, 0.01, "1%"},
	};
	char text[HUMAN_UNIT_SIZE];

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		human_unit_format(text, sizeof(text), human_unit_one(rows[i].unit, rows[i].most),
		                  rows[i].value, 4);
		assert_string_equal(text, rows[i].text);
	}
}

static void numbers_are_written_with_their_unit(void **state)
{
	(void)state;
	static const struct {
		enum human_unit unit;
		double value;
		const char *text;
	} cases[] = {
	        {HUMAN_NS, 0, "0 ns"},
	        {HUMAN_NS, 0.25, "0.25 ns"},
	        {HUMAN_NS, 1500000, "1.5 ms"},
	        {HUMAN_NS, 999.4, "999 ns"},
	        {HUMAN_NS, 999.6, "1 µs"},
	        {HUMAN_NS, -40e6, "-40 ms"},
	        {HUMAN_NS, 3.6e12, "3600 s"},
	        {HUMAN_BPS, 1e10, "10 Gbit/s"},
	        {HUMAN_PPS, 14880952, "14.9 Mpps"},
	        {HUMAN_BYTES, 1518, "1.52 kB"},
	        {HUMAN_COUNT, 950, "950"},
	        {HUMAN_COUNT, 20000, "20k"},
	        {HUMAN_PERCENT, 0.001, "0.1%"},
	        {HUMAN_PERCENT, 1, "100%"},
	        {HUMAN_PLAIN, 0.002, "0.002"},
	        {HUMAN_PLAIN, 3e8, "3×10⁸"},
	        {HUMAN_PLAIN, 1e-6, "10⁻⁶"},
	        {HUMAN_PLAIN, NAN, "n/a"},
	        {HUMAN_NS, INFINITY, "n/a"},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		char text[HUMAN_UNIT_SIZE];
		human_unit_format(text, sizeof(text), cases[i].unit, cases[i].value, 3);
		assert_string_equal(text, cases[i].text);
	}
}

static void decimals_are_rounded_and_never_minus_zero(void **state)
{
	(void)state;
	static const struct {
		double value;
		unsigned decimals;
		const char *text;
	} cases[] = {
	        {0, 0, "0"},
	        {0, 2, "0.00"},
	        {-0.001, 2, "0.00"},
	        {-0.006, 2, "-0.01"},
	        {1.005, 1, "1.0"},
	        {0.96, 1, "1.0"},
	        {-12.5, 0, "-13"},
	        {123456789, 3, "123456789.000"},
	        {1e15, 2, "10¹⁵"},
	        {9.999e20, 2, "10²¹"},
	        {-2.5e20, 2, "-2.5×10²⁰"},
	        {-1e20, 0, "-1×10²⁰"},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		char text[DECIMAL_SIZE];
		decimal_fixed(text, sizeof(text), cases[i].value, cases[i].decimals);
		assert_string_equal(text, cases[i].text);
	}
}

static void a_long_label_is_shortened_between_characters(void **state)
{
	(void)state;
	char text[LABEL_SIZE];
	label_fit(text, "Gilbert–Elliott", 12, 1000);
	assert_string_equal(text, "Gilbert–Elliott");
	for (double px = 0; px < 120; px += 0.5) {
		label_fit(text, "éééééééééééééééé", 12, px);
		/* é has two bytes, the ellipsis three. */
		assert_true(strlen(text) % 2 == (strstr(text, "…") != NULL));
		assert_true(px < 14 || label_width_px(text, 12) <= px);
	}
}

static void bins_hold_every_sample_once(void **state)
{
	(void)state;
	double edges[41], counts[40] = {0}, sum = 0;
	double *samples = many_values(5);
	samples[0] = 10;
	samples[1] = 1e6;
	samples[2] = NAN;
	samples[3] = 2e6;
	samples[4] = 9.99;
	assert_int_equal(bins_divide(edges, 40, AXIS_LOG10, 10, 1e6), 0);
	for (size_t i = 1; i < 40; i++) /* on an edge: the bin above */
		samples[100 + i] = edges[i];
	size_t below = 0;
	for (size_t i = 0; i < MANY; i++)
		below += samples[i] < 10;
	assert_int_equal(bins_count(edges, counts, 40, samples, MANY), below + 2);
	for (size_t i = 0; i < 40; i++) {
		double exact = 0;
		for (size_t k = 0; k < MANY; k++)
			exact += samples[k] >= edges[i] && (samples[k] < edges[i + 1] ||
			                                    (i == 39 && samples[k] == edges[40]));
		assert_true(counts[i] == exact);
		sum += counts[i];
	}
	assert_true(sum == (double)(MANY - below - 2));
	assert_int_equal(bins_divide(edges, 40, AXIS_LOG10, 0, 1), -EINVAL);
	assert_int_equal(bins_divide(edges, 0, AXIS_LINEAR, 0, 1), -EINVAL);
	assert_int_equal(bins_divide(edges, 40, AXIS_LINEAR, 1, 1), -EINVAL);
	free(samples);
}

/* ---- lines, texts, errors ---- */

static void a_value_that_is_not_finite_is_a_gap_and_a_lone_point_a_dot(void **state)
{
	(void)state;
	static const double x[] = {0, 1, 2, 3, 4, 5, 6}, y[] = {1, 2, NAN, 3, INFINITY, 2, 1};
	struct series series = {
	        .kind = SERIES_LINE, .x = x, .y = y, .n = LENGTH(x), .marker = SERIES_MARKER_NONE};
	struct chart chart = {.series = &series, .n_series = 1};
	struct text text = chart_text(&chart);
	char *path = strstr(text.bytes, "<path class=\"line\" d=\"");
	assert_non_null(path);
	*strchr(path + 22, '"') = '\0';
	assert_int_equal(count_of(path, "M"), 3);
	assert_int_equal(count_of(path, "L"), 2);
	assert_int_equal(count_of(path, "h0"), 1);
	free(text.bytes);
}

static const char evil[] = "</title><script>alert('x')</script>&\"\x01\xff\xc0\xaf µ";
static const char tame[] =
        "&lt;/title&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;"
        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd µ";

static void text_is_escaped(void **state)
{
	(void)state;
	static const char *const cells[] = {evil};
	static const char *const names[] = {evil};
	static const double value[] = {1};
	struct series series = {.kind = SERIES_BARS, .name = evil, .y = value, .n = 1};
	struct chart chart = {
	        .title = evil,
	        .x = {.label = evil, .categories = names, .n_categories = 1},
	        .y = {.label = evil},
	        .series = &series,
	        .n_series = 1,
	};
	struct page page;
	struct text text;
	text_open(&text);
	assert_int_equal(page_open(&page, text.out, evil, evil), 0);
	assert_int_equal(page_heading(&page, evil), 0);
	assert_int_equal(page_text(&page, evil), 0);
	assert_int_equal(page_code(&page, evil), 0);
	assert_int_equal(page_table(&page, &(struct page_rows){evil, cells, cells, 1, 1, NULL}), 0);
	assert_int_equal(page_figure(&page, &chart, evil), 0);
	assert_int_equal(page_close(&page), 0);
	text_close(&text);
	assert_true(is_well_formed(text.bytes));
	assert_null(strstr(text.bytes, "<script"));
	/* Title twice, subtitle, heading, text, code, table three times, caption; in the chart: its
	   name for screen readers, title, legend, category, axis labels, and two in the bar's
	   title. */
	/* The chart is there twice; the narrow one has three of these cut short. */
	assert_int_equal(count_of(text.bytes, tame), 10 + 5 + 8);
	free(text.bytes);
}

static void a_page_is_well_formed_and_needs_nothing_from_elsewhere(void **state)
{
	(void)state;
	struct series series = few_of(SERIES_POINTS);
	struct chart chart = {.title = "chart", .series = &series, .n_series = 1};
	struct page page;
	struct text text;
	text_open(&text);
	page_open(&page, text.out, "Report", NULL);
	page_text(&page, "one\n\ntwo\n\n");
	page_figure(&page, &chart, "first");
	page_figure(&page, &chart, NULL);
	page_figure(&page, &chart, "second");
	assert_int_equal(page_close(&page), 0);
	text_close(&text);
	assert_true(is_well_formed(text.bytes));
	static const char *const foreign[] = {"http",    "<script", "src=", "url(",
	                                      "@import", "<link",   "href="};
	for (size_t i = 0; i < LENGTH(foreign); i++)
		assert_null(strstr(text.bytes, foreign[i]));
	assert_non_null(strstr(text.bytes, "prefers-color-scheme:dark"));
	assert_non_null(strstr(text.bytes, "@media print"));
	assert_non_null(strstr(text.bytes, "<p>one</p>\n<p>two</p>"));
	assert_non_null(strstr(text.bytes, "Figure 2.</span> second"));
	assert_int_equal(count_of(text.bytes, "--c1:"), 2);
	free(text.bytes);
}

static void columns_of_numbers_are_aligned_right(void **state)
{
	(void)state;
	static const struct {
		const char *cells[3];
		bool right;
	} cases[] = {
	        {{"1", "20", "300"}, true},
	        {{"1.5 ms", "-", "40 µs"}, true},
	        {{"0.1%", "", "n/a"}, true},
	        {{"1,000,000", "-3", "+2.5e-3"}, true},
	        {{"12.3 Mbit/s", NULL, "1 Gbit/s"}, true},
	        {{"1", "two", "3"}, false},
	        {{"192.0.2.1", "10.0.0.1", "10.0.0.2"}, false},
	        {{"0000:03:00.1", "1", "2"}, false},
	        {{"2026-01-31", "1", "2"}, false},
	        {{"10 packets were lost", "1", "2"}, false},
	        {{"3 milliseconds", "1 ms", "2 ms"}, false},
	        {{"-", "", NULL}, false},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct page page;
		struct text text;
		text_open(&text);
		page_open(&page, text.out, "", NULL);
		page_table(&page, &(struct page_rows){
		                          .cells = cases[i].cells, .n_columns = 1, .n_rows = 3});
		page_close(&page);
		text_close(&text);
		assert_int_equal(count_of(text.bytes, "<td class=\"right\">"),
		                 cases[i].right ? 3 : 0);
		free(text.bytes);
	}
}

static void a_wrong_description_is_refused_and_writes_nothing(void **state)
{
	(void)state;
	static const double back[] = {1, 3, 2, 4};
	static const char *const names[] = {"a", "b"};
	static const struct {
		struct series series;
		struct axis x, y;
		unsigned width_px;
		int rc;
	} cases[] = {
	        {.series = {.kind = SERIES_LINE, .x = back, .y = back, .n = 4}, .rc = -EINVAL},
	        {.series = {.kind = SERIES_HISTOGRAM, .x = back, .y = back, .n = 2}, .rc = -EINVAL},
	        {.series = {.kind = SERIES_POINTS, .x = few_x, .n = 5}, .rc = -EINVAL},
	        {.series = {.kind = SERIES_BAND, .x = few_x, .y = few_y, .n = 5}, .rc = -EINVAL},
	        {.series = {.kind = SERIES_POINTS, .x = few_x, .y = few_y, .low = few_low, .n = 5},
	         .rc = -EINVAL},
	        {.series = {.kind = SERIES_BARS, .y = few_y, .n = 5}, .rc = -EINVAL},
	        {.series = {.kind = SERIES_BARS, .y = few_y, .n = 3},
	         .x = {.categories = names, .n_categories = 2},
	         .rc = -EINVAL},
	        {.series = {.kind = SERIES_LINE,
	                    .x = few_x,
	                    .y = few_y,
	                    .low = few_low,
	                    .high = few_high,
	                    .n = SERIES_WHISKERS_MAX + 1},
	         .rc = -E2BIG},
	        {.series = {.kind = SERIES_HLINES, .y = few_y, .n = SERIES_LINES_MAX + 1},
	         .rc = -E2BIG},
	        {.series = {.kind = SERIES_POINTS, .color = THEME_COLORS + 1}, .rc = -EINVAL},
	        {.x = {.min = 2, .max = 1}, .rc = -EINVAL},
	        {.x = {.min = 0, .max = 1, .scale = AXIS_LOG10}, .rc = -EINVAL},
	        {.y = {.min = 0, .max = INFINITY}, .rc = -EINVAL},
	        {.y = {.n_ticks = 2}, .rc = -EINVAL},
	        {.y = {.categories = names, .n_categories = 2}, .rc = -EINVAL},
	        {.width_px = 100, .rc = -EINVAL},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct chart chart = {.x = cases[i].x,
		                      .y = cases[i].y,
		                      .series = &cases[i].series,
		                      .n_series = 1,
		                      .width_px = cases[i].width_px};
		struct text text;
		text_open(&text);
		assert_int_equal(chart_write(&chart, text.out), cases[i].rc);
		assert_int_equal(chart_write(&chart, text.out), cases[i].rc);
		struct page page = {.out = text.out};
		assert_int_equal(page_figure(&page, &chart, "caption"), cases[i].rc);
		text_close(&text);
		assert_int_equal(text.n, 0);
		free(text.bytes);
	}
}

static void a_full_disk_is_reported(void **state)
{
	(void)state;
	FILE *out = fopen("/dev/full", "w");
	if (out == NULL)
		UNABLE("there is no /dev/full");
	struct page page;
	page_open(&page, out, "Report", NULL);
	page_text(&page, "lost");
	assert_true(page_close(&page) < 0);
	assert_true(page_text(&page, "more") < 0);
	setvbuf(out, NULL, _IONBF, 0);
	assert_int_equal(chart_write(&(struct chart){.title = "lost"}, out), -EIO);
	fclose(out);
}

GROUP(chart)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_checker_of_this_test_sees_faults),
	        cmocka_unit_test(every_kind_of_series_is_drawn_well_formed),
	        cmocka_unit_test(numbers_at_the_ends_of_double_are_drawn_without_overflow),
	        cmocka_unit_test(without_data_the_axes_are_drawn_and_say_so),
	        cmocka_unit_test(a_million_points_make_a_bounded_file),
	        cmocka_unit_test(every_strip_says_the_range_of_all_that_lies_in_it),
	        cmocka_unit_test(bins_say_their_heights_and_an_empty_strip_says_nothing),
	        cmocka_unit_test(gaps_at_every_other_point_do_not_unbound_the_file),
	        cmocka_unit_test(a_single_point_beside_a_million_is_still_drawn),
	        cmocka_unit_test(a_spike_of_one_sample_survives_in_a_line),
	        cmocka_unit_test(the_same_data_gives_the_same_bytes),
	        cmocka_unit_test(the_locale_does_not_change_the_bytes),
	        cmocka_unit_test(ticks_are_round_numbers),
	        cmocka_unit_test(a_chosen_range_holds_the_data_and_a_y_axis_ends_at_ticks),
	        cmocka_unit_test(tick_labels_name_round_values_in_the_best_prefix),
	        cmocka_unit_test(zero_on_a_log_axis_lies_at_its_lower_end),
	        cmocka_unit_test(labels_of_the_x_axis_do_not_overlap),
	        cmocka_unit_test(the_legend_stands_above_the_data_however_long),
	        cmocka_unit_test(what_is_compared_is_written_in_one_unit),
	        cmocka_unit_test(numbers_are_written_with_their_unit),
	        cmocka_unit_test(decimals_are_rounded_and_never_minus_zero),
	        cmocka_unit_test(a_long_label_is_shortened_between_characters),
	        cmocka_unit_test(bins_hold_every_sample_once),
	        cmocka_unit_test(a_value_that_is_not_finite_is_a_gap_and_a_lone_point_a_dot),
	        cmocka_unit_test(text_is_escaped),
	        cmocka_unit_test(a_page_is_well_formed_and_needs_nothing_from_elsewhere),
	        cmocka_unit_test(columns_of_numbers_are_aligned_right),
	        cmocka_unit_test(a_wrong_description_is_refused_and_writes_nothing),
	        cmocka_unit_test(a_full_disk_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
