/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "account/reason.h"
#include "serve/serve_exposition.h"

#define LABELS_BYTES 256
#define REST         "(rest)"

/* A member of an object, and the family for it. */
struct row {
	const char *family, *key, *help;
	enum exposition_type type;
	enum row_of { ROW_COUNT, ROW_NS, ROW_BITS } of; /* the unit of the member */
};

static const struct row port_rows[] = {
        {"weir_port_received_packets", "rx_packets", "Packets that came in at the port.", 0, 0},
        {"weir_port_received_bytes", "rx_bytes", "Bytes that came in at the port.", 0, 0},
        {"weir_port_sent_packets", "tx_packets", "Packets that left at the port.", 0, 0},
        {"weir_port_sent_bytes", "tx_bytes", "Bytes that left at the port.", 0, 0},
        {"weir_port_no_cloud_packets", "no_cloud", "Packets that came in where no cloud starts.", 0,
         0},
        {"weir_port_untouched_packets", "untouched", "Packets that passed untouched.", 0, 0},
        {"weir_port_before_start_packets", "before_start", "Packets from before the start.", 0, 0},
        {"weir_port_link_up", "link_up", "1: the link is up.", EXPOSITION_GAUGE, 0},
        {"weir_port_link_bytes_per_second", "link_bps", "Capacity of the link; 0: not known.",
         EXPOSITION_GAUGE, ROW_BITS},
};

static const struct row late_rows[] = {
        {"weir_port_lateness_max_seconds", "max_ns", "The greatest lateness since counting began.",
         EXPOSITION_GAUGE, ROW_NS},
};

/* Losses that the scenario does not intend, and the names of their reasons. */
static const struct {
	const char *key, *reason;
} port_losses[] = {{"rx_missed", "rx-missed"},
                   {"rx_no_mbuf", "no-mbuf"},
                   {"tx_full", "tx-full"},
                   {"not_sent", "not-sent"},
                   {"not_written", "not-written"}};

static const struct row cloud_rows[] = {
        {"weir_cloud_received_packets", "rx_packets", "Packets that entered the cloud.", 0, 0},
        {"weir_cloud_received_bytes", "rx_bytes", "Bytes that entered the cloud.", 0, 0},
        {"weir_cloud_sent_packets", "tx_packets", "Packets that left the cloud.", 0, 0},
        {"weir_cloud_sent_bytes", "tx_bytes", "Bytes that left the cloud.", 0, 0},
        {"weir_cloud_duplicated_packets", "duplicated", "Copies that the cloud made.", 0, 0},
        {"weir_cloud_generated_packets", "generated", "Packets of the cloud's own, like ICMP.", 0,
         0},
        {"weir_cloud_reordered_packets", "reordered", "Packets that overtook others.", 0, 0},
        {"weir_cloud_corrupted_packets", "corrupted", "Packets with errors written in.", 0, 0},
        {"weir_cloud_marked_packets", "ecn_marked", "Packets marked CE.", 0, 0},
        {"weir_cloud_held_packets", "held_packets", "Packets in the cloud now.", EXPOSITION_GAUGE,
         0},
};

static const struct row queue_rows[] = {
        {"weir_cloud_queue_packets", "packets", "Packets that wait now.", EXPOSITION_GAUGE, 0},
        {"weir_cloud_queue_bytes", "bytes", "Bytes that wait now.", EXPOSITION_GAUGE, 0},
};

static const struct row worker_rows[] = {
        {"weir_worker_polls", "polls", "Rounds of the worker.", 0, 0},
        {"weir_worker_busy_polls", "busy_polls", "Rounds with something to do.", 0, 0},
        {"weir_worker_stalls", "stalls", "Times without a round for a second.", 0, 0},
        {"weir_worker_longest_poll_seconds", "longest_poll_ns",
         "The longest time between two rounds.", EXPOSITION_GAUGE, ROW_NS},
        {"weir_worker_held_packets", "held_packets", "Packets that the worker holds now.",
         EXPOSITION_GAUGE, 0},
        {"weir_worker_memory_used_bytes", "memory_used_bytes", "Memory used for held packets.",
         EXPOSITION_GAUGE, 0},
        {"weir_worker_memory_bytes", "memory_bytes", "Memory available for held packets.",
         EXPOSITION_GAUGE, 0},
};

#define ROWS(rows) (rows), sizeof(rows) / sizeof((rows)[0])

static uint64_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_true(value) ? 1 : (uint64_t)json_integer_value(value);
}

static void port_labels(const json_t *port, char labels[LABELS_BYTES])
{
	const char *name = json_string_value(json_object_get(port, "port"));

	labels[0] = '\0';
	exposition_label(labels, LABELS_BYTES, "port", name != NULL ? name : "");
}

