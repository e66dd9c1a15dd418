/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/rest_options.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
