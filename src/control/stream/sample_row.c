/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/sample_row.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_report.h"
#include "show/view.h"
#include "units/human_unit.h"

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* Prints ` in 842 kbit/s 70/s out ...`: bits and packets a second. */
static void put_rates(FILE *out, const json_t *object, double seconds)
{
	fprintf(out, " in %s %.0f/s out %s %.0f/s",
	        human_of(HUMAN_BPS, number(object, "rx_bytes") / seconds * 8, 3).text,
	        number(object, "rx_packets") / seconds,
	        human_of(HUMAN_BPS, number(object, "tx_bytes") / seconds * 8, 3).text,
	        number(object, "tx_packets") / seconds);
}

static void put_time(FILE *out, const char *what, double ns)
{
	fprintf(out, " %s %s", what, human_of(HUMAN_NS, ns, 3).text);
}

static void print_port(FILE *out, const json_t *port, double seconds)
{
	const json_t *late = json_object_get(port, "lateness_ns");

	fprintf(out, "sample port %s", json_string_value(json_object_get(port, "port")));
	put_rates(out, port, seconds);
	put_time(out, "late p50", number(late, "p50"));
	put_time(out, "p99", number(late, "p99"));
	put_time(out, "max", number(late, "max"));
	fprintf(out, " lost %.0f%s\n", number(port, "lost"),
	        json_is_true(json_object_get(port, "link_up")) ? "" : " link down");
}

static void print_cloud(FILE *out, const char *what, const json_t *cloud, double seconds)
{
	const json_t *delay = json_object_get(cloud, "delay_ns");

	fprintf(out, "sample %s %s", what, json_string_value(json_object_get(cloud, "cloud")));
	put_rates(out, cloud, seconds);
	fprintf(out, " drops emulated %.0f congestion %.0f real %.0f queue %s",
	        number(cloud, "emulated"), number(cloud, "congestion"), number(cloud, "real"),
	        human_of(HUMAN_BYTES, number(cloud, "queue_bytes"), 3).text);
	if (delay != NULL && number(delay, "count") > 0) {
		put_time(out, "delay p50", number(delay, "p50"));
		put_time(out, "p99", number(delay, "p99"));
	}
	fputc('\n', out);
}

static void print_worker(FILE *out, const json_t *worker)
{
	double polls = number(worker, "polls");

	fprintf(out, "sample worker %.0f %s busy %.1f%% holds %.0f memory %s of %s\n",
	        number(worker, "worker"), json_string_value(json_object_get(worker, "role")),
	        polls > 0 ? number(worker, "busy_polls") / polls * 100 : 0,
	        number(worker, "held_packets"),
	        human_of(HUMAN_BYTES, number(worker, "memory_used_bytes"), 3).text,
	        human_of(HUMAN_BYTES, number(worker, "memory_bytes"), 3).text);
}

void sample_print(FILE *out, const json_t *sample)
{
	double seconds = number(sample, "for_ns") / 1e9;
	const json_t *each;
	size_t i;

	fprintf(out, "sample +%.3fs of %.3f s, %.0f clouds, %.0f busy\n",
	        number(sample, "t_ns") / 1e9, seconds, number(sample, "clouds_in_all"),
	        number(sample, "clouds_busy"));
	if (seconds <= 0)
		return;
	json_array_foreach(json_object_get(sample, "ports"), i, each)
	        print_port(out, each, seconds);
	json_array_foreach(json_object_get(sample, "templates"), i, each)
	        print_cloud(out, "clouds", each, seconds);
	json_array_foreach(json_object_get(sample, "clouds"), i, each)
	        print_cloud(out, "cloud", each, seconds);
	json_array_foreach(json_object_get(sample, "workers"), i, each) print_worker(out, each);
}

#define FRAME_BYTES 1000 /* weight of a drop */

static void figures_find(struct sample_figures *figures)
{
	const struct figure *f = NULL;

	while ((f = figure_next(FIGURE_CLOUD, FIGURE_GROWTH, NULL, f))) {
		assert(figures->n < SAMPLE_COUNTERS_MAX && f->type == FIGURE_COUNT);
		figures->weight[figures->n] = f->loss != NULL           ? FRAME_BYTES
		                              : f->unit == FIGURE_BYTES ? 1
		                                                        : 0;
		figures->figure[figures->n++] = f;
	}
	figures->n_counters = figures->n;
	while ((f = figure_next(FIGURE_CLOUD, FIGURE_SAMPLE, NULL, f))) {
		assert(figures->n < SAMPLE_FIGURES_MAX && f->type == FIGURE_COUNT);
		figures->figure[figures->n++] = f;
	}
}

bool sample_rows_make(struct sample_rows *rows, uint32_t most)
{
	*rows = (struct sample_rows){.most = most};
	figures_find(&rows->figures);
	rows->row = calloc(most, sizeof(*rows->row));
	rows->of_template = calloc(most, sizeof(*rows->of_template));
	rows->delays = calloc(2 * (size_t)most, sizeof(*rows->delays));
	if (rows->row != NULL && rows->of_template != NULL && rows->delays != NULL)
		return true;
	sample_rows_release(rows);
	return false;
}

void sample_rows_forget(struct sample_rows *rows)
{
	while (rows->n_delays > 0)
		histogram_part_free(&rows->delays[--rows->n_delays].part);
}

void sample_rows_release(struct sample_rows *rows)
{
	sample_rows_forget(rows);
	free(rows->row);
	free(rows->of_template);
	free(rows->delays);
	*rows = (struct sample_rows){.row = NULL};
}

void sample_rows_clear(struct sample_rows *rows)
{
	rows->n = rows->n_templates = rows->least = 0;
}