static void cloud_labels(const json_t *cloud, char labels[LABELS_BYTES])
{
	const char *name = json_string_value(json_object_get(cloud, "cloud"));

	labels[0] = '\0';
	exposition_label(labels, LABELS_BYTES, "cloud", name != NULL ? name : REST);
}

static void worker_labels(const json_t *worker, char labels[LABELS_BYTES])
{
	const char *role = json_string_value(json_object_get(worker, "role"));
	char text[24];

	labels[0] = '\0';
	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT,
	         json_integer_value(json_object_get(worker, "worker")));
	exposition_label(labels, LABELS_BYTES, "worker", text);
	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT,
	         json_integer_value(json_object_get(worker, "cpu")));
	exposition_label(labels, LABELS_BYTES, "cpu", text);
	exposition_label(labels, LABELS_BYTES, "role", role != NULL ? role : "");
}

/* Prints a family for each row. `inner`: the member of each element that contains the values; or
 * NULL. */
static void put_rows(struct exposition *exposition, const json_t *array, const char *inner,
                     const struct row *rows, size_t n_rows,
                     void (*make_labels)(const json_t *object, char labels[LABELS_BYTES]))
{
	char labels[LABELS_BYTES];
	const json_t *each;
	size_t k;

	for (size_t i = 0; i < n_rows; i++) {
		exposition_family(exposition, rows[i].family, rows[i].type, rows[i].help);
		json_array_foreach(array, k, each)
		{
			const json_t *object = inner != NULL ? json_object_get(each, inner) : each;

			make_labels(each, labels);
			if (rows[i].of == ROW_NS)
				exposition_time(exposition, labels, number(object, rows[i].key));
			else
				exposition_count(exposition, labels,
				                 number(object, rows[i].key) /
				                         (rows[i].of == ROW_BITS ? 8 : 1));
		}
	}
}

/* ---- histograms ---- */

/* Returns the greatest value of a bucket: two an octave, which end at 1.5 times a power of two and
 * at a power of two, less one nanosecond, which belongs to the next bucket. */
static uint64_t bound(uint32_t i)
{
	uint64_t octave = UINT64_C(1) << (i / 2 + 1);

	return (i % 2 == 0 ? octave : octave / 2 * 3) - 1;
}

static void put_histogram(struct exposition *exposition, const char *labels,
                          const json_t *histogram, uint32_t from, uint32_t to)
{
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
		exposition_bucket(exposition, labels, top, count);
	}
	exposition_histogram_end(exposition, labels, number(histogram, "sum_ns"), count);
}

/* 1 us to 103 s, and 63 ns to 1.6 s; the end is exclusive. */
enum { DELAY_FROM = 18, DELAY_TO = 72, LATE_FROM = 10, LATE_TO = 60 };

static void put_histograms(struct exposition *exposition, const json_t *array, const char *key,
                           uint32_t from, uint32_t to,
                           void (*make_labels)(const json_t *object, char labels[LABELS_BYTES]))
{
	char labels[LABELS_BYTES];
	const json_t *each;
	size_t i;

	json_array_foreach(array, i, each)
	{
		const json_t *histogram = json_object_get(each, key);

		make_labels(each, labels);
		if (histogram != NULL)
			put_histogram(exposition, labels, histogram, from, to);
	}
}

/* ---- losses ---- */

static const char *kind_of(const char *name, bool *real)
{
	static const char *const kinds[] = {[REASON_EMULATED] = "emulated",
	                                    [REASON_CONGESTION] = "congestion",
	                                    [REASON_REAL] = "real"};

	*real = true; /* also if a newer weir has added it */
	for (int i = 0; i < REASON_COUNT; i++) {
		if (strcmp(name, reason_name((enum reason)i)) != 0)
			continue;
		*real = reason_kind((enum reason)i) == REASON_REAL;
		return kinds[reason_kind((enum reason)i)];
	}
	return "unknown";
}

static void put_drops(struct exposition *exposition, const json_t *clouds)
{
	char labels[LABELS_BYTES];
	const json_t *cloud, *drops, *value;
	const char *reason;
	size_t i;

	exposition_family(
	        exposition, "weir_cloud_dropped_packets", EXPOSITION_COUNTER,
	        "Packets that were not delivered: emulated, as the scenario demands; congestion, "
	        "by an emulated queue; real, by weir itself, against the scenario.");
	json_array_foreach(clouds, i, cloud)
	{
		drops = json_object_get(cloud, "drops");
		json_object_foreach((json_t *)(uintptr_t)drops, reason, value)
		{
			bool real;
			const char *kind = kind_of(reason, &real);

			if (!real && json_integer_value(value) == 0)
				continue;
			cloud_labels(cloud, labels);
			exposition_label(labels, sizeof(labels), "reason", reason);
			exposition_label(labels, sizeof(labels), "kind", kind);
			exposition_count(exposition, labels, (uint64_t)json_integer_value(value));
		}
	}
}

