/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recording_run.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <rte_common.h>

#include "account/count.h"
#include "capture/atomic_file.h"
#include "capture/filter.h"
#include "engine/engine_report.h"
#include "figures/figures.h"
#include "language/scenario_file.h"
#include "machine/cpu_level.h"
#include "machine/run_log.h"
#include "match/match.h"
#include "match/selection.h"
#include "scenario/file.h"
#include "scenario/orders.h"
#include "scenario/statement.h"
#include "service/event_log.h"
#include "show/json.h"
#include "units/human_unit.h"

struct reach {
	uint32_t snap;
	void (*say)(void *argument, const char *line);
	void *argument;
	const struct cloud_conf *cloud;
};

/* Reports a statement that needs more than the snap. `when`: the name of the schedule that contains
 * it, followed by ` ... `; or "". */
static void look_at(struct reach *reach, const struct conf *conf, const char *when)
{
	const struct statement *statement = conf->statement;
	char line[300];

	if (!statement->beyond)
		return;
	snprintf(line, sizeof(line),
	         "cloud %s %s%s%s%s: %s, but only the first %" PRIu32
	         " bytes of a packet are recorded: a repetition may differ",
	         reach->cloud->name, when, statement->name, statement->variant ? " " : "",
	         statement->variant ? statement->variant : "", statement->beyond, reach->snap);
	reach->say(reach->argument, line);
}

static void look_at_orders(struct reach *reach, const struct orders *orders, const char *schedule)
{
	char when[60];

	snprintf(when, sizeof(when), "%s ... ", schedule);
	for (uint32_t i = 0; i < orders->n; i++) {
		if (orders->order[i].conf)
			look_at(reach, orders->order[i].conf, when);
	}
}

/* Reports a `match` whose filter may read beyond the snap; an expression that is no filter reads
 * only headers. `what`: `match`, or that of a class. */
static void look_at_match(struct reach *reach, const char *words, const char *what)
{
	struct match match;
	char line[300];

	if (!words || match_parse(words, &match) || filter_reach(words) <= reach->snap)
		return;
	snprintf(line, sizeof(line),
	         "cloud %s %s %.100s: it may compare more bytes, but only the first %" PRIu32
	         " bytes of a packet are recorded: a repetition may differ",
	         reach->cloud->name, what, words, reach->snap);
	reach->say(reach->argument, line);
}

/* Checks the `match` of a class. */
static void look_at_matches(struct reach *reach, const struct conf *conf)
{
	const struct field *field = conf->statement->fields;

	for (; conf->statement->role == ROLE_CLASS && field && field->name; field++) {
		const void *value = (const char *)conf + field->offset;
		char what[60];

		if (field->type != FIELD_TEXT || strcmp(field->name, "match") != 0)
			continue;
		snprintf(what, sizeof(what), "class %.32s match", conf->scope);
		look_at_match(reach, *(char *const *)value, what);
	}
}

/* Checks the statements that a schedule puts in force. */
static void look_at_schedule(struct reach *reach, const struct conf *conf)
{
	const char *name = conf->statement->name;

	for (const struct field *field = conf->statement->fields; field && field->name; field++) {
		const void *value = (const char *)conf + field->offset;
		const struct states *states = value;

		if (field->type == FIELD_ORDERS)
			look_at_orders(reach, value, name);
		for (uint32_t i = 0; field->type == FIELD_STATES && i < states->n; i++)
			look_at_orders(reach, &states->state[i].orders, name);
	}
}

/* Passes a line about each to `say`; none if `snap` is 0: whole packets. */
static void recording_reach_of(uint32_t snap, const struct scenario *scenario, reach_say *say,
                               void *argument)
{
	struct reach reach = {.snap = snap, .say = say, .argument = argument};

	for (uint32_t i = 0; snap > 0 && i < scenario->n_clouds; i++) {
		reach.cloud = scenario->clouds[i];
		if (reach.cloud->selection)
			look_at_match(&reach, selection_filter(selection_of(reach.cloud)), "match");
		for (uint32_t k = 0; k < reach.cloud->n_confs; k++) {
			look_at(&reach, reach.cloud->confs[k], "");
			look_at_schedule(&reach, reach.cloud->confs[k]);
			look_at_matches(&reach, reach.cloud->confs[k]);
		}
	}
}

/* What is known already: an object with a member for each line. */
struct known {
	json_t *lines;
	reach_say *say;
	void *argument;
};

static void note(void *argument, const char *line)
{
	const struct known *known = argument;

	json_object_set_new_nocheck(known->lines, line, json_true());
}

static void say_if_new(void *argument, const char *line)
{
	const struct known *known = argument;

	if (!json_object_get(known->lines, line))
		known->say(known->argument, line);
}

void recording_reach_more(uint32_t snap, const struct scenario *before,
                          const struct scenario *scenario, reach_say *say, void *argument)
{
	/* Without memory, all of them are reported. */
	struct known known = {json_object(), say, argument};

	recording_reach_of(snap, before, note, &known);
	recording_reach_of(snap, scenario, say_if_new, &known);
	json_decref(known.lines);
}

void recording_reach(const struct recording_folder *folder, bool changes, reach_say *say,
                     void *argument)
{
	const char *line;

	recording_reach_of(recording_folder_about(folder)->snap, recording_folder_first(folder),
	                   say, argument);
	for (size_t i = 0; changes && (line = recording_folder_warning(folder, i)); i++)
		say(argument, line);
}

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
