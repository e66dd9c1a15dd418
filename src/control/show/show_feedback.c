/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/show.h"

#include <stdlib.h>

#include "engine/engine_report.h"
#include "header/oq_header.h"
#include "text/table.h"
#include "text/alloc_failure.h"

/* ---- the meter ---- */

void show_meter_text(FILE *out, const struct meter_reading *reading)
{
	const bool limited = reading->link_bps != OBSERVED_NO_LIMIT;
	struct table *table = table_make("lr");

	table_format(table, "meter, %s", human_of(HUMAN_NS, (double)reading->window_ns, 4).text);
	table_texts(table, reading->measured ? "" : "nothing measured yet", "link", NULL);
	if (limited)
		table_unit(table, HUMAN_BPS, (double)reading->link_bps);
	else
		table_text(table, "no limit");
	table_text(table, "sent");
	table_unit(table, HUMAN_BPS, (double)reading->sent_bps);
	if (limited) {
		table_text(table, "available");
		table_unit(table, HUMAN_BPS, (double)reading->available_bps);
		table_text(table, "utilisation");
		table_share(table, reading->utilisation_ppm, 1000000);
	}
	table_text(table, "packet loss");
	table_share(table, reading->loss_ppb, 1000000000);
	table_text(table, "link errors");
	table_share(table, reading->error_ppb, 1000000000);
	table_text(table, "queue, mean");
	table_format(table, "%.3f pkt", (double)reading->queue_milli / 1e3);
	table_text(table, "queue, most");
	table_count(table, reading->queue_packets_max);
	table_text(table, "queuing delay");
	table_unit(table, HUMAN_NS, (double)reading->delay_ns);
	table_end(table, out);
}

static json_t *rate_value(uint64_t bps)
{
	return bps == OBSERVED_NO_LIMIT ? json_null() : json_integer((json_int_t)bps);
}

json_t *json_meter(const struct meter_reading *reading)
{
	return json_pack(
	        "{s:I,s:I,s:b,s:o,s:o,s:I,s:f,s:f,s:f,s:{s:f,s:I},s:I}", "window_ns",
	        (json_int_t)reading->window_ns, "from_ns", (json_int_t)reading->from_ns, "measured",
	        reading->measured, "link_bps", rate_value(reading->link_bps), "available_bps",
	        rate_value(reading->available_bps), "sent_bps", (json_int_t)reading->sent_bps,
	        "utilisation", reading->utilisation_ppm / 1e6, "loss", reading->loss_ppb / 1e9,
	        "error", reading->error_ppb / 1e9, "queue", "packets",
	        (double)reading->queue_milli / 1e3, "max", (json_int_t)reading->queue_packets_max,
	        "delay_ns", (json_int_t)reading->delay_ns);
}

/* ---- XCP ---- */

void show_xcp_text(FILE *out, const struct xcp_reading *reading)
{
	const struct {
		const char *name;
		enum human_unit unit;
		double value;
	} rows[] = {
	        {"capacity", HUMAN_BPS, reading->capacity * 8},
	        {"input", HUMAN_BPS, reading->input * 8},
	        {"to share out", HUMAN_BPS, reading->aggregate * 8},
	        {"left to give", HUMAN_BPS, reading->positive * 8},
	        {"left to take", HUMAN_BPS, reading->negative * 8},
	        {"queue, least", HUMAN_BYTES, (double)reading->queue_bytes},
	        {"mean round trip", HUMAN_NS, (double)reading->rtt_ns},
	};
	struct table *table = table_make("lr");

	table_text(table, "XCP");
	table_unit(table, HUMAN_NS, (double)reading->interval_ns);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		table_text(table, rows[i].name);
		table_unit(table, rows[i].unit, rows[i].value);
	}
	table_end(table, out);
}

json_t *json_xcp(const struct xcp_reading *reading)
{
	return json_pack("{s:f,s:f,s:f,s:f,s:f,s:I,s:I,s:I}", "capacity_bps", reading->capacity * 8,
	                 "input_bps", reading->input * 8, "aggregate_bps", reading->aggregate * 8,
	                 "positive_bps", reading->positive * 8, "negative_bps",
	                 reading->negative * 8, "queue_bytes", (json_int_t)reading->queue_bytes,
	                 "rtt_ns", (json_int_t)reading->rtt_ns, "interval_ns",
	                 (json_int_t)reading->interval_ns);
}

/* ---- the path ---- */

