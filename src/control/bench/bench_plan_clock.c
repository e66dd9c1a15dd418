/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a live run, compared with the kernel's. */
#include <errno.h>
#include <stdlib.h>

#include "bench/bench_plan.h"
#include "bench/bench_rows.h"
#include "measure/bench_clock.h"

#define CLOCK_S 5.0

int bench_plan_clock(struct bench_plan *plan, struct problem *problem)
{
	double seconds = bench_seconds(plan->arguments, CLOCK_S);
	struct bench_clock *clock = malloc(sizeof(*clock));
	struct bench_clock_source source;
	int rc;

	if (!clock) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	if (plan->conditions.tell)
		plan->conditions.tell(plan->conditions.argument, "clock");
	bench_clock_machine(&source);
	rc = bench_clock_watch(&source, seconds, clock);
	if (rc == -ERANGE)
		problem_set(problem, -1,
		            "clock: the time stamp counter does not run evenly; see weir bench "
		            "machine for the reason");
	else if (rc < 0)
		problem_set(problem, -1, "interrupted");
	if (clock->interval_ns.count > 0)
		json_array_append_new(
		        plan->rows,
		        bench_row_clock((double)clock->samples * BENCH_CLOCK_STEP_NS / SIMTIME_S,
		                        clock));
	free(clock);
	return rc;
}
