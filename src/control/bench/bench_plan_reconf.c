/* SPDX-License-Identifier: BSD-3-Clause */
/* What changes of a scenario cost the packets that flow meanwhile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "bench/bench_changes.h"
#include "bench/bench_live.h"
#include "bench/bench_plan.h"
#include "bench/bench_rows.h"

#define RECONF_PPS     1e6
#define RECONF_NS      ((uint64_t)(1e9 / RECONF_PPS)) /* from one packet to the next */
#define RECONF_CHANGES 1000
#define QUIET_S        2.0

/* Answers clients until the changes are made, or for `seconds`. Returns 0, -EINTR or -errno. */
static int serve_for(struct bench_live *live, const struct bench_changes *changes, double seconds)
{
	uint64_t end = rte_rdtsc() + (uint64_t)(seconds / live->rig.tick_ns * 1e9);

	while (changes ? !bench_changes_ended(changes) : rte_rdtsc() < end) {
		int rc = bench_live_step(live);

		if (rc != 0)
			return rc > 0 ? -EINTR : rc;
	}
	return 0;
}

static int window(struct bench_live *live, struct bench_changes *changes,
                  struct bench_window *window, struct problem *problem)
{
	int rc;

	bench_live_window_begin(live);
	if (changes) {
		rc = bench_changes_begin(changes, problem);
		if (rc < 0)
			return rc;
	}
	rc = serve_for(live, changes, QUIET_S);
	if (changes) {
		struct problem refused;

		/* Without an answer, the thread of the changes would wait for ever. */
		while (!bench_changes_ended(changes) && bench_live_step(live) == 0)
			changes->stop = true;
		if (bench_changes_end(changes, &refused) < 0 && rc == 0) {
			*problem = refused;
			return -EIO;
		}
	}
	if (rc == 0 && !bench_live_window_end(live, window))
		rc = -ENOMEM;
	if (rc < 0)
		problem_set(problem, -1, "%s", rc == -EINTR ? "interrupted" : strerror(-rc));
	return rc;
}

static json_t *row_of(const struct bench_window *with, const struct bench_window *without,
                      uint64_t changes)
{
	double blocked_ns =
	        (double)((with->lost + with->missed - with->missed_preempted) * RECONF_NS);
	json_t *row = json_pack("{s:s}", "part", "reconf");

	json_object_set_new(row, "changes", json_integer((json_int_t)changes));
	json_object_set_new(row, "blocked_ns", json_real(blocked_ns));
	json_object_set_new(row, "blocked_ns_per_change",
	                    json_real(changes ? blocked_ns / (double)changes : 0));
	/* Time in which others had the worker's processor blocks packets, too, but is not
	 * weir's. */
	json_object_set_new(row, "blocked_away_ns",
	                    json_real((double)(with->missed_preempted * RECONF_NS)));
	json_object_set_new(row, "taken_ns", json_real(with->taken * with->seconds * 1e9));
	json_object_set_new(row, "with", bench_json_window(with));
	json_object_set_new(row, "without", bench_json_window(without));
	return row;
}

int bench_plan_reconf(struct bench_plan *plan, struct problem *problem)
{
	struct bench_live *live = calloc(1, sizeof(*live));
	struct bench_window *windows = calloc(2, sizeof(*windows));
	struct bench_changes changes = {.most = RECONF_CHANGES};
	struct problem other;
	int rc = -ENOMEM;

	problem_set(problem, -1, "no memory");
	if (!live || !windows)
		goto err_free;
	if (plan->conditions.tell)
		plan->conditions.tell(plan->conditions.argument, "reconf: 1000 changes at 1 Mpps");
	rc = bench_live_open(live, BENCH_CHANGES_BASE, RECONF_PPS, &plan->conditions, problem);
	if (rc < 0)
		goto err_free;
	changes.socket = live->socket;
	rc = bench_live_serve(live, problem);
	/* The line must fill first. */
	if (rc == 0)
		rc = serve_for(live, NULL, 0.2);
	if (rc == 0)
		rc = window(live, NULL, &windows[0], problem);
	if (rc == 0)
		rc = window(live, &changes, &windows[1], problem);
	if (rc == 0)
		json_array_append_new(plan->rows, row_of(&windows[1], &windows[0], changes.made));
	if (bench_live_close(live, rc < 0 ? &other : problem) < 0 && rc == 0)
		rc = -EIO;
err_free:
	free(windows);
	free(live);
	return rc;
}
