/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/sample_row.h"

#include <stdlib.h>
#include <string.h>

#include "engine/engine_report.h"
#include "show/view.h"

#define FRAME_BYTES 1000 /* weight of a drop */

bool sample_rows_make(struct sample_rows *rows, uint32_t most)
{
	*rows = (struct sample_rows){.most = most};
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

uint64_t sample_weight(const struct sample_row *row)
{
	const uint64_t *v = row->sums.v;

	return v[SAMPLE_RX_BYTES] + v[SAMPLE_TX_BYTES] +
	       FRAME_BYTES * (v[SAMPLE_EMULATED] + v[SAMPLE_CONGESTION] + v[SAMPLE_REAL]);
}

static void find_least(struct sample_rows *rows)
{
	rows->least = 0;
	for (uint32_t i = 1; i < rows->n; i++)
		if (sample_weight(&rows->row[i]) < sample_weight(&rows->row[rows->least]))
			rows->least = i;
}

void sample_rows_offer(struct sample_rows *rows, const struct sample_row *row)
{
	if (rows->n < rows->most) {
		rows->row[rows->n++] = *row;
		if (rows->n == rows->most)
			find_least(rows);
	} else if (sample_weight(row) > sample_weight(&rows->row[rows->least])) {
		rows->row[rows->least] = *row;
		find_least(rows);
	}
}

void sample_rows_template(struct sample_rows *rows, const struct sample_row *row)
{
	if (rows->n_templates < rows->most)
		rows->of_template[rows->n_templates++] = *row;
}

void sample_sums_since(struct sample_sums *since, struct sample_sums *seen,
                       const struct counters *now)
{
	static const int of_kind[] = {[REASON_EMULATED] = SAMPLE_EMULATED,
	                              [REASON_CONGESTION] = SAMPLE_CONGESTION,
	                              [REASON_REAL] = SAMPLE_REAL};
	struct sample_sums all = {
	        .v = {now->rx_packets, now->rx_bytes, now->tx_packets, now->tx_bytes}};
	bool anew = false;

	for (int i = 0; i < REASON_COUNT; i++)
		if (now->drops[i] > 0)
			all.v[of_kind[reason_kind((enum reason)i)]] += now->drops[i];
	for (int i = 0; i < SAMPLE_SUMS; i++)
		anew |= all.v[i] < seen->v[i];
	for (int i = 0; i < SAMPLE_SUMS; i++)
		since->v[i] = all.v[i] - (anew ? 0 : seen->v[i]);
	*seen = all;
}

void sample_sums_add(struct sample_sums *to, const struct sample_sums *from)
{
	for (int i = 0; i < SAMPLE_SUMS; i++)
		to->v[i] += from->v[i];
}

void sample_row_add(struct sample_row *to, const struct sample_row *from)
{
	sample_sums_add(&to->sums, &from->sums);
	to->held_packets += from->held_packets;
	to->queue_packets += from->queue_packets;
	to->queue_bytes += from->queue_bytes;
}

/* ---- JSON ---- */

static const char *const names[SAMPLE_SUMS] = {"rx_packets", "rx_bytes",   "tx_packets", "tx_bytes",
                                               "emulated",   "congestion", "real"};

static void put_sums(json_t *object, const struct sample_sums *sums)
{
	for (int i = 0; i < SAMPLE_SUMS; i++)
		json_object_set_new(object, names[i], json_integer((json_int_t)sums->v[i]));
}

json_t *sample_sums_json(const struct sample_sums *sums)
{
	json_t *object = json_object();

	put_sums(object, sums);
	return object;
}

json_t *sample_percentiles(const struct histogram *histogram)
{
	return json_pack("{s:I,s:I,s:I,s:I}", "count", (json_int_t)histogram->count, "p50",
	                 (json_int_t)histogram_percentile(histogram, 500000), "p99",
	                 (json_int_t)histogram_percentile(histogram, 990000), "max",
	                 (json_int_t)histogram->max);
}

static const struct sample_delays *delays_before(const struct sample_rows *rows, uint32_t cloud)
{
	for (uint32_t i = 0; i < rows->n_delays; i++)
		if (rows->delays[i].cloud == cloud)
			return &rows->delays[i];
	return NULL;
}

/* Returns the delays since the last sample; NULL if the cloud was not in it. */
static json_t *delays_since(const struct sample_rows *rows, struct control *control, uint32_t cloud,
                            struct sample_delays *now)
{
	const struct sample_delays *before = delays_before(rows, cloud);
	struct histogram *delays = malloc(sizeof(*delays));
	json_t *object = NULL;

	now->cloud = cloud;
	now->part = (struct histogram_part){.n = 0};
	if (delays != NULL &&
	    control->ops->delays(control->context, (*control->scenario)->clouds[cloud]->name,
	                         delays) &&
	    histogram_part_make(&now->part, delays) && before != NULL) {
		if (before->part.count <= delays->count)
			histogram_less(delays, &before->part);
		object = sample_percentiles(delays);
	}
	free(delays);
	return object;
}

static json_t *row_json(const struct sample_row *row, const char *name)
{
	json_t *object = json_pack("{s:s}", "cloud", name);

	put_sums(object, &row->sums);
	json_object_set_new(object, "held_packets", json_integer((json_int_t)row->held_packets));
	json_object_set_new(object, "queue_packets", json_integer((json_int_t)row->queue_packets));
	json_object_set_new(object, "queue_bytes", json_integer((json_int_t)row->queue_bytes));
	return object;
}

static int heavier(const void *a, const void *b)
{
	const struct sample_row *x = a, *y = b;
	uint64_t m = sample_weight(x), n = sample_weight(y);

	if (m != n)
		return m > n ? -1 : 1;
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
		object = row_json(row, name);
		if (!cloud->many) {
			json_t *delays = delays_since(rows, control, row->cloud, &now[n++]);

			if (delays != NULL)
				json_object_set_new(object, "delay_ns", delays);
		}
		json_array_append_new(*clouds, object);
	}
	for (uint32_t i = 0; now != NULL && i < rows->n_templates; i++) {
		const struct sample_row *row = &rows->of_template[i];
		json_t *object = row_json(row, scenario->clouds[row->cloud]->name);
		json_t *delays = delays_since(rows, control, row->cloud, &now[n++]);

		json_object_set_new(object, "clouds", json_integer(row->index));
		if (delays != NULL)
			json_object_set_new(object, "delay_ns", delays);
		json_array_append_new(*templates, object);
	}
	sample_rows_forget(rows);
	if (now != NULL) {
		free(rows->delays);
		rows->delays = now;
		rows->n_delays = n;
	}
}
