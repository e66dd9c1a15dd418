/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/reason.h"
#include "figures/figures.h"
#include "simtime.h"
#include "text/alloc_failure.h"

/*
 * Metrics as text, in two forms that differ little: OpenMetrics 1.0, and the older text format
 * 0.0.4 of Prometheus, in which a counter's family has the name of its samples, and no line marks
 * the end.
 */
struct exposition {
	FILE *out;
	bool openmetrics;
	const char *family;
	enum figure_kind kind;
};

#define NUMBER_BYTES 40

/* Begins a family, to which the samples that follow belong. `name` without `_total`. */
static void exposition_family(struct exposition *exposition, const char *name,
                              enum figure_kind kind, const char *help)
{
	const char *end = kind == FIGURE_COUNTER && !exposition->openmetrics ? "_total" : "";

	exposition->family = name;
	exposition->kind = kind;
	fprintf(exposition->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name, end,
	        figure_kind_names[kind]);
}

/* Prints a number of the figures in the unit of metrics: seconds, or bytes per second. */
static void print_number(char text[NUMBER_BYTES], enum figure_unit unit, uint64_t value)
{
	if (unit == FIGURE_NS)
		snprintf(text, NUMBER_BYTES, "%" PRIu64 ".%09" PRIu64, value / SIMTIME_S,
		         value % SIMTIME_S);
	else
		snprintf(text, NUMBER_BYTES, "%" PRIu64, unit == FIGURE_BPS ? value / 8 : value);
}

/* Prints a sample of the family. `end`: of its name, or NULL: as the kind has it. `labels`: made by
 * exposition_label, without braces; "": none. */
static void put_sample(struct exposition *exposition, const char *end, const char *labels,
                       enum figure_unit unit, uint64_t value)
{
	char text[NUMBER_BYTES];

	if (end == NULL)
		end = exposition->kind == FIGURE_COUNTER ? "_total" : "";
	print_number(text, unit, value);
	fprintf(exposition->out, "%s%s%s%s%s %s\n", exposition->family, end, labels[0] ? "{" : "",
	        labels, labels[0] ? "}" : "", text);
}

static void put_count(struct exposition *exposition, const char *labels, uint64_t value)
{
	put_sample(exposition, NULL, labels, FIGURE_PLAIN, value);
}

void exposition_label(char *labels, size_t room, const char *name, const char *value)
{
	size_t at = strlen(labels);
	int n = snprintf(labels + at, room - at, "%s%s=\"", at > 0 ? "," : "", name);

	/* A label that does not fit completely is left out. */
	if (n < 0 || at + (size_t)n + 2 > room) {
		labels[at] = '\0';
		return;
	}
	for (size_t to = at + (size_t)n;; value++) {
		bool escaped = *value == '"' || *value == '\\' || *value == '\n';

		if (to + escaped + 3 > room) {
			labels[at] = '\0';
			return;
		}
		if (*value == '\0') {
			strcpy(labels + to, "\"");
			return;
		}
		if (escaped)
			labels[to++] = '\\';
		labels[to++] = *value == '\n' ? 'n' : *value;
	}
}

#define LABELS_BYTES 256
#define REST         "(rest)"

static uint64_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_true(value) ? 1 : (uint64_t)json_integer_value(value);
}

