/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run_prepare.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "check/budget.h"
#include "check/devices.h"
#include "check/memory_plan.h"
#include "language/scenario_check.h"
#include "machine/run_log.h"
#include "port/privileges.h"
#include "stream/flight_dumps.h"
#include "text/alloc_failure.h"
#include "text/value.h"

#define SLEEP_MOST (10 * SIMTIME_MS)

int rest_take_sleep(const struct field *field, char *text, void *arguments,
                    struct language_error *error)
{
	struct rest_arguments *rest = (void *)((char *)arguments + field->offset);
	const struct field time = {.name = "--sleep",
	                           .type = FIELD_TIME,
	                           .offset = offsetof(struct rest_arguments, sleep_ns),
	                           .min = SIMTIME_US,
	                           .max = SLEEP_MOST};

	rest->sleep_given = true;
	rest->sleep_ns = 0;
	return strcmp(text, "none") == 0 ? 0 : value_parse(&time, text, rest, error);
}

int rest_take_priority(const struct field *field, char *text, void *arguments,
                       struct language_error *error)
{
	struct rest_arguments *rest = (void *)((char *)arguments + field->offset);
	struct priority *priority = &rest->priority;
	uint64_t level = PRIORITY_LEVEL;
	int rc = 0;

	if (strncmp(text, "fifo:", 5) == 0)
		rc = value_parse_count(text + 5, 1, PRIORITY_LEVEL_MOST, "priority", &level, error);
	else if (strcmp(text, "fifo") != 0 && strcmp(text, "slice") != 0 &&
	         strcmp(text, "none") != 0)
		rc = language_error_set(error, ERROR_UNKNOWN_WORD,
		                        "`%.*s` is not a priority: write fifo, fifo:50, slice or "
		                        "none",
		                        language_error_shown(text), text);
	rest->priority_given = true;
	priority->kind = strcmp(text, "none") == 0    ? PRIORITY_NONE
	                 : strcmp(text, "slice") == 0 ? PRIORITY_SLICE
	                                              : PRIORITY_FIFO;
	priority->level = (uint32_t)level;
	return rc;
}

void rest_options_set(const struct rest_arguments *arguments, enum runtime_rest chosen,
                      struct runtime_options *options)
{
	options->rest = !arguments->sleep_given   ? chosen
	                : arguments->sleep_ns > 0 ? REST_TIMED
	                                          : REST_NEVER;
	options->sleep_ns = arguments->sleep_ns;
	options->priority = arguments->priority;
	if (!arguments->priority_given)
		options->priority =
		        (struct priority){.kind = PRIORITY_BEST, .level = PRIORITY_LEVEL};
}

void rest_let_move(const cpu_set_t *allowed)
{
	DIR *threads = opendir("/proc/self/task");

	for (struct dirent *entry; threads && (entry = readdir(threads));) {
		if (entry->d_name[0] != '.')
			sched_setaffinity(atoi(entry->d_name), sizeof(*allowed), allowed);
	}
	if (threads)
		closedir(threads);
}

bool rest_is_possible(const struct runtime *runtime)
{
	struct worker_report worker;

	for (uint32_t i = 0; i < runtime_workers(runtime); i++) {
		if (runtime_worker_report(runtime, i, &worker) && !worker.sleeps)
			return false;
	}
	return true;
}

static void say_worker(const struct rest_arguments *arguments, uint32_t index,
                       const struct worker_report *worker, bool moves, enum run_log_level level)
{
	char priority[40], where[40] = "any processor";

	priority_text(&worker->priority, priority, sizeof(priority));
	if (!moves)
		snprintf(where, sizeof(where), "processor %u", worker->cpu);
	if (worker->sleeps)
		run_log(level, "worker %u sleeps between packets (%s%s%s)%s", index, where,
		        priority[0] ? ", " : "", priority,
		        !arguments->priority_given && worker->priority.kind != PRIORITY_FIFO
		                ? "; root, or `ulimit -r 50`, makes it more punctual beside other "
		                  "programs"
		                : "");
	else if (worker->deaf)
		run_log(level,
		        "worker %u polls %s, which is not isolated: port %s cannot wake it; if "
		        "other programs run there, packets are late: isolcpus=%u keeps them away, "
		        "--sleep 100us lets the worker sleep",
		        index, where, worker->deaf, worker->cpu);
}

