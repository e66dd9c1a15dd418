/* SPDX-License-Identifier: BSD-3-Clause */
/* A page of report/page.h, described in JSON. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "python/python.h"
#include "report/page.h"
#include "text/alloc_failure.h"

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* Returns the texts of an array, to be freed; NULL if there are none. A text is "" if there is none
 * in its place. */
static const char **texts_of(const json_t *object, const char *name, size_t *n)
{
	const json_t *array = json_object_get(object, name);
	const char **texts;

	*n = json_array_size(array);
	texts = *n ? alloc_failure_calloc(*n * sizeof(*texts)) : NULL;
	for (size_t i = 0; texts && i < *n; i++) {
		texts[i] = json_string_value(json_array_get(array, i));
		texts[i] = texts[i] ? texts[i] : "";
	}
	return texts;
}

/* Returns the numbers of an array, to be freed; NULL if there are none. `n` is at most what it
 * was. */
static double *numbers_of(const json_t *object, const char *name, size_t *n)
{
	const json_t *array = json_object_get(object, name);
	double *numbers;

	if (!json_is_array(array))
		return NULL;
	*n = json_array_size(array) < *n ? json_array_size(array) : *n;
	numbers = alloc_failure_calloc((*n + 1) * sizeof(*numbers));
	for (size_t i = 0; numbers && i < *n; i++)
		numbers[i] = json_is_number(json_array_get(array, i))
		                     ? json_number_value(json_array_get(array, i))
		                     : NAN;
	return numbers;
}

static void add_table(struct page *page, const json_t *table)
{
	size_t n_columns, n_cells;
	const char **head = texts_of(table, "head", &n_columns);
	const char **cells = texts_of(table, "cells", &n_cells);
	const json_t *alarms = json_object_get(table, "alarms");
	size_t n_rows = n_columns ? n_cells / n_columns : 0;
	bool *red = alloc_failure_calloc(n_rows + 1);

	for (size_t i = 0; red && i < n_rows; i++)
		red[i] = json_is_true(json_array_get(alarms, i));
	if (head && cells && red && n_rows > 0)
		page_table(page, &(struct page_rows){.caption = text_of(table, "caption"),
		                                     .head = head,
		                                     .cells = cells,
		                                     .n_columns = n_columns,
		                                     .n_rows = n_rows,
		                                     .alarms = red});
	free(red);
	free(cells);
	free(head);
}

/* A word, and the value that it means; NULL: any other, or none. */
struct word {
	const char *text;
	int value;
};

static int meaning(const struct word *words, const json_t *object, const char *name)
{
	const char *text = text_of(object, name);

	while (words->text && strcmp(words->text, text ? text : "") != 0)
		words++;
	return words->value;
}

static void axis_read(struct axis *axis, const json_t *given)
{
	static const struct word units[] = {{"ns", HUMAN_NS},           {"pps", HUMAN_PPS},
	                                    {"bytes", HUMAN_BYTES},     {"count", HUMAN_COUNT},
	                                    {"percent", HUMAN_PERCENT}, {NULL, HUMAN_PLAIN}};
	static const struct word scales[] = {{"log10", AXIS_LOG10}, {NULL, AXIS_LINEAR}};

	*axis = (struct axis){
	        .label = text_of(given, "label"),
	        .unit = (enum human_unit)meaning(units, given, "unit"),
	        .scale = (enum axis_scale)meaning(scales, given, "scale"),
	        .from_zero = json_is_true(json_object_get(given, "from_zero")),
	};
	axis->categories = texts_of(given, "categories", &axis->n_categories);
}

static void series_read(struct series *series, const json_t *given)
{
	static const struct word kinds[] = {{"line", SERIES_LINE},
	                                    {"step", SERIES_STEP},
	                                    {"bars", SERIES_BARS},
	                                    {"histogram", SERIES_HISTOGRAM},
	                                    {NULL, SERIES_POINTS}};
	static const struct word markers[] = {{"circle", SERIES_MARKER_CIRCLE},
	                                      {NULL, SERIES_MARKER_AUTO}};
	size_t n = SIZE_MAX;

	*series = (struct series){
	        .kind = (enum series_kind)meaning(kinds, given, "kind"),
	        .name = text_of(given, "name"),
	        .x = numbers_of(given, "x", &n),
	        .y = numbers_of(given, "y", &n),
	        .low = numbers_of(given, "low", &n),
	        .high = numbers_of(given, "high", &n),
	        .color = (unsigned)json_integer_value(json_object_get(given, "color")),
	        .marker = (enum series_marker)meaning(markers, given, "marker"),
	        .hollow = json_is_true(json_object_get(given, "hollow")),
	        .dashed = json_is_true(json_object_get(given, "dashed")),
	        .values = json_is_true(json_object_get(given, "values")),
	};
	series->n = n == SIZE_MAX ? 0 : n;
	if (series->hollow && series->kind == SERIES_POINTS)
		series->marker = SERIES_MARKER_DIAMOND;
}

static void add_figure(struct page *page, const json_t *figure)
{
	const json_t *given = json_object_get(figure, "series");
	size_t n = json_array_size(given);
	struct series *series = alloc_failure_calloc((n + 1) * sizeof(*series));
	struct chart chart = {
	        .title = text_of(figure, "title"),
	        .series = series,
	        .width_px = (unsigned)json_integer_value(json_object_get(figure, "width")),
	        .height_px = (unsigned)json_integer_value(json_object_get(figure, "height")),
	        .n_series = series ? n : 0,
	};

	axis_read(&chart.x, json_object_get(figure, "x"));
	axis_read(&chart.y, json_object_get(figure, "y"));
	for (size_t i = 0; i < chart.n_series; i++)
		series_read(&series[i], json_array_get(given, i));
	page_figure(page, &chart, text_of(figure, "caption"));
	for (size_t i = 0; i < chart.n_series; i++) {
		free((double *)series[i].x);
		free((double *)series[i].y);
		free((double *)series[i].low);
		free((double *)series[i].high);
	}
	free((char **)chart.x.categories);
	free((char **)chart.y.categories);
	free(series);
}

static void add_part(struct page *page, const char *kind, const json_t *part)
{
	const char *text = json_string_value(part);

	if (strcmp(kind, "table") == 0)
		add_table(page, part);
	else if (strcmp(kind, "figure") == 0)
		add_figure(page, part);
	else if (strcmp(kind, "heading") == 0)
		page_heading(page, text ? text : "");
	else if (strcmp(kind, "alarm") == 0)
		page_alarm(page, text ? text : "");
	else if (strcmp(kind, "code") == 0)
		page_code(page, text ? text : "");
	else
		page_text(page, text ? text : "");
}

json_t *python_page(const json_t *question)
{
	const char *title = text_of(question, "title"), *kind;
	json_t *part, *one, *answer = NULL;
	struct page page;
	char *text = NULL;
	size_t bytes, i;
	FILE *out = alloc_failure_stream(&text, &bytes);

	if (out == NULL)
		return NULL;
	page_open(&page, out, title ? title : "", text_of(question, "subtitle"));
	json_array_foreach(json_object_get(question, "parts"), i, part)
	{
		json_object_foreach(part, kind, one) add_part(&page, kind, one);
	}
	page_close(&page);
	if (alloc_failure_close(out) == 0 && page.error == 0)
		answer = json_pack("{s:s}", "text", text);
	free(text);
	return answer;
}
