/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/rest_options.h"

#include <stdio.h>
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

static void say_worker(const struct rest_arguments *arguments, uint32_t index,
                       const struct worker_report *worker, enum run_log_level level)
{
	char priority[40];

	priority_text(&worker->priority, priority, sizeof(priority));
	if (worker->sleeps)
		run_log(level, "worker %u sleeps between packets (processor %u%s%s)%s", index,
		        worker->cpu, priority[0] ? ", " : "", priority,
		        !arguments->priority_given && worker->priority.kind != PRIORITY_FIFO
		                ? "; root, or `ulimit -r 50`, makes it more punctual beside other "
		                  "programs"
		                : "");
	else if (worker->deaf)
		run_log(level,
		        "worker %u polls processor %u, which is not isolated: port %s cannot wake "
		        "it; if other programs run there, packets are late: isolcpus=%u keeps them "
		        "away, --sleep 100us lets the worker sleep",
		        index, worker->cpu, worker->deaf, worker->cpu);
}

void rest_say(const struct rest_arguments *arguments, const struct runtime *runtime,
              enum run_log_level level)
{
	struct worker_report worker;

	for (uint32_t i = 0; i < runtime_workers(runtime); i++) {
		if (runtime_worker_report(runtime, i, &worker))
			say_worker(arguments, i, &worker, level);
	}
}
