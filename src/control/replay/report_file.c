/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/report_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine_report.h"
#include "figures/figures.h"
#include "show/json.h"
#include "text/alloc_failure.h"

/* ---- JSON ---- */

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

static int write_json(FILE *out, const struct scenario *scenario,
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

/* ---- CSV ---- */

static int write_csv(FILE *out, const struct scenario *scenario, const struct replay_result *result)
{
	fprintf(out,
	        FIGURES_CSV_HEAD "run,,seed,%" PRIu64 ",,gauge\nrun,,duration_ns,%" PRIu64
	                         ",ns,gauge\n",
	        scenario->seed, result->last_ns - result->first_ns);
	for (uint32_t i = 0; i < result->n_clouds; i++)
		figures_csv(out, FIGURE_CLOUD, scenario->clouds[i]->name, &result->clouds[i]);
	for (uint32_t i = 0; i < scenario->n_ports; i++)
		figures_csv(out, FIGURE_REPLAY_PORT, scenario->ports[i].name, &result->ports[i]);
	return ferror(out) ? -EIO : 0;
}

/* `a.csv`, or `a.csv.gz`. */
static bool is_csv(const char *path)
{
	const char *name = strrchr(path, '/'),
	           *csv = strcasestr(name != NULL ? name : path, ".csv");

	return csv != NULL && (csv[4] == '\0' || csv[4] == '.');
}

int report_file_write(struct atomic_file *file, const struct scenario *scenario,
                      const struct replay_result *result, struct problem *problem)
{
	FILE *stream = atomic_file_stream(file);
	int rc = is_csv(atomic_file_path(file)) ? write_csv(stream, scenario, result)
	                                        : write_json(stream, scenario, result);

	if (rc == -EIO)
		rc = atomic_file_error(file, problem);
	/* A value that found no memory is missing in an object, and in its text. */
	if (alloc_failure_taken() || rc == -ENOMEM) {
		problem_set(problem, -1, "%s: no memory for the report", atomic_file_path(file));
		return -ENOMEM;
	}
	return rc ? rc : atomic_file_finish(file, problem);
}
