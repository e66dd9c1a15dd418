/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a run in JSON, apart from its tables for people: libweir writes it, too. */
#include <errno.h>

#include "figures/figures.h"
#include "replay/replay_report.h"
#include "show/json.h"
#include "show/view.h"

static json_t *cloud_object(const struct scenario *scenario, const struct replay_result *result,
                            uint32_t cloud)
{
	const struct cloud_conf *conf = scenario->clouds[cloud];
	json_t *object = json_cloud(conf->name, &result->clouds[cloud]);
	int to = scenario_find_port(scenario, conf->to);

	if (to >= 0)
		figures_set(&object, "lateness_ns", figures_late(result->ports[to].lateness_ns));
	return object;
}

/* Returns {"port":"a",...}. */
static json_t *port_object(const struct scenario *scenario, const struct replay_result *result,
                           uint32_t port)
{
	json_t *object = json_object();

	figures_set(&object, "port", json_string(scenario->ports[port].name));
	figures_add(&object, FIGURE_REPLAY_PORT, FIGURE_JSON, &result->ports[port]);
	return object;
}

static json_t *split_object(const struct scenario *scenario, const struct replay_result *result,
                            uint32_t index)
{
	const struct replay_split *split = &result->splits[index];
	json_t *object = json_object(), *ports = json_array(), *packets = json_array();

	for (int i = 0; i < 2; i++) {
		json_array_append_new(ports, json_string(scenario->ports[split->ports[i]].name));
		json_array_append_new(packets, json_integer((json_int_t)split->packets[i]));
	}
	figures_set(&object, "capture", figures_string(split->path));
	figures_set(&object, "rule", figures_string(split->rule));
	figures_set(&object, "ports", ports);
	figures_set(&object, "packets", packets);
	return object;
}

/* Adds an array of n objects. */
static void add_array(json_t **object, const char *key, const struct scenario *scenario,
                      const struct replay_result *result, uint32_t n,
                      json_t *(*make)(const struct scenario *scenario,
                                      const struct replay_result *result, uint32_t index))
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < n; i++) {
		if (json_array_append_new(array, make(scenario, result, i)) < 0) {
			json_decref(array);
			array = NULL;
		}
	}
	figures_set(object, key, array);
}

static json_t *report_object(const struct scenario *scenario, const struct replay_result *result)
{
	json_t *object = json_object();

	figures_set(&object, "seed", json_seed(scenario->seed));
	figures_set(&object, "duration_ns",
	            json_integer((json_int_t)(result->last_ns - result->first_ns)));
	add_array(&object, "clouds", scenario, result, result->n_clouds, cloud_object);
	add_array(&object, "ports", scenario, result, scenario->n_ports, port_object);
	if (result->n_splits > 0)
		add_array(&object, "splits", scenario, result, result->n_splits, split_object);
	return object;
}

int report_json_write(FILE *out, const struct scenario *scenario,
                      const struct replay_result *result)
{
	json_t *object = report_object(scenario, result);
	int rc = object != NULL ? 0 : -ENOMEM;

	if (rc == 0 && (json_dumpf(object, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) < 0 ||
	                fputc('\n', out) == EOF))
		rc = -EIO;
	json_decref(object);
	return rc;
}
