/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 2544: the choice of the device under test, of frames and durations. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "bench/bench_plan.h"
#include "bench/bench_rows.h"
#include "bench/bench_scenarios.h"
#include "live/runtime_state.h"
#include "measure/bench_tester.h"

#define LINE_BPS    10e9
#define FRAME_GAP   20 /* bytes of preamble and gap on the wire with each frame */
#define TRIAL_S     0.2
#define RESIDUAL_NS (2 * SIMTIME_S) /* RFC 2544, 23 */
#define OWN_REST_NS (20 * SIMTIME_MS)
#define DEFAULT_DUT "delay 1ms"
#define BURST_S     0.1

static const uint32_t rfc_frames[] = {64, 128, 256, 512, 1024, 1280, 1518};
static const uint32_t few_frames[] = {64, 512, 1518};

struct course {
	struct bench_plan *plan;
	struct bench_tester tester;
	struct bench_cables cables;
	struct scenario *scenario;
	struct bench_rig rig; /* weir as the device under test */
	bool own, rigged;
	struct rfc2544_conditions conditions;
	/* of the present frame size */
	uint32_t frame_bytes;
	struct rfc2544_result result;
	int rc;
};

/* ---- the device under test ---- */

static int no_memory(struct problem *problem)
{
	problem_set(problem, -1, "no memory for the scenario");
	return -ENOMEM;
}

static int own_scenario(struct course *course, struct problem *problem)
{
	const struct scenario *given = course->plan->scenario;

	if (!given)
		return bench_scenario_make(DEFAULT_DUT, true, &course->scenario, problem);
	course->scenario = scenario_copy(given);
	return course->scenario ? 0 : no_memory(problem);
}

static int start_own(struct course *course, struct problem *problem)
{
	struct bench_setup setup = {.ports = BENCH_GIVEN, .frame_bytes = 1518};
	int rc = own_scenario(course, problem);

	if (rc == 0)
		rc = bench_cables_make(&course->cables, problem);
	if (rc < 0)
		return rc;
	course->own = true;
	for (int i = 0; i < 2; i++) {
		free(course->scenario->ports[i].device);
		course->scenario->ports[i].device = strdup(course->cables.weir[i]);
		if (!course->scenario->ports[i].device)
			return no_memory(problem);
	}
	setup.scenario = course->scenario;
	setup.most_pps = course->plan->arguments->line_bps > 0
	                         ? (double)course->plan->arguments->line_bps / 512
	                         : LINE_BPS / 512;
	rc = bench_rig_open(&course->rig, &setup, &course->plan->conditions, problem);
	if (rc < 0)
		return rc;
	course->rigged = true;
	return 0;
}

static int open_tester(struct course *course, struct problem *problem)
{
	const struct bench_arguments *arguments = course->plan->arguments;
	struct clock clock;
	int rc;

	if (!course->own) {
		clock_calibrate(&clock);
		rc = bench_tester_open(&course->tester, arguments->devices[0],
		                       arguments->devices[1], clock.rate_ns, problem);
		course->tester.wait_ns = RESIDUAL_NS;
		return rc;
	}
	rc = bench_tester_open(&course->tester, course->cables.tester[0], course->cables.tester[1],
	                       course->rig.tick_ns, problem);
	course->tester.full_is_lost = true;
	course->tester.wait_ns = OWN_REST_NS + 2 * bench_held_ns(course->scenario);
	course->tester.worker = &course->rig.runtime->workers[0];
	return rc;
}

/* ---- frames ---- */

/* Returns true if no other part is measured. */
static bool alone(const struct bench_arguments *arguments)
{
	for (int part = 0; part < BENCH_MACHINE; part++) {
		if (part != BENCH_RFC2544 && arguments->parts[part])
			return false;
	}
	return true;
}