/* Appends a label with the value of this key. */
static void label(char labels[LABELS_BYTES], const json_t *element, const char *key,
                  const char *otherwise)
{
	const json_t *value = json_object_get(element, key);
	char digits[24];

	snprintf(digits, sizeof(digits), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	exposition_label(labels, LABELS_BYTES, key,
	                 json_is_string(value)    ? json_string_value(value)
	                 : json_is_integer(value) ? digits
	                                          : otherwise);
}

static void make_labels(enum figure_scope scope, const json_t *element, char labels[LABELS_BYTES])
{
	labels[0] = '\0';
	if (scope == FIGURE_PORT) {
		label(labels, element, "port", "");
	} else if (scope == FIGURE_CLOUD) {
		label(labels, element, "cloud", REST);
	} else if (scope == FIGURE_WORKER) {
		label(labels, element, "worker", "0");
		label(labels, element, "cpu", "0");
		label(labels, element, "role", "");
	}
}

static void put_family(struct exposition *exposition, const struct figure *figure)
{
	exposition_family(exposition, figure->metric, figure->kind, figure->help);
}

/* Prints a family of the elements of an array. A figure that an element may lack has no family if
 * all lack it: a family must have samples. */
static void put_figure(struct exposition *exposition, enum figure_scope scope,
                       const struct figure *figure, const json_t *array)
{
	bool begun = figure->there == NULL;
	char labels[LABELS_BYTES];
	const json_t *each;
	size_t i;

	if (begun)
		put_family(exposition, figure);
	json_array_foreach(array, i, each)
	{
		const json_t *inner =
		        figure->object != NULL ? json_object_get(each, figure->object) : each;
		uint64_t value = number(inner, figure->name);

		if (figure->there != NULL && json_object_get(inner, figure->name) == NULL)
			continue;
		if (!begun)
			put_family(exposition, figure);
		begun = true;
		make_labels(scope, each, labels);
		put_sample(exposition, NULL, labels, figure->unit, value);
	}
}

/* Prints the metrics of this kind. `some`: those that an element may lack. */
static void put_figures(struct exposition *exposition, enum figure_scope scope,
                        enum figure_kind kind, bool some, const json_t *array)
{
	for (const struct figure *f = NULL; (f = figure_next(scope, 0, NULL, f));)
		if (f->metric != NULL && f->kind == kind && (f->there != NULL) == some &&
		    f->loss == NULL && f->type != FIGURE_DROPS)
			put_figure(exposition, scope, f, array);
}

/* ---- histograms ---- */

/* Returns the greatest value of a bucket: two an octave, which end at 1.5 times a power of two and
 * at a power of two, less one nanosecond, which belongs to the next bucket. */
static uint64_t bound(uint32_t i)
{
	uint64_t octave = UINT64_C(1) << (i / 2 + 1);

	return (i % 2 == 0 ? octave : octave / 2 * 3) - 1;
}

static void put_histogram(struct exposition *exposition, const char labels[LABELS_BYTES],
                          const json_t *histogram, uint32_t from, uint32_t to)
{
	char bucket[LABELS_BYTES + NUMBER_BYTES], text[NUMBER_BYTES];
	const json_t *buckets = json_object_get(histogram, "buckets");
	size_t n = json_array_size(buckets), at = 0;
	uint64_t count = 0;

	for (uint32_t i = from; i <= to; i++) {
		uint64_t top = i < to ? bound(i) : UINT64_MAX;

		for (; at < n; at++) {
			const json_t *pair = json_array_get(buckets, at);

			if ((uint64_t)json_integer_value(json_array_get(pair, 0)) > top)
				break;
			count += (uint64_t)json_integer_value(json_array_get(pair, 1));
		}
		strcpy(text, "+Inf");
		if (i < to)
			print_number(text, FIGURE_NS, top);
		strcpy(bucket, labels);
		exposition_label(bucket, sizeof(bucket), "le", text);
		put_sample(exposition, "_bucket", bucket, FIGURE_PLAIN, count);
	}
	put_sample(exposition, "_sum", labels, FIGURE_NS, number(histogram, "sum_ns"));
	put_sample(exposition, "_count", labels, FIGURE_PLAIN, count);
}

/* 1 us to 103 s, and 63 ns to 1.6 s; the end is exclusive. */
enum { DELAY_FROM = 18, DELAY_TO = 72, LATE_FROM = 10, LATE_TO = 60 };

static void put_histograms(struct exposition *exposition, enum figure_scope scope,
                           const json_t *array, uint32_t from, uint32_t to)
{
	char labels[LABELS_BYTES];
	const json_t *each;
	size_t i;

	for (const struct figure *f = NULL; (f = figure_next(scope, 0, NULL, f));) {
		if (f->metric == NULL || f->kind != FIGURE_HISTOGRAM)
			continue;
		put_family(exposition, f);
		json_array_foreach(array, i, each)
		{
			const json_t *histogram = json_object_get(each, f->name);

			make_labels(scope, each, labels);
			if (histogram != NULL)
				put_histogram(exposition, labels, histogram, from, to);
		}
	}
}

/* ---- losses ---- */

static const char *kind_of(const char *name, bool *real)
{
	*real = true; /* also if a newer weir has added it */
	for (int i = 0; i < REASON_COUNT; i++) {
		if (strcmp(name, reason_name((enum reason)i)) != 0)
			continue;
		*real = reason_kind((enum reason)i) == REASON_REAL;
		return reason_kind_name(reason_kind((enum reason)i));
	}
	return "unknown";
}

/* Prints the drops of a cloud by reason. */
static void put_drops_of(struct exposition *exposition, const json_t *cloud, const char *key)
{
	char labels[LABELS_BYTES];
	const char *reason;
	json_t *value;

	json_object_foreach(json_object_get(cloud, key), reason, value)
	{
		bool real;
		const char *kind = kind_of(reason, &real);

		if (!real && json_integer_value(value) == 0)
			continue;
		make_labels(FIGURE_CLOUD, cloud, labels);
		exposition_label(labels, sizeof(labels), "reason", reason);
		exposition_label(labels, sizeof(labels), "kind", kind);
		put_count(exposition, labels, (uint64_t)json_integer_value(value));
	}
}

static void put_drops(struct exposition *exposition, const json_t *clouds)
{
	const json_t *cloud;
	size_t i;

	for (const struct figure *f = NULL; (f = figure_next(FIGURE_CLOUD, 0, NULL, f));) {
		if (f->type != FIGURE_DROPS)
			continue;
		put_family(exposition, f);
		json_array_foreach(clouds, i, cloud) put_drops_of(exposition, cloud, f->name);
	}
}

static void put_port_losses(struct exposition *exposition, const json_t *ports)
{
	const struct figure *first = figure_next(FIGURE_PORT, FIGURE_LOST, NULL, NULL);
	char labels[LABELS_BYTES];
	const json_t *port;
	size_t i;

	exposition_family(exposition, first->metric, FIGURE_COUNTER,
	                  "Packets that weir itself lost at the port, against the scenario.");
	json_array_foreach(ports, i, port)
	{
		for (const struct figure *f = first; f;
		     f = figure_next(FIGURE_PORT, FIGURE_LOST, NULL, f)) {
			make_labels(FIGURE_PORT, port, labels);
			exposition_label(labels, sizeof(labels), "reason", f->loss);
			exposition_label(labels, sizeof(labels), "kind", "real");
			put_count(exposition, labels, number(port, f->name));
		}
	}
}

/* ---- all ---- */

static void put_info(struct exposition *exposition, const json_t *totals, const json_t *hello)
{
	const char *version = json_string_value(json_object_get(hello, "weir"));
	const char *run = json_string_value(json_object_get(totals, "run"));
	char labels[LABELS_BYTES] = "";

	exposition_label(labels, sizeof(labels), "version", version != NULL ? version : "");
	exposition_label(labels, sizeof(labels), "run", run != NULL ? run : "");
	exposition_family(exposition, "weir_run_info", FIGURE_GAUGE,
	                  "Version and run of this weir; each run has a name of its own.");
	put_count(exposition, labels, 1);
}

static void put_totals(struct exposition *exposition, const json_t *totals, const json_t *hello,
                       const json_t *clouds)
{
	const json_t *ports = json_object_get(totals, "ports");
	const json_t *workers = json_object_get(totals, "workers");
	json_t *run = json_pack("[O]", totals);

	put_info(exposition, totals, hello);
	put_figures(exposition, FIGURE_RUN, FIGURE_GAUGE, false, run);
	put_figures(exposition, FIGURE_PORT, FIGURE_COUNTER, false, ports);
	put_figures(exposition, FIGURE_PORT, FIGURE_GAUGE, false, ports);
	put_port_losses(exposition, ports);
	put_histograms(exposition, FIGURE_PORT, ports, LATE_FROM, LATE_TO);
	put_figures(exposition, FIGURE_PORT, FIGURE_GAUGE, true, ports);
	put_figures(exposition, FIGURE_CLOUD, FIGURE_COUNTER, false, clouds);
	put_figures(exposition, FIGURE_CLOUD, FIGURE_GAUGE, false, clouds);
	put_drops(exposition, clouds);
	put_histograms(exposition, FIGURE_CLOUD, clouds, DELAY_FROM, DELAY_TO);
	put_figures(exposition, FIGURE_CLOUD, FIGURE_GAUGE, true, clouds);
	put_figures(exposition, FIGURE_WORKER, FIGURE_COUNTER, false, workers);
	put_figures(exposition, FIGURE_WORKER, FIGURE_GAUGE, false, workers);
	json_decref(run);
}

/* Returns the clouds, and the rest if there is one. */
static json_t *all_clouds(const json_t *totals)
{
	json_t *clouds = json_copy(json_object_get(totals, "clouds"));

	if (json_array_size(clouds) < number(totals, "clouds_in_all"))
		json_array_append(clouds, json_object_get(totals, "rest"));
	return clouds;
}

char *serve_metrics_text(const json_t *totals, const json_t *hello, bool openmetrics, size_t *n)
{
	struct exposition exposition = {.openmetrics = openmetrics};
	json_t *clouds = totals != NULL ? all_clouds(totals) : NULL;
	struct printed text;

	exposition.out = printed_begin(&text);
	exposition_family(&exposition, "weir_up", FIGURE_GAUGE,
	                  "1: weir answers; 0: it does not answer, and nothing else is known.");
	put_count(&exposition, "", totals != NULL);
	if (totals != NULL)
		put_totals(&exposition, totals, hello, clouds);
	if (exposition.openmetrics)
		fputs("# EOF\n", exposition.out);
	json_decref(clouds);
	printed_end(&text);
	*n = text.n;
	return text.bytes;
}

const char *serve_metrics_type(bool openmetrics)
{
	return openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
	                   : "text/plain; version=0.0.4; charset=utf-8";
}