static void put_port_losses(struct exposition *exposition, const json_t *ports)
{
	char labels[LABELS_BYTES];
	const json_t *port;
	size_t i;

	exposition_family(exposition, "weir_port_lost_packets", EXPOSITION_COUNTER,
	                  "Packets that weir itself lost at the port, against the scenario.");
	json_array_foreach(ports, i, port)
	{
		for (size_t k = 0; k < sizeof(port_losses) / sizeof(port_losses[0]); k++) {
			port_labels(port, labels);
			exposition_label(labels, sizeof(labels), "reason", port_losses[k].reason);
			exposition_label(labels, sizeof(labels), "kind", "real");
			exposition_count(exposition, labels, number(port, port_losses[k].key));
		}
	}
}

/* ---- all ---- */

/* Prints the families of templates, if there are templates: a family must have samples. */
static void put_templates(struct exposition *exposition, const json_t *clouds)
{
	static const struct row rows[] = {
	        {"weir_template_clouds", "clouds", "Clouds of the template that exist now.",
	         EXPOSITION_GAUGE, 0},
	        {"weir_template_clouds_most", "clouds_most",
	         "Clouds that the template may have at most.", EXPOSITION_GAUGE, 0}};
	json_t *templates = json_array();
	json_t *cloud;
	size_t i;

	json_array_foreach(clouds, i, cloud)
	{
		if (json_object_get(cloud, "clouds_most") != NULL)
			json_array_append(templates, cloud);
	}
	if (json_array_size(templates) > 0)
		put_rows(exposition, templates, NULL, ROWS(rows), cloud_labels);
	json_decref(templates);
}

static void put_info(struct exposition *exposition, const json_t *totals, const json_t *hello)
{
	const char *version = json_string_value(json_object_get(hello, "weir"));
	const char *run = json_string_value(json_object_get(totals, "run"));
	char labels[LABELS_BYTES] = "";

	exposition_label(labels, sizeof(labels), "version", version != NULL ? version : "");
	exposition_label(labels, sizeof(labels), "run", run != NULL ? run : "");
	exposition_family(exposition, "weir_run_info", EXPOSITION_GAUGE,
	                  "Version and run of this weir; each run has a name of its own.");
	exposition_count(exposition, labels, 1);
	exposition_family(exposition, "weir_uptime_seconds", EXPOSITION_GAUGE,
	                  "Time since weir was started.");
	exposition_time(exposition, "", number(totals, "t_ns"));
	exposition_family(exposition, "weir_clouds", EXPOSITION_GAUGE,
	                  "Clouds of the scenario; a template counts as one.");
	exposition_count(exposition, "", number(totals, "clouds_in_all"));
}

static void put_totals(struct exposition *exposition, const json_t *totals, const json_t *hello,
                       const json_t *clouds)
{
	const json_t *ports = json_object_get(totals, "ports");
	const json_t *workers = json_object_get(totals, "workers");

	put_info(exposition, totals, hello);
	put_rows(exposition, ports, NULL, ROWS(port_rows), port_labels);
	put_port_losses(exposition, ports);
	exposition_family(exposition, "weir_port_lateness_seconds", EXPOSITION_HISTOGRAM,
	                  "Time from the due time of a packet to its handover to the device.");
	put_histograms(exposition, ports, "lateness_ns", LATE_FROM, LATE_TO, port_labels);
	put_rows(exposition, ports, "lateness_ns", ROWS(late_rows), port_labels);
	put_rows(exposition, clouds, NULL, ROWS(cloud_rows), cloud_labels);
	put_rows(exposition, clouds, "queue", ROWS(queue_rows), cloud_labels);
	put_drops(exposition, clouds);
	exposition_family(exposition, "weir_cloud_delay_seconds", EXPOSITION_HISTOGRAM,
	                  "Time from the entry of a packet into the cloud to its due departure.");
	put_histograms(exposition, clouds, "delay_ns", DELAY_FROM, DELAY_TO, cloud_labels);
	put_templates(exposition, clouds);
	put_rows(exposition, workers, NULL, ROWS(worker_rows), worker_labels);
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
	char *text = NULL;

	exposition.out = open_memstream(&text, n);
	if (exposition.out == NULL) {
		json_decref(clouds);
		return NULL;
	}
	exposition_family(&exposition, "weir_up", EXPOSITION_GAUGE,
	                  "1: weir answers; 0: it does not answer, and nothing else is known.");
	exposition_count(&exposition, "", totals != NULL);
	if (totals != NULL)
		put_totals(&exposition, totals, hello, clouds);
	exposition_end(&exposition);
	json_decref(clouds);
	if (fclose(exposition.out) == 0)
		return text;
	free(text);
	return NULL;
}

const char *serve_metrics_type(bool openmetrics)
{
	return openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
	                   : "text/plain; version=0.0.4; charset=utf-8";
}
