/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_rows.h"
#include "text/table.h"

#define ROWS_MAX 512

/* Gets the inverse of the cost relative to the first row, so that higher is better. Returns false
 * if the row lacks a figure for it. */
static bool relative_figure(const json_t *row, double *median, double *min, double *max)
{
	double relative = bench_number(row, "relative"), mpps = bench_number(row, "mpps");

	if (relative <= 0 || mpps <= 0)
		return false;
	*median = 1 / relative;
	*min = *median * bench_number(row, "mpps_min") / mpps;
	*max = *median * bench_number(row, "mpps_max") / mpps;
	return true;
}

/* A depth is named by the configured number of packets, since the number actually in flight differs
 * a little from run to run. */
bool bench_compare_figure(const json_t *row, char name[160], double *median, double *min,
                          double *max)
{
	if (bench_is(row, "cost")) {
		snprintf(name, 160, "cost %s %s %s", bench_text(row, "scenario"),
		         bench_text(row, "ports"), bench_text(row, "frames"));
		*median = bench_number(row, "ratio");
		*min = json_object_get(row, "ratio_min") ? bench_number(row, "ratio_min") : *median;
		*max = json_object_get(row, "ratio_max") ? bench_number(row, "ratio_max") : *median;
		return true;
	}
	if (bench_is(row, "clouds")) {
		snprintf(name, 160, "clouds %.0f", bench_number(row, "clouds"));
		return relative_figure(row, median, min, max);
	}
	if (bench_is(row, "depth")) {
		snprintf(name, 160, "depth %.0f", bench_number(row, "depth"));
		return relative_figure(row, median, min, max);
	}
	return false;
}

static const json_t *rows_of(const json_t *document)
{
	return json_object_get(document, "rows");
}

/* Returns the row of that name, or NULL. */
static const json_t *find(const json_t *rows, const char *name)
{
	char other[160];
	double median, min, max;
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		if (bench_compare_figure(row, other, &median, &min, &max) &&
		    strcmp(other, name) == 0)
			return row;
	}
	return NULL;
}

static enum bench_verdict judge(const struct bench_comparison *c, double bound)
{
	if (c->after < c->before * (1 - bound) && c->after_max < c->before_min)
		return BENCH_WORSE;
	if (c->after > c->before * (1 + bound) && c->after_min > c->before_max)
		return BENCH_BETTER;
	return BENCH_SAME;
}

size_t bench_compare(const json_t *before, const json_t *after, double bound,
                     struct bench_comparison *comparisons, size_t room)
{
	char name[160];
	size_t n = 0, i;
	json_t *row;

	json_array_foreach(rows_of(before), i, row)
	{
		struct bench_comparison *c = &comparisons[n];
		const json_t *now;

		if (n == room)
			break;
		memset(c, 0, sizeof(*c));
		if (!bench_compare_figure(row, c->name, &c->before, &c->before_min, &c->before_max))
			continue;
		now = find(rows_of(after), c->name);
		if (now)
			bench_compare_figure(now, name, &c->after, &c->after_min, &c->after_max);
		c->verdict = now ? judge(c, bound) : BENCH_GONE;
		n++;
	}
	json_array_foreach(rows_of(after), i, row)
	{
		struct bench_comparison *c = &comparisons[n];

		if (n == room)
			break;
		memset(c, 0, sizeof(*c));
		if (!bench_compare_figure(row, c->name, &c->after, &c->after_min, &c->after_max) ||
		    find(rows_of(before), c->name))
			continue;
		c->verdict = BENCH_NEW;
		n++;
	}
	return n;
}

static void figure_cell(struct table *table, bool there, double median, double min, double max)
{
	if (there)
		table_format(table, "%.3f (%.3f to %.3f)", median, min, max);
	else
		table_text(table, "-");
}

/* Names the conditions that change a ratio and are not the same. */
static void print_conditions(FILE *out, const json_t *before, const json_t *after)
{
	static const char *const keys[] = {"layout",    "priority",          "hugepages",
	                                   "flight_ns", "flight_snap_bytes", NULL};

	for (const char *const *key = keys; *key; key++) {
		const json_t *was = json_object_get(json_object_get(before, "machine"), *key);
		const json_t *is = json_object_get(json_object_get(after, "machine"), *key);
		char *was_text = json_dumps(was, JSON_ENCODE_ANY);
		char *is_text = json_dumps(is, JSON_ENCODE_ANY);

		if (was != is && !json_equal(was, is))
			fprintf(out, "\nnot measured alike: %s was %s, and is %s now", *key,
			        was_text ? was_text : "not there", is_text ? is_text : "not there");
		free(was_text);
		free(is_text);
	}
}

int bench_compare_print(FILE *out, const json_t *before, const json_t *after, double bound)
{
	static const char *const verdicts[] = {"", "better", "WORSE", "missing now", "new"};
	static struct bench_comparison comparisons[ROWS_MAX];
	size_t n = bench_compare(before, after, bound, comparisons, ROWS_MAX);
	struct table *table = table_make("lrrrl");
	int worse = 0;

	if (!table)
		return -ENOMEM;
	table_text(table, "figure (higher is better)");
	table_text(table, "before");
	table_text(table, "now");
	table_text(table, "change");
	table_text(table, "");
	for (size_t i = 0; i < n; i++) {
		const struct bench_comparison *c = &comparisons[i];

		table_text(table, c->name);
		figure_cell(table, c->verdict != BENCH_NEW, c->before, c->before_min,
		            c->before_max);
		figure_cell(table, c->verdict != BENCH_GONE, c->after, c->after_min, c->after_max);
		if (c->verdict == BENCH_NEW || c->verdict == BENCH_GONE || c->before <= 0)
			table_text(table, "");
		else
			table_format(table, "%+.1f %%", (c->after / c->before - 1) * 100);
		table_text(table, verdicts[c->verdict]);
		worse += c->verdict == BENCH_WORSE;
	}
	table_print(table, out);
	table_free(table);
	print_conditions(out, before, after);
	fprintf(out,
	        "\n%d of %zu figures are worse by more than %.0f %%, beyond the spread of their "
	        "runs\n",
	        worse, n, bound * 100);
	return worse;
}

json_t *bench_document_load(const char *path, struct problem *problem)
{
	json_error_t error;
	json_t *document = json_load_file(path, 0, &error);

	if (!document) {
		if (error.line < 0)
			problem_set(problem, -1, "%s", error.text);
		else
			problem_set(problem, -1,
			            "%s:%d:%d: %s; expected a file written by weir bench -j", path,
			            error.line, error.column, error.text);
		return NULL;
	}
	if (json_is_array(json_object_get(document, "rows")))
		return document;
	problem_set(problem, -1, "%s: has no \"rows\"; expected a file written by weir bench -j",
	            path);
	json_decref(document);
	return NULL;
}
