/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine_report.h"
#include "figures/figures.h"
#include "show/show.h"
#include "text/alloc_failure.h"

json_t *json_cloud(const char *name, const struct cloud_report *report)
{
	const struct observed *observed = &report->observed;
	json_t *object = json_object();

	figures_set(&object, "cloud", json_string(name));
	figures_add(&object, FIGURE_CLOUD, FIGURE_JSON, report);
	if (observed->has_meter)
		figures_set(&object, "meter", json_meter(&observed->meter));
	if (observed->has_xcp)
		figures_set(&object, "xcp", json_xcp(&observed->xcp));
	if (observed->has_path)
		figures_set(&object, "path", json_path(observed));
	return object;
}

json_t *json_seed(uint64_t seed)
{
	char text[24];

	if (seed <= INT64_MAX)
		return json_integer((json_int_t)seed);
	snprintf(text, sizeof(text), "%" PRIu64, seed);
	return json_string(text);
}

#define BRIEFS 64

/* An octave has 2^TOP_BITS buckets. They stay the same when those of the histogram get wider. */
#define TOP_BITS 5

/* Returns the greatest value of the bucket to which a bucket of the histogram belongs. */
static uint64_t top_of(const struct histogram_walk *walk)
{
	const uint32_t bits = histogram_bits(walk->h);
	const uint32_t few = bits < TOP_BITS ? bits : TOP_BITS;

	return histogram_bucket_floor(histogram_bucket_of(walk->low, few) + 1, few) - 1;
}

static json_t *whole_histogram(const struct histogram *histogram)
{
	json_t *buckets = json_array();
	uint64_t count = 0, top = 0, of_top = 0;

	for (struct histogram_walk w = histogram_walk(histogram); histogram_walk_next(&w);) {
		if (of_top > 0 && top_of(&w) != top) {
			json_array_append_new(
			        buckets, json_pack("[I,I]", (json_int_t)top, (json_int_t)of_top));
			of_top = 0;
		}
		top = top_of(&w);
		of_top += w.count;
		count += w.count;
	}
	if (of_top > 0)
		json_array_append_new(buckets,
		                      json_pack("[I,I]", (json_int_t)top, (json_int_t)of_top));
	return json_pack("{s:I,s:I,s:I,s:o}", "count", (json_int_t)count, "sum_ns",
	                 (json_int_t)histogram->sum, "max_ns", (json_int_t)histogram->max,
	                 "buckets", buckets);
}

json_t *json_ports(struct control *control, bool whole)
{
	struct port_report *port = alloc_failure_calloc(sizeof(*port));
	uint32_t n = control->ops->ports(control->context);
	json_t *array = json_array();

	for (uint32_t i = 0; port != NULL && i < n; i++) {
		json_t *object;

		if (!control->ops->port(control->context, i, port))
			continue;
		object = json_object();
		figures_set(&object, "port", json_string(port->name));
		figures_add(&object, FIGURE_PORT, FIGURE_JSON, port);
		if (whole)
			figures_set(&object, "lateness_ns", whole_histogram(&port->lateness_ns));
		json_array_append_new(array, object);
	}
	free(port);
	return array;
}

json_t *json_workers(struct control *control)
{
	json_t *array = json_array();
	struct worker_report worker;
	uint32_t n = control->ops->workers(control->context);

	for (uint32_t i = 0; i < n; i++) {
		json_t *object;

		if (!control->ops->worker(control->context, i, &worker))
			continue;
		object = json_pack("{s:i}", "worker", (int)i);
		figures_add(&object, FIGURE_WORKER, FIGURE_JSON, &worker);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *clouds_whole(struct control *control, uint32_t n)
{
	const struct scenario *scenario = *control->scenario;
	struct cloud_report *report = alloc_failure_calloc(sizeof(*report));
	json_t *array = json_array();

	for (uint32_t i = 0; report != NULL && i < n; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];
		json_t *object;

		if (!control_cloud(control, cloud->name, report))
			continue;
		object = json_cloud(cloud->name, report);
		json_object_del(object, "lateness_ns");
		json_object_set_new(object, "delay_ns", whole_histogram(&report->delay_ns));
		json_object_set_new(object, "from", json_string(cloud->from));
		json_object_set_new(object, "to", json_string(cloud->to));
		json_array_append_new(array, object);
	}
	free(report);
	return array;
}

static void add_brief(struct cloud_report *sum, const struct cloud_brief *brief)
{
	uint64_t *to = (uint64_t *)&sum->counters;
	const uint64_t *from = (const uint64_t *)&brief->counters;

	_Static_assert(sizeof(struct counters) % sizeof(uint64_t) == 0, "all are counts");
	for (size_t i = 0; i < sizeof(struct counters) / sizeof(uint64_t); i++)
		to[i] += from[i];
	sum->held_packets += brief->held_packets;
	sum->queue_packets += brief->queue_packets;
	sum->queue_bytes += brief->queue_bytes;
}

/* Sums the clouds from `first` on. */
static json_t *rest_whole(struct control *control, uint32_t first)
{
	const struct scenario *scenario = *control->scenario;
	struct cloud_report *sum = alloc_failure_calloc(sizeof(*sum));
	struct cloud_brief briefs[BRIEFS];
	json_t *object = NULL;

	for (uint32_t i = first; sum != NULL && i < scenario->n_clouds; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];
		uint32_t most = cloud->many ? BRIEFS : 1, n, from = 0;

		do {
			n = control->ops->briefs(control->context, cloud->name, from, most, briefs);
			for (uint32_t k = 0; k < n; k++)
				add_brief(sum, &briefs[k]);
			from += n;
		} while (cloud->many && n == most);
	}
	if (sum != NULL)
		object = json_cloud("", sum);
	json_object_del(object, "cloud");
	json_object_del(object, "lateness_ns");
	json_object_del(object, "delay_ns");
	json_object_del(object, "line");
	free(sum);
	return object;
}

json_t *totals_object(struct control *control, uint64_t clouds)
{
	uint32_t in_all = (*control->scenario)->n_clouds, n;

	n = (uint32_t)(clouds == 0 ? TOTALS_CLOUDS : clouds);
	if (n > in_all)
		n = in_all;
	return json_pack("{s:b,s:s,s:I,s:o,s:o,s:o,s:I,s:o}", "ok", 1, "run", control->run, "t_ns",
	                 (json_int_t)control_now_ns(control), "ports", json_ports(control, true),
	                 "workers", json_workers(control), "clouds", clouds_whole(control, n),
	                 "clouds_in_all", (json_int_t)in_all, "rest", rest_whole(control, n));
}
