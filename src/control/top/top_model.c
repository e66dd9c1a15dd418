/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures/figures.h"

const char *const top_sort_names[TOP_SORTS] = {"out", "in", "drops", "queue", "delay", "name"};

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* Copies a name or text without its control characters, which would act on the terminal. */
static void copy_plain(char *to, size_t room, const char *from)
{
	snprintf(to, room, "%s", from != NULL ? from : "");
	for (char *c = to; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7F)
			*c = '?';
}

/* ---- events ---- */

static void take_event(struct top_model *model, const json_t *event)
{
	const char *kind = json_string_value(json_object_get(event, "event"));
	const char *of = json_string_value(json_object_get(event, "kind"));
	uint64_t at = model->n_events++ % TOP_EVENTS;
	uint64_t wall_s = (uint64_t)(number(event, "wall_ns") / 1e9);
	char text[TOP_EVENT_BYTES];

	copy_plain(text, sizeof(text), json_string_value(json_object_get(event, "text")));
	model->events[at].real = strcmp(kind, "real-loss") == 0 || strcmp(kind, "stall") == 0 ||
	                         (of != NULL && strcmp(of, "real") == 0);
	snprintf(model->events[at].text, TOP_EVENT_BYTES, "%02u:%02u:%02u %s: %.280s",
	         (unsigned)(wall_s / 3600 % 24), (unsigned)(wall_s / 60 % 60),
	         (unsigned)(wall_s % 60), kind, text);
}

/* ---- samples ---- */

/* Returns the history of the cloud. A new one replaces the history that has not been used for
 * longest. */
static struct top_history *history_of(struct top_model *model, const char *cloud)
{
	struct top_history *oldest = &model->histories[0];

	for (uint32_t i = 0; i < TOP_HISTORIES; i++) {
		struct top_history *history = &model->histories[i];

		if (history->seen > 0 && strcmp(history->cloud, cloud) == 0)
			return history;
		if (history->seen < oldest->seen)
			oldest = history;
	}
	memset(oldest, 0, sizeof(*oldest));
	snprintf(oldest->cloud, sizeof(oldest->cloud), "%s", cloud);
	return oldest;
}

static void remember(struct top_model *model, const json_t *row)
{
	char name[TOP_NAME_BYTES];
	struct top_history *history;

	copy_plain(name, sizeof(name), json_string_value(json_object_get(row, "cloud")));
	history = history_of(model, name);
	history->seen = model->n_samples;
	memmove(history->queue, history->queue + 1, sizeof(history->queue) - sizeof(float));
	memmove(history->out, history->out + 1, sizeof(history->out) - sizeof(float));
	history->queue[TOP_HISTORY - 1] = (float)number(row, "queue_bytes");
	history->out[TOP_HISTORY - 1] = (float)(figures_rate(row, model->seconds).out_bps / 8);
}

static void add_row(struct top_model *model, const json_t *from)
{
	struct top_row *row = &model->rows[model->n_rows];
	const json_t *delay = json_object_get(from, "delay_ns");
	const struct figures_rate rate = figures_rate(from, model->seconds);
	double s = model->seconds;

	if (model->n_rows == TOP_ROWS)
		return;
	copy_plain(row->name, sizeof(row->name), json_string_value(json_object_get(from, "cloud")));
	if (strstr(row->name, model->filter) == NULL)
		return;
	row->clouds = number(from, "clouds");
	row->in_bps = rate.in_bps;
	row->out_bps = rate.out_bps;
	row->out_pps = rate.out_pps;
	row->emulated = number(from, "emulated") / s;
	row->congestion = number(from, "congestion") / s;
	row->real = number(from, "real") / s;
	row->queue_bytes = number(from, "queue_bytes");
	row->delay_p50 = number(delay, "count") > 0 ? number(delay, "p50") : -1;
	row->history = history_of(model, row->name);
	model->n_rows++;
}

static double key_of(const struct top_row *row, enum top_sort sort)
{
	switch (sort) {
	case TOP_BY_OUT:
		return row->out_bps;
	case TOP_BY_IN:
		return row->in_bps;
	case TOP_BY_DROPS:
		return row->emulated + row->congestion + 1e9 * row->real;
	case TOP_BY_QUEUE:
		return row->queue_bytes;
	case TOP_BY_DELAY:
		return row->delay_p50;
	default:
		return 0;
	}
}

static int compare(const void *a, const void *b, void *model)
{
	const struct top_row *x = a, *y = b;
	enum top_sort sort = ((const struct top_model *)model)->sort;
	double m = key_of(x, sort), n = key_of(y, sort);

	if (m != n)
		return m > n ? -1 : 1;
	return strcmp(x->name, y->name);
}

void top_model_arrange(struct top_model *model)
{
	const json_t *row;
	size_t i;

	model->n_rows = 0;
	json_array_foreach(json_object_get(model->sample, "templates"), i, row) add_row(model, row);
	json_array_foreach(json_object_get(model->sample, "clouds"), i, row) add_row(model, row);
	qsort_r(model->rows, model->n_rows, sizeof(model->rows[0]), compare, model);
}

static void take_sample(struct top_model *model, const json_t *sample)
{
	const json_t *row;
	size_t i;

	if (model->paused || number(sample, "for_ns") <= 0)
		return;
	json_decref(model->sample);
	model->sample = json_deep_copy(sample);
	model->seconds = number(sample, "for_ns") / 1e9;
	model->n_samples++;
	json_array_foreach(json_object_get(sample, "templates"), i, row) remember(model, row);
	json_array_foreach(json_object_get(sample, "clouds"), i, row) remember(model, row);
	top_model_arrange(model);
}

void top_model_take(struct top_model *model, const json_t *object)
{
	if (json_object_get(object, "sample") != NULL)
		take_sample(model, object);
	else if (json_is_string(json_object_get(object, "event")))
		take_event(model, object);
}

void top_model_release(struct top_model *model)
{
	json_decref(model->sample);
	model->sample = NULL;
}
