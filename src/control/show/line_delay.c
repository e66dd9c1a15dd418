/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/line_delay.h"

#include <string.h>

#include "change/timeline_make.h"
#include "engine/engine_report.h"
#include "line/delay.h"
#include "link/class.h"
#include "text/alloc_failure.h"

bool line_delay_of_all(const struct cloud_conf *cloud, const struct cloud_report *report)
{
	return cloud->many && report->clouds_most == 0;
}

bool line_delay_is_scheduled(const struct cloud_conf *cloud)
{
	return timeline_covers(cloud, delay_statement.name);
}

bool line_delay_has_link(const struct cloud_conf *cloud)
{
	const struct class_conf *classes[CLASSES_MAX];

	return cloud_conf_get(cloud, "rate") != NULL || cloud_conf_get(cloud, "slots") != NULL ||
	       class_confs(cloud, classes) > 0;
}

static struct line_delay measured(const struct histogram *h)
{
	return (struct line_delay){
	        .known = h->count > 0,
	        .spread = h->count > 0,
	        .mean_ns = h->count > 0 ? (double)h->sum / (double)h->count : 0,
	        .min_ns = (double)h->min,
	        .p50_ns = (double)histogram_percentile(h, 500000),
	        .p99_ns = (double)histogram_percentile(h, 990000),
	        .p999_ns = (double)histogram_percentile(h, 999000),
	        .max_ns = (double)h->max,
	};
}

/* Returns true if the delay changes by itself, or packets are reordered. */
static bool varies(const struct cloud_conf *cloud)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		const struct statement *statement = cloud->confs[i]->statement;

		if (strcmp(statement->name, "reorder") == 0 ||
		    (strcmp(statement->name, "delay") == 0 && statement != &delay_statement))
			return true;
	}
	return line_delay_is_scheduled(cloud) || timeline_covers(cloud, "reorder");
}

struct line_delay line_delay_of(const struct cloud_conf *cloud, const struct cloud_report *report)
{
	const struct conf *conf = cloud_conf_get(cloud, "delay");
	struct delay_asked asked = {0};

	if (!line_delay_has_link(cloud))
		return measured(&report->delay_ns);
	if (varies(cloud) || report->delay_ns.count == 0)
		return (struct line_delay){.known = false};
	if (report->line_packets > 0 && report->line_ns.count > 0)
		return measured(&report->line_ns);
	if (report->line_packets > 0)
		return (struct line_delay){.known = true, .mean_ns = report->line_mean_ns};
	if (conf && delay_asked((const struct delay_conf *)conf, &asked) != 0) {
		alloc_failure_note();
		return (struct line_delay){.known = false};
	}
	return (struct line_delay){
	        .known = true,
	        .spread = report->order_waits == 0,
	        .mean_ns = asked.mean_ns,
	        .min_ns = asked.mean_ns,
	        .p50_ns = asked.mean_ns,
	        .p99_ns = asked.mean_ns,
	        .p999_ns = asked.mean_ns,
	        .max_ns = asked.mean_ns,
	};
}