static void choose_times(struct course *course)
{
	const struct bench_arguments *arguments = course->plan->arguments;
	double seconds = bench_seconds(arguments, alone(arguments) ? TRIAL_S : TRIAL_S / 2);

	course->conditions = rfc2544_full;
	if (arguments->rfc_times)
		return;
	course->conditions.trial_s = course->conditions.latency_s = seconds;
	course->conditions.burst_s = BURST_S;
	course->conditions.searches = !alone(arguments)     ? 1
	                              : arguments->runs > 0 ? (uint32_t)arguments->runs
	                                                    : rfc2544_full.searches;
	course->conditions.latency_repeats = course->plan->conditions.runs;
	course->conditions.burst_repeats = alone(arguments) ? course->plan->conditions.runs : 1;
}

static int run_frame(void *argument)
{
	struct course *course = argument;
	int priority = course->plan->conditions.priority;

	bench_priority_set(priority);
	course->rc = rfc2544_run(&course->tester.base, &course->conditions, course->frame_bytes,
	                         &course->result);
	bench_priority_clear(priority);
	return 0;
}

static int measure_frame(struct course *course, uint32_t frame_bytes, struct problem *problem)
{
	struct bench_plan *plan = course->plan;
	double line_bps =
	        plan->arguments->line_bps > 0 ? (double)plan->arguments->line_bps : LINE_BPS;
	char what[80];

	if (frame_bytes < 64 || frame_bytes > BENCH_TESTER_BYTES) {
		problem_set(problem, -1, "rfc2544 takes frames from 64 to %d bytes, not %u",
		            BENCH_TESTER_BYTES, frame_bytes);
		return -EINVAL;
	}
	snprintf(what, sizeof(what), "rfc2544: frames of %u B", frame_bytes);
	if (plan->conditions.tell)
		plan->conditions.tell(plan->conditions.argument, what);
	course->frame_bytes = frame_bytes;
	course->conditions.line_pps = line_bps / ((frame_bytes + FRAME_GAP) * 8);
	/* If weir is under test, this thread measures, beside weir's worker; else a worker's core
	 * does. */
	if (course->own) {
		run_frame(course);
	} else {
		unsigned lcore = rte_get_next_lcore(-1, 1, 0);

		rte_eal_remote_launch(run_frame, course, lcore);
		rte_eal_wait_lcore(lcore);
	}
	if (course->rc < 0) {
		problem_set(problem, -1, "%s",
		            course->rc == -EINTR     ? "interrupted"
		            : course->rc == -ENOBUFS ? "the sending device takes no frames: is its "
		                                       "link up, and does the other end receive?"
		                                     : strerror(-course->rc));
		return course->rc;
	}
	json_array_append_new(plan->rows, bench_row_rfc2544(course->own ? "weir, in this process"
	                                                                : "between the two devices",
	                                                    &course->conditions, &course->result));
	return 0;
}

static int measure_frames(struct course *course, struct problem *problem)
{
	const struct bench_arguments *arguments = course->plan->arguments;
	int rc = 0;

	if (arguments->frame_given)
		return measure_frame(course, arguments->frame_bytes, problem);
	const uint32_t *frames = alone(arguments) ? rfc_frames : few_frames;
	size_t n = alone(arguments) ? RTE_DIM(rfc_frames) : RTE_DIM(few_frames);

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = measure_frame(course, frames[i], problem);
	return rc;
}

/* ---- */

static int finish(struct course *course, int rc, struct problem *problem)
{
	struct problem other;

	if (course->rigged && bench_rig_close(&course->rig, rc < 0 ? &other : problem) < 0 &&
	    rc == 0)
		rc = -EIO;
	if (course->own)
		bench_cables_free(&course->cables);
	scenario_free(course->scenario);
	free(course);
	return rc;
}

int bench_plan_rfc2544(struct bench_plan *plan, struct problem *problem)
{
	struct course *course = calloc(1, sizeof(*course));
	int rc = 0;

	if (!course) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	course->plan = plan;
	choose_times(course);
	if (plan->arguments->n_devices == 0)
		rc = start_own(course, problem);
	if (rc == 0)
		rc = open_tester(course, problem);
	if (rc < 0)
		return finish(course, rc, problem);
	if (course->own)
		bench_rig_go(&course->rig);
	rc = measure_frames(course, problem);
	if (course->own) {
		bench_rig_stop(&course->rig);
		bench_cables_empty(&course->cables);
	}
	bench_tester_close(&course->tester);
	return finish(course, rc, problem);
}
