/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run_prepare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "check/budget.h"
#include "check/devices.h"
#include "check/memory_plan.h"
#include "language/scenario_check.h"
#include "text/alloc_failure.h"

void run_warn(const struct scenario *scenario)
{
	char *lines = NULL, *rest;
	size_t bytes;
	FILE *out = alloc_failure_stream(&lines, &bytes);

	if (!out)
		return;
	scenario_warn(scenario, out);
	devices_warn(scenario, out);
	if (alloc_failure_close(out) == 0) {
		for (char *line = strtok_r(lines, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest))
			run_log(RUN_LOG_WARNING, "%s", line);
	}
	free(lines);
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
