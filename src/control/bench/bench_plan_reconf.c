/* SPDX-License-Identifier: BSD-3-Clause */
/* What changes of a scenario cost the packets that flow meanwhile. */
#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "bench/bench.h"

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
	int rc = 0;

	bench_live_window_begin(live);
	if (changes)
		rc = bench_changes_begin(changes, problem);
	if (rc < 0)
		return rc;
	rc = serve_for(live, changes, QUIET_S);
	if (rc < 0)
		bench_plan_failed(problem, rc);
	if (changes)
		rc = bench_changes_end_live(changes, live, rc, problem);
	if (rc == 0 && !bench_live_window_end(live, window))
		return bench_plan_failed(problem, -ENOMEM);
	return rc;
}

static json_t *row_of(const struct bench_window *with, const struct bench_window *without,
                      uint64_t changes)
{
	double blocked_ns =
	        (double)((with->lost + with->missed - with->missed_preempted) * RECONF_NS);

	/* Time in which others had the worker's processor blocks packets, too, but is not
	 * weir's. */
	return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:o, s:o}", "part", "reconf", "changes",
	                 (json_int_t)changes, "blocked_ns", blocked_ns, "blocked_ns_per_change",
	                 changes ? blocked_ns / (double)changes : 0, "blocked_away_ns",
	                 (double)(with->missed_preempted * RECONF_NS), "taken_ns",
	                 with->taken * with->seconds * 1e9, "with", bench_json_window(with),
	                 "without", bench_json_window(without));
}

int bench_plan_reconf(struct bench_plan *plan, struct problem *problem)
{
	struct bench_live *live = calloc(1, sizeof(*live));
	struct bench_window *windows = calloc(2, sizeof(*windows));
	struct bench_changes changes = {.most = RECONF_CHANGES};
	struct problem other;
	int rc = bench_plan_failed(problem, -ENOMEM);

	if (!live || !windows)
		goto err_free;
	bench_plan_progress("reconf: 1000 changes at 1 Mpps");
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
		bench_plan_add(plan, row_of(&windows[1], &windows[0], changes.made));
	if (bench_live_close(live, rc < 0 ? &other : problem) < 0 && rc == 0)
		rc = -EIO;
err_free:
	free(windows);
	free(live);
	return rc;
}
