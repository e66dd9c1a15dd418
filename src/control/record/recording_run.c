/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recording_run.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <rte_common.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "account/count.h"
#include "capture/atomic_file.h"
#include "engine/engine_report.h"
#include "figures/figures.h"
#include "language/scenario_file.h"
#include "machine/cpu_level.h"
#include "machine/run_log.h"
#include "record/recording_reach.h"
#include "scenario/file.h"
#include "service/event_log.h"
#include "show/json.h"
#include "units/human_unit.h"

/*
 * The outcome of a recorded run: outcome.json in the folder of its recording, with the objects of
 * `show cloud`, and how much was recorded and missed.
 *
 * Thread: control; the workers stand still.
 */

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

/* Writes it. Returns 0, or -errno with problem. */
static int recording_outcome_write(const struct recording *recording, const struct runtime *runtime,
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

static bool has_flight(const struct recording_arguments *arguments)
{
	return arguments->flight.unit != LIMIT_NONE;
}

/* Returns what is wrong with the options beside each other, or NULL. */
static const char *options_beside(const struct recording_arguments *arguments)
{
	const struct limit *flight = &arguments->flight;

	if (arguments->folder && has_flight(arguments))
		return "--record and --flight: give only one; a recording has all that a flight "
		       "would";
	if (arguments->snap && !arguments->folder && !has_flight(arguments))
		return "--snap needs --record DIR or --flight TIME|SIZE";
	if (arguments->limit_bytes && !arguments->folder)
		return "--limit needs --record DIR";
	if (arguments->zstd && !arguments->folder)
		return "--zstd needs --record DIR";
	if ((arguments->flight_on || arguments->flight_to || arguments->flight_held) &&
	    !has_flight(arguments))
		return "--flight-on, --flight-to and --flight-held need --flight TIME|SIZE";
	if (flight->unit == LIMIT_PACKETS)
		return "--flight takes a time, like 10s, or a size, like 64MB, not packets";
	if (flight->unit == LIMIT_BYTES && flight->value < RECORDING_FLIGHT_BYTES_MIN)
		return "--flight: a size must be at least 8.4MB";
	if (flight->unit == LIMIT_TIME && flight->value < SIMTIME_S)
		return "--flight: a time must be at least 1s";
	return NULL;
}

/* Refuses a word of --flight-on that is no kind of event: its dump would never come. */
static bool flight_on_wrong(const char *list, char why[RECORDING_WHY_BYTES])
{
	size_t n = strcspn(list, ",");
	int at;

	while (event_log_is_kind(list, n) || (n == 4 && memcmp(list, "none", n) == 0)) {
		if (list[n] == '\0')
			return false;
		list += n + 1;
		n = strcspn(list, ",");
	}
	at = snprintf(why, RECORDING_WHY_BYTES,
	              "--flight-on: `%.*s` is no kind of event; the kinds are ",
	              (int)RTE_MIN(n, (size_t)60), list);
	for (size_t i = 0; event_log_kinds[i] && at < RECORDING_WHY_BYTES; i++)
		at += snprintf(why + at, RECORDING_WHY_BYTES - (size_t)at, "%s%s", i ? ", " : "",
		               event_log_kinds[i]);
	return true;
}

bool recording_arguments_wrong(const struct recording_arguments *arguments,
                               char why[RECORDING_WHY_BYTES])
{
	const char *wrong = options_beside(arguments);

	if (wrong)
		snprintf(why, RECORDING_WHY_BYTES, "%s", wrong);
	return wrong || (arguments->flight_on && flight_on_wrong(arguments->flight_on, why));
}

static void warn(void *argument, const char *line)
{
	(void)argument;
	run_log(RUN_LOG_WARNING, "--snap: %s", line);
}

bool recording_plan_of(const struct recording_arguments *arguments, struct recording_plan *plan)
{
	const struct limit *flight = &arguments->flight;

	*plan = (struct recording_plan){
	        .folder = arguments->folder,
	        .weir = WEIR_VERSION,
	        .snap = (uint32_t)arguments->snap,
	        .limit_bytes = arguments->limit_bytes,
	        .zstd = arguments->zstd,
	        .flight_bytes =
	                flight->unit == LIMIT_BYTES ? flight->value : RECORDING_FLIGHT_BYTES,
	        .flight_ns = flight->unit == LIMIT_TIME ? flight->value : 0,
	        .held_max = arguments->flight_held ? arguments->flight_held : RECORDING_FLIGHT_HELD,
	};
	return arguments->folder || has_flight(arguments);
}

static int put_files(struct recording *recording, const struct conf *conf)
{
	const struct field *field = conf->statement->fields;
	int rc = 0;

	for (; field && field->name && rc == 0; field++) {
		const struct file *file;

		if (field->type != FIELD_FILE)
			continue;
		file = *(struct file *const *)(const void *)((const char *)conf + field->offset);
		if (file)
			rc = recording_file(recording, file->name, file->text, file->bytes);
	}
	return rc;
}

/* Stores the content of all files that the scenario names in the recording. Returns 0 or -errno. */
static int put_all_files(struct recording *recording, const struct scenario *scenario)
{
	int rc = 0;

	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];

		for (uint32_t k = 0; k < cloud->n_confs && rc == 0; k++)
			rc = put_files(recording, cloud->confs[k]);
	}
	return rc;
}

