/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/json.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/engine_report.h"
#include "figures/figures.h"
#include "show/show_feedback.h"
#include "show/times.h"

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

/* Returns the known values; null: not known. */
static json_t *line_delay_object(const struct line_delay *line)
{
	json_t *object = json_object();

	figures_set(&object, "mean", line->known ? json_real(line->mean_ns) : json_null());
	figures_set(&object, "p50", line->spread ? json_real(line->p50_ns) : json_null());
	figures_set(&object, "p99", line->spread ? json_real(line->p99_ns) : json_null());
	return object;
}

json_t *json_since(const char *what, uint64_t for_ns, const struct cloud_conf *cloud,
                   const struct cloud_report *report)
{
	const struct histogram *h = &report->delay_ns;
	struct line_delay line = line_delay_of(cloud, report);
	json_t *object = json_object(), *delay = figures_spread(h);

	figures_set(&delay, "mean",
	            json_real(h->count > 0 ? (double)h->sum / (double)h->count : 0));
	figures_set(&object, "what", json_string(what));
	figures_set(&object, "for_ns", json_integer((json_int_t)for_ns));
	figures_add(&object, FIGURE_CLOUD, FIGURE_SINCE, report);
	figures_set(&object, "line_ns", line_delay_object(&line));
	figures_set(&object, "delay_ns", delay);
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
