/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/json.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/engine_report.h"
#include "show/late.h"
#include "show/line_delay.h"
#include "show/show_feedback.h"

/* Counters have 64 bits; JSON readers expect 63, which no count exceeds. */
static json_t *count(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* Adds a member, and takes ownership of it; on failure the whole object is dropped. */
static void add(json_t **object, const char *key, json_t *value)
{
	if (!*object) {
		json_decref(value);
	} else if (json_object_set_new(*object, key, value) < 0) {
		json_decref(*object);
		*object = NULL;
	}
}

static void add_count(json_t **object, const char *key, uint64_t value)
{
	add(object, key, count(value));
}

json_t *json_histogram(const struct histogram *h)
{
	json_t *object = json_object();

	add_count(&object, "min", h->min);
	add_count(&object, "p50", histogram_percentile(h, 500000));
	add_count(&object, "p99", histogram_percentile(h, 990000));
	add_count(&object, "p99.9", histogram_percentile(h, 999000));
	add_count(&object, "max", h->max);
	return object;
}

/* Returns {"loss":0,"queue-full":0,...}. */
static json_t *json_drops(const struct counters *counters)
{
	json_t *object = json_object();

	for (int reason = 0; reason < REASON_COUNT; reason++)
		add_count(&object, reason_name((enum reason)reason), counters->drops[reason]);
	return object;
}

/* Adds `"red": {...}` to the queue that it manages. */
static void add_aqm(json_t **queue, const struct aqm_report *aqm)
{
	json_t *object;

	if (aqm->name == NULL)
		return;
	object = json_object();
	for (uint32_t i = 0; i < aqm->n_figures; i++)
		add(&object, aqm->figures[i].name, json_real(aqm->figures[i].value));
	add(queue, aqm->name, object);
}

static json_t *queue_object(const struct cloud_report *report)
{
	json_t *object = json_object();

	add_count(&object, "packets", report->queue_packets);
	add_count(&object, "bytes", report->queue_bytes);
	add(&object, "average", json_real(report->queue_average_bytes));
	add_aqm(&object, &report->aqm);
	return object;
}

/* Returns the exact time on the line alone, and the cost of keeping order. */
static json_t *line_object(const struct cloud_report *report)
{
	json_t *object = json_object();

	add_count(&object, "packets", report->line_packets);
	add(&object, "mean_ns", json_real(report->line_mean_ns));
	add(&object, "deviation_ns", json_real(report->line_deviation_ns));
	add_count(&object, "order_waits", report->order_waits);
	add_count(&object, "order_waited_ns", report->order_waited_ns);
	return object;
}

static json_t *classes_array(const struct cloud_report *report)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < report->n_classes; i++) {
		const struct class_report *class = &report->classes[i];
		json_t *object = json_object(), *queue = json_object();

		add(&object, "class", json_string(class->name));
		add_count(&object, "rx_packets", class->counters.rx_packets);
		add_count(&object, "rx_bytes", class->counters.rx_bytes);
		add_count(&object, "tx_packets", class->counters.tx_packets);
		add_count(&object, "tx_bytes", class->counters.tx_bytes);
		add_count(&object, "dropped", class->counters.dropped);
		add_count(&object, "ecn_marked", class->counters.ecn_marked);
		add_count(&queue, "packets", class->queue_packets);
		add_count(&queue, "bytes", class->queue_bytes);
		add(&queue, "average", json_real(class->queue_average_bytes));
		add_aqm(&queue, &class->aqm);
		add(&object, "queue", queue);
		/* Takes the object in any case, even if the array is NULL. */
		if (json_array_append_new(array, object) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *feedback_object(const struct counters *c)
{
	json_t *object = json_object();

	add_count(&object, "written", c->feedback_written);
	add_count(&object, "inserted", c->feedback_inserted);
	add_count(&object, "answered", c->feedback_answered);
	add_count(&object, "stripped", c->feedback_stripped);
	add_count(&object, "malformed", c->feedback_malformed);
	add_count(&object, "no_room", c->feedback_no_room);
	return object;
}

json_t *json_cloud(const char *name, const struct cloud_report *report)
{
	const struct counters *c = &report->counters;
	json_t *object = json_object();

	add(&object, "cloud", json_string(name));
	add_count(&object, "rx_packets", c->rx_packets);
	add_count(&object, "rx_bytes", c->rx_bytes);
	add_count(&object, "tx_packets", c->tx_packets);
	add_count(&object, "tx_bytes", c->tx_bytes);
	add_count(&object, "held_packets", report->held_packets);
	add_count(&object, "duplicated", c->duplicated);
	add_count(&object, "generated", c->generated);
	add_count(&object, "reordered", c->reordered);
	add_count(&object, "corrupted", c->corrupted);
	add_count(&object, "ecn_marked", c->ecn_marked);
	add_count(&object, "becn_sent", c->becn_sent);
	add(&object, "drops", json_drops(c));
	add(&object, "delay_ns", json_histogram(&report->delay_ns));
	add(&object, "lateness_ns", json_null());
	add(&object, "queue", queue_object(report));
	add_count(&object, "rewritten", c->rewritten);
	add_count(&object, "becn_marked", c->becn_marked);
	add(&object, "line", line_object(report));
	if (report->clouds_most > 0) {
		add_count(&object, "clouds", report->clouds);
		add_count(&object, "clouds_most", report->clouds_most);
	}
	if (report->n_classes > 0)
		add(&object, "classes", classes_array(report));
	add(&object, "feedback", feedback_object(c));
	if (report->observed.has_meter)
		add(&object, "meter", json_meter(&report->observed.meter));
	if (report->observed.has_xcp)
		add(&object, "xcp", json_xcp(&report->observed.xcp));
	if (report->observed.has_path)
		add(&object, "path", json_path(&report->observed));
	return object;
}

/* Returns the known values; null: not known. */
static json_t *line_delay_object(const struct line_delay *line)
{
	json_t *object = json_object();

	add(&object, "mean", line->known ? json_real(line->mean_ns) : json_null());
	add(&object, "p50", line->spread ? json_real(line->p50_ns) : json_null());
	add(&object, "p99", line->spread ? json_real(line->p99_ns) : json_null());
	return object;
}

json_t *json_since(const char *what, uint64_t for_ns, const struct cloud_conf *cloud,
                   const struct cloud_report *report)
{
	const struct counters *c = &report->counters;
	const struct histogram *h = &report->delay_ns;
	struct line_delay line = line_delay_of(cloud, report);
	json_t *object = json_object(), *delay = json_histogram(h);

	if (delay)
		add(&delay, "mean",
		    json_real(h->count > 0 ? (double)h->sum / (double)h->count : 0));
	add(&object, "what", json_string(what));
	add_count(&object, "for_ns", for_ns);
	add_count(&object, "rx_packets", c->rx_packets);
	add_count(&object, "rx_bytes", c->rx_bytes);
	add_count(&object, "tx_packets", c->tx_packets);
	add_count(&object, "tx_bytes", c->tx_bytes);
	add_count(&object, "duplicated", c->duplicated);
	add_count(&object, "generated", c->generated);
	add_count(&object, "reordered", c->reordered);
	add_count(&object, "corrupted", c->corrupted);
	add_count(&object, "ecn_marked", c->ecn_marked);
	add(&object, "drops", json_drops(c));
	add(&object, "line_ns", line_delay_object(&line));
	add(&object, "delay_ns", delay);
	return object;
}

/* Returns a string of any text, such as the name of a file: JSON must be UTF-8. */
static json_t *any_text(const char *text)
{
	json_t *string = json_string(text);
	char ascii[256];
	size_t n = 0;

	if (string)
		return string;
	for (; text[n] && n < sizeof(ascii) - 1; n++)
		ascii[n] = (unsigned char)text[n] < 0x80 ? text[n] : '?';
	ascii[n] = '\0';
	return json_string(ascii);
}

json_t *json_seed(uint64_t seed)
{
	char text[24];

	if (seed <= INT64_MAX)
		return count(seed);
	snprintf(text, sizeof(text), "%" PRIu64, seed);
	return json_string(text);
}

/* Returns {"port":"a","rx_packets":0,...} of a replay, or of `weir exec`. */
static json_t *json_replay_port(const char *name, const struct replay_port_report *report)
{
	json_t *object = json_object();

	add(&object, "port", json_string(name));
	add_count(&object, "rx_packets", report->rx_packets);
	add_count(&object, "rx_bytes", report->rx_bytes);
	add_count(&object, "tx_packets", report->tx_packets);
	add_count(&object, "tx_bytes", report->tx_bytes);
	add_count(&object, "no_cloud", report->no_cloud);
	add_count(&object, "untouched", report->untouched);
	add_count(&object, "lost", report->lost);
	add(&object, "lateness_ns", late_json(report->lateness_ns));
	add_count(&object, "no_file", report->no_file);
	add_count(&object, "clock_back", report->clock_back);
	add_count(&object, "clock_back_max_ns", report->clock_back_max_ns);
	add_count(&object, "sorted", report->sorted);
	add_count(&object, "late", report->late);
	add_count(&object, "wrong_stamps", report->wrong_stamps);
	add_count(&object, "clock_set_back", report->clock_set_back);
	add_count(&object, "no_time", report->no_time);
	add_count(&object, "other_link", report->other_link);
	add_count(&object, "truncated", report->truncated);
	add_count(&object, "lost", report->lost);
	add(&object, "damage", any_text(report->damage));
	return object;
}

static json_t *json_replay_cloud(const struct scenario *scenario,
                                 const struct replay_result *result, uint32_t cloud)
{
	const struct cloud_conf *conf = scenario->clouds[cloud];
	json_t *object = json_cloud(conf->name, &result->clouds[cloud]);
	int to = scenario_find_port(scenario, conf->to);

	if (to >= 0)
		add(&object, "lateness_ns", late_json(result->ports[to].lateness_ns));
	return object;
}

static json_t *json_split(const struct scenario *scenario, const struct replay_split *split)
{
	json_t *object = json_object(), *ports = json_array(), *packets = json_array();

	for (int i = 0; i < 2; i++) {
		json_array_append_new(ports, json_string(scenario->ports[split->ports[i]].name));
		json_array_append_new(packets, count(split->packets[i]));
	}
	add(&object, "capture", any_text(split->path));
	add(&object, "rule", any_text(split->rule));
	add(&object, "ports", ports);
	add(&object, "packets", packets);
	return object;
}

static json_t *json_splits(const struct scenario *scenario, const struct replay_result *result)
{
	json_t *splits = json_array();

	for (uint32_t i = 0; splits && i < result->n_splits; i++) {
		if (json_array_append_new(splits, json_split(scenario, &result->splits[i])) < 0) {
			json_decref(splits);
			splits = NULL;
		}
	}
	return splits;
}

json_t *json_replay(const struct scenario *scenario, const struct replay_result *result)
{
	json_t *object = json_object(), *clouds = json_array(), *ports = json_array();

	for (uint32_t i = 0; i < result->n_clouds; i++) {
		if (json_array_append_new(clouds, json_replay_cloud(scenario, result, i)) < 0)
			goto err_memory;
	}
	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		if (json_array_append_new(ports, json_replay_port(scenario->ports[i].name,
		                                                  &result->ports[i])) < 0)
			goto err_memory;
	}
	add(&object, "seed", json_seed(scenario->seed));
	add_count(&object, "duration_ns", result->last_ns - result->first_ns);
	add(&object, "clouds", clouds);
	add(&object, "ports", ports);
	if (result->n_splits > 0)
		add(&object, "splits", json_splits(scenario, result));
	return object;

err_memory:
	json_decref(object);
	json_decref(clouds);
	json_decref(ports);
	return NULL;
}