static void find_least(struct sample_rows *rows)
{
	rows->least = 0;
	for (uint32_t i = 1; i < rows->n; i++)
		if (rows->row[i].weight < rows->row[rows->least].weight)
			rows->least = i;
}

void sample_rows_offer(struct sample_rows *rows, const struct sample_row *row)
{
	if (rows->n < rows->most)
		rows->row[rows->n++] = *row;
	else if (row->weight > rows->row[rows->least].weight)
		rows->row[rows->least] = *row;
	else
		return;
	if (rows->n == rows->most)
		find_least(rows);
}

void sample_rows_template(struct sample_rows *rows, const struct sample_row *row)
{
	if (rows->n_templates < rows->most)
		rows->of_template[rows->n_templates++] = *row;
}

/* Like figure_read, but inline: a pass reads ten figures of each of 65,536 clouds. */
static inline uint64_t value_of(const struct figure *figure, const struct cloud_brief *brief)
{
	if (figure->get != NULL)
		return figure->get(brief).count;
	return *(const uint64_t *)(const void *)((const char *)brief + figure->offset);
}

void sample_row_read(const struct sample_figures *figures, struct sample_row *row,
                     const struct cloud_brief *brief, uint64_t seen[SAMPLE_COUNTERS_MAX])
{
	bool anew = false;

	for (uint32_t i = 0; i < figures->n; i++)
		row->v[i] = value_of(figures->figure[i], brief);
	for (uint32_t i = 0; i < figures->n_counters && seen != NULL; i++)
		anew |= row->v[i] < seen[i];
	for (uint32_t i = 0; i < figures->n_counters; i++) {
		uint64_t now = row->v[i];

		row->v[i] -= seen == NULL ? now : anew ? 0 : seen[i];
		row->weight += figures->weight[i] * row->v[i];
		if (seen != NULL)
			seen[i] = now;
	}
}

void sample_row_add(const struct sample_figures *figures, struct sample_row *to,
                    const struct sample_row *from)
{
	for (uint32_t i = 0; i < figures->n; i++)
		to->v[i] += from->v[i];
}

/* ---- JSON ---- */

void sample_row_put(const struct sample_figures *figures, json_t *object,
                    const struct sample_row *row, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		json_object_set_new(object, figures->figure[i]->name,
		                    json_integer((json_int_t)row->v[i]));
}

json_t *sample_percentiles(const struct histogram *histogram)
{
	return json_pack("{s:I,s:I,s:I,s:I}", "count", (json_int_t)histogram->count, "p50",
	                 (json_int_t)histogram_percentile(histogram, 500000), "p99",
	                 (json_int_t)histogram_percentile(histogram, 990000), "max",
	                 (json_int_t)histogram->max);
}

/* Returns the delays since the last sample; NULL, which no object gets, if the cloud was not in
 * it. */
static json_t *delays_since(const struct sample_rows *rows, struct control *control, uint32_t cloud,
                            struct sample_delays *now)
{
	const struct sample_delays *before = rows->delays, *end = before + rows->n_delays;
	struct histogram *delays = malloc(sizeof(*delays));
	json_t *object = NULL;

	while (before < end && before->cloud != cloud)
		before++;
	now->cloud = cloud;
	now->part = (struct histogram_part){.n = 0};
	if (delays != NULL &&
	    control->ops->delays(control->context, (*control->scenario)->clouds[cloud]->name,
	                         delays) &&
	    histogram_part_make(&now->part, delays) && before < end) {
		if (before->part.count <= delays->count)
			histogram_less(delays, &before->part);
		object = sample_percentiles(delays);
	}
	free(delays);
	return object;
}

static json_t *row_json(const struct sample_figures *figures, const struct sample_row *row,
                        const char *name)
{
	json_t *object = json_pack("{s:s}", "cloud", name);

	sample_row_put(figures, object, row, figures->n);
	return object;
}

static int heavier(const void *a, const void *b)
{
	const struct sample_row *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->cloud != y->cloud)
		return x->cloud < y->cloud ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

void sample_rows_json(struct sample_rows *rows, struct control *control, json_t **clouds,
                      json_t **templates)
{
	const struct scenario *scenario = *control->scenario;
	struct sample_delays *now = calloc(2 * (size_t)rows->most, sizeof(*now));
	uint32_t n = 0;

	*clouds = json_array();
	*templates = json_array();
	if (rows->n > 0)
		qsort(rows->row, rows->n, sizeof(*rows->row), heavier);
	for (uint32_t i = 0; now != NULL && i < rows->n; i++) {
		const struct sample_row *row = &rows->row[i];
		const struct cloud_conf *cloud = scenario->clouds[row->cloud];
		char name[VIEW_NAME_BYTES];
		json_t *object;

		if (!control->ops->brief_name(control->context, cloud->name, row->index, name,
		                              sizeof(name)))
			continue;
		object = row_json(&rows->figures, row, name);
		if (!cloud->many)
			json_object_set_new(object, "delay_ns",
			                    delays_since(rows, control, row->cloud, &now[n++]));
		json_array_append_new(*clouds, object);
	}
	for (uint32_t i = 0; now != NULL && i < rows->n_templates; i++) {
		const struct sample_row *row = &rows->of_template[i];
		json_t *object = row_json(&rows->figures, row, scenario->clouds[row->cloud]->name);

		json_object_set_new(object, "clouds", json_integer(row->index));
		json_object_set_new(object, "delay_ns",
		                    delays_since(rows, control, row->cloud, &now[n++]));
		json_array_append_new(*templates, object);
	}
	sample_rows_forget(rows);
	if (now != NULL) {
		free(rows->delays);
		rows->delays = now;
		rows->n_delays = n;
	}
}
