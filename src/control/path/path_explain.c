/* SPDX-License-Identifier: BSD-3-Clause */
#include "path/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "capture/fate_ring.h"
#include "explain/explain_run.h"
#include "explain/explainer.h"
#include "live/tap.h"
#include "replay/picture.h"

/* Room for 100 ms at 5 Gbit/s; and how often is looked whether the workers have the tap. */
#define MEMORY_BYTES (UINT64_C(64) << 20)
#define LOOK_NS      200000

struct path_explain {
	struct explain_run *run;
	void *memory;
	bool words, broken;
};

int path_explain_open(const struct path_record_files *files, const struct scenario *scenario,
                      struct path_explain **result, struct problem *problem)
{
	struct path_explain *explain = calloc(1, sizeof(*explain));
	char ports[SCENARIO_PORTS_MAX][SCENARIO_NAME_BYTES];
	int rc;

	if (!explain) {
		problem_set(problem, -1, "no memory to explain connections");
		return -ENOMEM;
	}
	explain->words = files->explain;
	explain_ports(scenario, ports);
	rc = explain_run_open(
	        &(struct explain_plan){.n_ports = scenario->n_ports,
	                               .ports = (const char(*)[SCENARIO_NAME_BYTES])ports,
	                               .json = files->explain_json},
	        &explain->run, problem);
	if (rc == 0)
		*result = explain;
	else
		free(explain);
	return rc;
}

/* A tap that has begun belongs to the runtime. */
static int begin_tap(struct runtime *runtime, int fd, struct problem *problem)
{
	const struct tap_plan plan = {.kinds = EXPLAINER_KINDS,
	                              .bare = EXPLAINER_KINDS & ~EXPLAINER_FRAMES,
	                              .snap = FATE_SNAP_MAX};
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	struct tap *tap;
	int rc = tap_make(&plan, runtime_workers(runtime), fd, &tap, problem);

	if (rc < 0)
		return rc;
	rc = runtime_tap_begin(runtime, tap, 0);
	if (rc < 0) {
		tap_free(tap);
		problem_set(problem, -1, "too many captures to explain connections");
		return rc;
	}
	while (!runtime_tap_is_on(runtime, tap))
		nanosleep(&pause, NULL);
	return 0;
}

int path_explain_begin(struct path_explain *explain, struct runtime *runtime,
                       struct problem *problem)
{
	int fd = fate_reader_make(MEMORY_BYTES, &explain->memory), rc;

	if (fd < 0) {
		explain->memory = NULL;
		problem_set(problem, -1, "cannot get 64 MiB of memory to explain connections: %s",
		            strerror(-fd));
		return fd;
	}
	rc = begin_tap(runtime, fd, problem);
	close(fd);
	return rc;
}

void path_explain_take(struct path_explain *explain, simtime until)
{
	int n;

	if (!explain->memory || explain->broken)
		return;
	do {
		n = fate_reader_empty(explain->memory, MEMORY_BYTES, explain_run_take,
		                      explain->run);
	} while (n >= FATE_READER_MOST);
	explain->broken = n < 0;
	if (until != SIMTIME_NEVER)
		explain_run_step(explain->run, until);
}

int path_explain_finish(struct path_explain *explain, struct picture *picture,
                        struct problem *problem)
{
	uint64_t missed = 0;
	char *text;
	int rc;

	for (int kind = 0; kind < FATE_KINDS; kind++)
		missed += fate_reader_missed(explain->memory, MEMORY_BYTES, (enum fate_kind)kind);
	rc = explain_run_finish(explain->run, missed, problem);
	if (rc < 0 || !picture)
		return rc;
	text = explain_run_text(explain->run);
	if (text)
		picture_say(picture, EXPLAIN_HEADING, text);
	free(text);
	return 0;
}

int path_explain_publish(struct path_explain *explain, struct problem *problem)
{
	return explain_run_publish(explain->run, problem);
}

void path_explain_print(const struct path_explain *explain, FILE *out)
{
	if (explain->words)
		explain_run_print(explain->run, out);
}

void path_explain_close(struct path_explain *explain)
{
	if (!explain)
		return;
	if (explain->memory)
		munmap(explain->memory, MEMORY_BYTES);
	explain_run_free(explain->run);
	free(explain);
}