/* Returns the age of the oldest answer. */
static uint64_t hop_age_ns(const struct observed *observed, const struct observed_hop *hop)
{
	uint64_t age = 0;

	for (int i = 0; i < OBSERVED_PROBES; i++) {
		uint64_t since = observed->now_ns - hop->probe[i].at_ns;

		if (hop->probe[i].heard && observed->now_ns > hop->probe[i].at_ns && since > age)
			age = since;
	}
	return age;
}

/* Returns true if a router has answered this value, and it is a number. */
static bool is_said(const struct observed_hop *hop, enum observed_probe probe, int i)
{
	return hop->probe[probe].heard && hop->probe[probe].value[i] < OQ_MOST;
}

static json_t *said(const struct observed_hop *hop, enum observed_probe probe, int i)
{
	if (!is_said(hop, probe, i))
		return json_null();
	return json_integer(hop->probe[probe].value[i]);
}

static json_t *said_share(const struct observed_hop *hop, int i)
{
	if (!is_said(hop, OBSERVED_LOSS, i))
		return json_null();
	return json_real(hop->probe[OBSERVED_LOSS].value[i] / 1e9);
}

json_t *json_path(const struct observed *observed)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < observed->n_hops; i++) {
		const struct observed_hop *hop = &observed->hops[i];
		json_t *object = json_pack(
		        "{s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:I}", "hop", (int)hop->hop, "ttl",
		        (int)hop->ttl, "link_kbps", said(hop, OBSERVED_LINK, 0), "available_kbps",
		        said(hop, OBSERVED_LINK, 1), "loss", said_share(hop, 0), "error",
		        said_share(hop, 1), "queue_packets", said(hop, OBSERVED_QUEUE, 0),
		        "delay_us", said(hop, OBSERVED_QUEUE, 1), "age_ns",
		        (json_int_t)hop_age_ns(observed, hop));

		if (json_array_append_new(array, object) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static void table_said(struct table *table, const struct observed_hop *hop,
                       enum observed_probe probe, int i, enum human_unit unit, double factor)
{
	if (!hop->probe[probe].heard)
		table_text(table, "?");
	else if (hop->probe[probe].value[i] >= OQ_MOST)
		table_text(table, "no limit");
	else
		table_unit(table, unit, hop->probe[probe].value[i] * factor);
}

static void table_hop(struct table *table, const struct observed *observed,
                      const struct observed_hop *hop)
{
	table_format(table, "%u", hop->hop);
	table_format(table, "%u", hop->ttl);
	table_said(table, hop, OBSERVED_LINK, 0, HUMAN_BPS, 1e3);
	table_said(table, hop, OBSERVED_LINK, 1, HUMAN_BPS, 1e3);
	table_said(table, hop, OBSERVED_LOSS, 0, HUMAN_PERCENT, 1e-9);
	table_said(table, hop, OBSERVED_LOSS, 1, HUMAN_PERCENT, 1e-9);
	if (is_said(hop, OBSERVED_QUEUE, 0))
		table_format(table, "%u pkt", hop->probe[OBSERVED_QUEUE].value[0]);
	else
		table_text(table, hop->probe[OBSERVED_QUEUE].heard ? "no limit" : "?");
	table_said(table, hop, OBSERVED_QUEUE, 1, HUMAN_NS, 1e3);
	table_unit(table, HUMAN_NS, (double)hop_age_ns(observed, hop));
}

void show_path_table(FILE *out, const struct observed *observed)
{
	struct table *table = table_make("rrrrrrrrr");

	table_texts(table, "hop", "ttl", "link", "available", "loss", "errors", "queue", "delay",
	            "age", NULL);
	for (uint32_t i = 0; i < observed->n_hops; i++)
		table_hop(table, observed, &observed->hops[i]);
	table_end(table, out);
}

void show_path_text(FILE *out, struct control *control, uint32_t cloud)
{
	const char *name = (*control->scenario)->clouds[cloud]->name;
	struct cloud_report *report = alloc_failure_calloc(sizeof(*report));

	if (report == NULL)
		return;
	if (!control_cloud(control, name, report) || !report->observed.has_path) {
		fprintf(out,
		        "cloud %s keeps no path: show path is for a cloud with `feedback proxy "
		        "strip`\n",
		        name);
		goto out;
	}
	if (report->observed.n_hops == 0)
		fprintf(out, "cloud %s: no router has answered yet\n", name);
	else
		show_path_table(out, &report->observed);
out:
	free(report);
}
