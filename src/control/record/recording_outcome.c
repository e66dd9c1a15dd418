/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recording_outcome.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include <jansson.h>

#include "capture/atomic_file.h"
#include "engine/engine_report.h"
#include "figures/figures.h"
#include "machine/cpu_level.h"
#include "show/json.h"

static json_t *clouds_of(const struct runtime *runtime, const struct scenario *scenario)
{
	struct cloud_report *report = malloc(sizeof(*report));
	json_t *clouds = json_array();

	for (uint32_t i = 0; report && i < scenario->n_clouds; i++) {
		const char *name = scenario->clouds[i]->name;

		if (runtime_cloud_report(runtime, name, report))
			json_array_append_new(clouds, json_cloud(name, report));
	}
	free(report);
	return clouds;
}

static json_t *ports_of(const struct runtime *runtime)
{
	struct port_report *report = malloc(sizeof(*report));
	json_t *ports = json_array();

	for (uint32_t i = 0; report && runtime_port_report(runtime, i, report); i++) {
		json_t *port = json_object();

		figures_set(&port, "port", json_string(report->name));
		figures_add(&port, FIGURE_PORT, FIGURE_OUTCOME, report);
		json_array_append_new(ports, port);
	}
	free(report);
	return ports;
}

static json_t *machine(void)
{
	struct utsname name = {.machine = "?"};

	uname(&name);
	return json_pack("{s:s,s:s,s:s,s:s}", "system", name.sysname, "release", name.release,
	                 "machine", name.machine, "level", cpu_level());
}

int recording_outcome_write(const struct recording *recording, const struct runtime *runtime,
                            const struct scenario *scenario, struct problem *problem)
{
	struct recording_counts counts;
	struct atomic_file *file;
	char path[PATH_MAX];
	json_t *outcome;
	int rc;

	recording_counts(recording, &counts);
	snprintf(path, sizeof(path), "%s/outcome.json", recording_folder(recording));
	rc = atomic_file_open(path, &file, problem);
	if (rc < 0)
		return rc;
	outcome = json_pack(
	        "{s:{s:I,s:I,s:I,s:b,s:o},s:o,s:o,s:o}", "recorded", "packets",
	        (json_int_t)counts.packets, "missed", (json_int_t)counts.missed, "bytes",
	        (json_int_t)counts.bytes, "ended_early", (int)counts.ended, "repeats_until_ns",
	        counts.lacked_ns == SIMTIME_NEVER ? json_null()
	                                          : json_integer((json_int_t)counts.lacked_ns),
	        "clouds", clouds_of(runtime, scenario), "ports", ports_of(runtime), "machine",
	        machine());
	if (!outcome ||
	    json_dumpf(outcome, atomic_file_stream(file), JSON_INDENT(1) | JSON_REAL_PRECISION(12)))
		atomic_file_fail(file, ENOMEM);
	json_decref(outcome);
	rc = atomic_file_error(file, problem);
	if (rc == 0)
		return atomic_file_publish(file, problem);
	atomic_file_discard(file);
	return rc;
}
