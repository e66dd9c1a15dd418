/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "text/table.h"

#define ROWS_MAX 512

bool bench_compare_figure(const json_t *row, char name[160], struct bench_ratio *ratio)
{
	double relative = bench_number(row, "relative"), mpps = bench_number(row, "mpps");

	if (bench_is(row, "cost")) {
		snprintf(name, 160, "cost %s %s %s", bench_text(row, "scenario"),
		         bench_text(row, "ports"), bench_text(row, "frames"));
		ratio->median = ratio->min = ratio->max = bench_number(row, "ratio");
		if (json_object_get(row, "ratio_min"))
			ratio->min = bench_number(row, "ratio_min");
		if (json_object_get(row, "ratio_max"))
			ratio->max = bench_number(row, "ratio_max");
		return true;
	}
	/* A depth is named by the configured number of packets, since the number actually in flight
	 * differs a little from run to run. */
	if (bench_is(row, "clouds"))
		snprintf(name, 160, "clouds %.0f", bench_number(row, "clouds"));
	else if (bench_is(row, "depth"))
		snprintf(name, 160, "depth %.0f", bench_number(row, "depth"));
	else
		return false;
	if (relative <= 0 || mpps <= 0)
		return false;
	/* The inverse of the cost relative to the first row, so that higher is better. */
	ratio->median = 1 / relative;
	ratio->min = ratio->median * bench_number(row, "mpps_min") / mpps;
	ratio->max = ratio->median * bench_number(row, "mpps_max") / mpps;
	return true;
}

/* Gets the ratio of the row of that name. Returns false if there is none. */
static bool find(const json_t *document, const char *name, struct bench_ratio *ratio)
{
	char other[160];
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(document, "rows"), i, row)
	{
		if (bench_compare_figure(row, other, ratio) && strcmp(other, name) == 0)
			return true;
	}
	*ratio = (struct bench_ratio){0};
	return false;
}

static enum bench_verdict judge(const struct bench_comparison *c, double bound)
{
	if (c->after.median < c->before.median * (1 - bound) && c->after.max < c->before.min)
		return BENCH_WORSE;
	if (c->after.median > c->before.median * (1 + bound) && c->after.min > c->before.max)
		return BENCH_BETTER;
	return BENCH_SAME;
}

size_t bench_compare(const json_t *before, const json_t *after, double bound,
                     struct bench_comparison *comparisons, size_t room)
{
	size_t n = 0, i;
	json_t *row;

	json_array_foreach(json_object_get(before, "rows"), i, row)
	{
		struct bench_comparison *c = &comparisons[n];

		if (n == room || !bench_compare_figure(row, c->name, &c->before))
			continue;
		c->verdict = find(after, c->name, &c->after) ? judge(c, bound) : BENCH_GONE;
		n++;
	}
	json_array_foreach(json_object_get(after, "rows"), i, row)
	{
		struct bench_comparison *c = &comparisons[n];

		if (n == room || !bench_compare_figure(row, c->name, &c->after) ||
		    find(before, c->name, &c->before))
			continue;
		c->verdict = BENCH_NEW;
		n++;
	}
	return n;
}

static void ratio_cell(struct table *table, bool there, const struct bench_ratio *ratio)
{
	if (there)
		table_format(table, "%.3f (%.3f to %.3f)", ratio->median, ratio->min, ratio->max);
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
	table_texts(table, "figure (higher is better)", "before", "now", "change", "", NULL);
	for (size_t i = 0; i < n; i++) {
		const struct bench_comparison *c = &comparisons[i];
		bool both = c->verdict != BENCH_NEW && c->verdict != BENCH_GONE;

		table_text(table, c->name);
		ratio_cell(table, c->verdict != BENCH_NEW, &c->before);
		ratio_cell(table, c->verdict != BENCH_GONE, &c->after);
		if (both && c->before.median > 0)
			table_format(table, "%+.1f %%",
			             (c->after.median / c->before.median - 1) * 100);
		else
			table_text(table, "");
		table_text(table, verdicts[c->verdict]);
		worse += c->verdict == BENCH_WORSE;
	}
	table_end(table, out);
	print_conditions(out, before, after);
	fprintf(out,
	        "\n%d of %zu figures are worse by more than %.0f %%, beyond the spread of their "
	        "runs\n",
	        worse, n, bound * 100);
	return worse;
}