static void tell(void *recording, const char *line)
{
	json_t *row = json_pack("{s:s}", "warning", line);

	run_log(RUN_LOG_WARNING, "--snap: %s", line);
	recording_note(recording, row ? json_dumps(row, JSON_COMPACT) : NULL);
	json_decref(row);
}

char *recording_run_change(struct recording *recording, const struct scenario *before,
                           const struct scenario *next)
{
	recording_reach_more(recording_snap(recording), before, next, tell, recording);
	return put_all_files(recording, next) == 0 ? scenario_text(next) : NULL;
}

int recording_run_begin(const struct recording_arguments *arguments,
                        const struct scenario *scenario, struct recording **recording,
                        struct problem *problem)
{
	struct recording_plan plan;
	char *text;
	int rc;

	*recording = NULL;
	if (!recording_plan_of(arguments, &plan))
		return 0;
	recording_reach_of((uint32_t)arguments->snap, scenario, warn, NULL);
	text = scenario_text(scenario);
	rc = text ? recording_open(&plan, scenario, text, recording, problem) : -ENOMEM;
	free(text);
	if (rc == 0 && put_all_files(*recording, scenario) < 0) {
		problem_set(problem, -1, "%s: the files that the scenario names cannot be stored",
		            arguments->folder ? arguments->folder : "--flight");
		rc = -EIO;
	}
	return rc;
}

int recording_run_end(const struct runtime *runtime, const struct scenario *scenario,
                      struct problem *problem)
{
	const struct recording *recording = runtime_recording(runtime);
	struct recording_counts counts;
	char end[160] = "", size[HUMAN_UNIT_SIZE];

	if (!recording || recording_is_flight(recording))
		return 0;
	recording_counts(recording, &counts);
	if (counts.ended)
		snprintf(end, sizeof(end), "; it ended at +%" PRIu64 ".%03" PRIu64 " s: %s",
		         counts.until_ns / SIMTIME_S, counts.until_ns % SIMTIME_S / SIMTIME_MS,
		         counts.error ? strerror(counts.error) : "its limit is reached");
	human_unit_format(size, sizeof(size), HUMAN_BYTES, (double)counts.bytes, 3);
	run_log(counts.missed > 0 || counts.ended ? RUN_LOG_WARNING : RUN_LOG_NOTICE,
	        "recorded in %s: %s%s, %s%s%s", recording_folder(recording),
	        counts.ended && counts.error ? "at least " : "",
	        count_of(counts.packets, "packet").text, size,
	        counts.missed > 0 ? "; some are missing, because the disk was too slow" : "", end);
	if (counts.lacked_ns != SIMTIME_NEVER)
		run_log(RUN_LOG_WARNING,
		        "from +%" PRIu64 ".%03" PRIu64
		        " s on, weir had no memory for some packets; what follows cannot be "
		        "repeated: give it more, with --memory",
		        counts.lacked_ns / SIMTIME_S, counts.lacked_ns % SIMTIME_S / SIMTIME_MS);
	return recording_outcome_write(recording, runtime, scenario, problem);
}
