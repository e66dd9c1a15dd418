/* SPDX-License-Identifier: BSD-3-Clause */
#include "path/path.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "capture/fate_ring.h"
#include "explain/explain_run.h"
#include "explain/explainer.h"
#include "live/tap.h"

/* Room for 100 ms at 5 Gbit/s; and how often is looked whether the workers have the tap. */
#define MEMORY_BYTES (UINT64_C(64) << 20)
#define LOOK_NS      200000

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

int path_tap_begin(struct path_tap *tap, struct runtime *runtime, struct problem *problem)
{
	int fd = fate_reader_make(MEMORY_BYTES, &tap->memory), rc;

	if (fd < 0) {
		tap->memory = NULL;
		problem_set(problem, -1, "cannot get 64 MiB of memory to explain connections: %s",
		            strerror(-fd));
		return fd;
	}
	rc = begin_tap(runtime, fd, problem);
	close(fd);
	return rc;
}

void path_tap_take(struct path_tap *tap, struct explain_run *explain, simtime until)
{
	int n;

	if (!tap->memory || tap->broken)
		return;
	do {
		n = fate_reader_empty(tap->memory, MEMORY_BYTES, explain_run_take, explain);
	} while (n >= FATE_READER_MOST);
	tap->broken = n < 0;
	if (until != SIMTIME_NEVER)
		explain_run_step(explain, until);
}

uint64_t path_tap_missed(const struct path_tap *tap)
{
	uint64_t missed = 0;

	for (int kind = 0; kind < FATE_KINDS; kind++)
		missed += fate_reader_missed(tap->memory, MEMORY_BYTES, (enum fate_kind)kind);
	return missed;
}

void path_tap_close(struct path_tap *tap)
{
	if (tap->memory)
		munmap(tap->memory, MEMORY_BYTES);
}