void rest_say(const struct rest_arguments *arguments, const struct runtime *runtime, bool moves,
              enum run_log_level level)
{
	struct worker_report worker;

	for (uint32_t i = 0; i < runtime_workers(runtime); i++) {
		if (runtime_worker_report(runtime, i, &worker))
			say_worker(arguments, i, &worker, moves, level);
	}
}

void run_warn(const struct scenario *scenario)
{
	struct printed lines;
	FILE *out = printed_begin(&lines);
	char *rest;

	scenario_warn(scenario, out);
	devices_warn(scenario, out);
	for (char *line = printed_end(&lines) ? strtok_r(lines.bytes, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		run_log(RUN_LOG_WARNING, "%s", line);
	free(lines.bytes);
}

void run_seed_choose(struct scenario *scenario)
{
	uint32_t drawn;

	if (scenario->seed_given)
		return;
	if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
		drawn = (uint32_t)getpid();
	scenario->seed = drawn;
	scenario->seed_given = true;
}

int run_memory_size(const struct scenario *scenario, const struct run_memory *asked,
                    struct runtime_options *options, char *message, size_t room)
{
	struct recording_plan recording;
	struct machine_memory machine;
	struct budget budget;
	struct memory_request request = {.scenario = scenario,
	                                 .budget = &budget,
	                                 .machine = &machine,
	                                 .workers = asked->workers,
	                                 .asked_bytes = asked->asked_bytes};
	uint64_t port_bps[SCENARIO_PORTS_MAX];
	struct memory_plan plan;
	struct problem problem;
	int rc = machine_memory_read("", &machine);

	if (rc < 0) {
		snprintf(message, room, "/proc/meminfo: %s; weir reads the available memory there",
		         strerror(-rc));
		return rc;
	}
	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++)
		port_bps[i] = asked->port_bps;
	if (budget_of(scenario, port_bps, &budget) < 0) {
		snprintf(message, room, "no memory");
		return -ENOMEM;
	}
	if (recording_plan_of(asked->record, &recording))
		request.recording = &recording;
	rc = memory_plan_make(&request, &plan, &problem);
	options->memory_bytes = plan.memory_bytes;
	options->mbufs = plan.mbufs;
	if (rc < 0 && asked->asked_bytes)
		snprintf(message, room, "%s", problem.text);
	else if (rc < 0)
		budget_complain(&budget, scenario, asked->config, &problem, message, room);
	budget_release(&budget);
	return rc;
}

void run_give_up_privileges(const struct runtime *runtime, const struct recording_arguments *record,
                            const char *const *files, size_t n)
{
	const char *written[RUN_FILES_MAX + 3];
	char recording[PATH_MAX], dump[PATH_MAX];
	struct worker_report worker;
	struct problem problem;
	uint64_t others = 0;
	size_t n_written = 0;

	assert(n <= RUN_FILES_MAX);
	for (size_t i = 0; i < n; i++) {
		if (files[i] && files[i][0])
			written[n_written++] = files[i];
	}
	if (record->folder) {
		snprintf(recording, sizeof(recording), "%s/recording.json", record->folder);
		written[n_written++] = recording;
	}
	if (record->flight.unit != LIMIT_NONE) {
		snprintf(dump, sizeof(dump), "%s-DATE",
		         record->flight_to ? record->flight_to : FLIGHT_DUMPS_TO);
		written[n_written++] = dump;
	}
	written[n_written] = NULL;
	for (uint32_t i = 0; i < runtime_workers(runtime); i++) {
		if (runtime_worker_report(runtime, i, &worker))
			others |= priority_capabilities(&worker.priority);
	}
	if (privileges_give_up(runtime_scenario(runtime), others, written, &problem) < 0)
		run_log(RUN_LOG_WARNING, "%s", problem.text);
}
