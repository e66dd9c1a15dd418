/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts in which a tester sends and receives: RFC 2544, and the latency that devices add. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "bench/bench.h"
#include "bench/bench_scenarios.h"
#include "live/runtime_state.h"
#include "machine/clock.h"
#include "measure/bench_tester.h"

#define LINE_BPS    10e9
#define FRAME_GAP   20 /* bytes of preamble and gap on the wire with each frame */
#define TRIAL_S     0.2
#define RESIDUAL_NS (2 * SIMTIME_S) /* RFC 2544, 23 */
#define OWN_REST_NS (20 * SIMTIME_MS)
#define DEFAULT_DUT "delay 1ms"
#define BURST_S     0.1
#define LATENCY_S   1.0
#define REST_NS     (100 * SIMTIME_MS)

static const uint32_t rfc_frames[] = {64, 128, 256, 512, 1024, 1280, 1518};
static const uint32_t few_frames[] = {64, 512, 1518};

struct course {
	struct bench_plan *plan;
	struct bench_tester tester;
	struct bench_cables cables;
	bool own; /* with cables in this process, because no device is named */
	uint32_t frame_bytes;
	int rc; /* of the last measurement */
	/* rfc2544 */
	struct scenario *scenario;
	struct bench_rig rig; /* weir as the device under test */
	bool rigged;
	struct rfc2544_conditions conditions;
	struct rfc2544_result result;
	/* latency */
	const char *devices[2]; /* sending, receiving */
	double line_bps, cable_m, seconds;
	uint64_t half_ns[2]; /* by direction, for the first frame length */
	struct bench_latency latency;
};

/* Runs a measurement with the priority of the workers. */
static int run_frame(void *argument)
{
	struct course *course = argument;
	int priority = course->plan->conditions.priority;

	bench_priority_set(priority);
	if (course->conditions.trial_s > 0)
		course->rc = rfc2544_run(&course->tester.base, &course->conditions,
		                         course->frame_bytes, &course->result);
	else
		course->rc = bench_latency_measure(&course->tester.base, course->frame_bytes,
		                                   course->line_bps, course->cable_m,
		                                   course->seconds, &course->latency);
	bench_priority_clear(priority);
	return 0;
}

/* Runs it on the core of a worker. */
static void run_frame_there(struct course *course)
{
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);

	rte_eal_remote_launch(run_frame, course, lcore);
	rte_eal_wait_lcore(lcore);
}

/* Opens the tester between two devices; frames on the way get `wait_ns` after the last was sent. */
static int open_tester(struct course *course, const char *out, const char *in, uint64_t wait_ns,
                       struct problem *problem)
{
	struct clock clock = {.rate_ns = course->rig.tick_ns};
	int rc;

	if (!course->rigged && clock_calibrate(&clock) < 0) {
		problem_set(problem, -1, "the time stamp counter does not run evenly");
		return -ERANGE;
	}
	rc = bench_tester_open(&course->tester, out, in, clock.rate_ns, problem);
	course->tester.wait_ns = wait_ns;
	return rc;
}

/* ---- RFC 2544: the device under test ---- */

static int no_memory(struct problem *problem)
{
	problem_set(problem, -1, "no memory for the scenario");
	return -ENOMEM;
}

/* Starts weir as the device under test, between two cables, with the tester at their ends. */
static int start_own(struct course *course, struct problem *problem)
{
	const struct bench_plan *plan = course->plan;
	uint64_t line_bps = plan->arguments->line_bps;
	struct bench_setup setup = {.ports = BENCH_GIVEN,
	                            .frame_bytes = 1518,
	                            .most_pps = (line_bps > 0 ? (double)line_bps : LINE_BPS) / 512};
	int rc = 0;

	if (plan->scenario)
		course->scenario = scenario_copy(plan->scenario);
	else
		rc = bench_scenario_make(DEFAULT_DUT, true, &course->scenario, problem);
	if (rc == 0 && !course->scenario)
		return no_memory(problem);
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
	rc = bench_rig_open(&course->rig, &setup, &plan->conditions, problem);
	if (rc < 0)
		return rc;
	course->rigged = true;
	rc = open_tester(course, course->cables.tester[0], course->cables.tester[1],
	                 OWN_REST_NS + 2 * bench_held_ns(course->scenario), problem);
	course->tester.full_is_lost = true;
	course->tester.worker = &course->rig.runtime->workers[0];
	return rc;
}

/* ---- RFC 2544: frames and durations ---- */

static int measure_rfc2544(struct course *course, uint32_t frame_bytes, struct problem *problem)
{
	struct bench_plan *plan = course->plan;
	uint64_t line_bps = plan->arguments->line_bps;

	if (frame_bytes < 64 || frame_bytes > BENCH_TESTER_BYTES) {
		problem_set(problem, -1, "rfc2544 takes frames from 64 to %d bytes, not %u",
		            BENCH_TESTER_BYTES, frame_bytes);
		return -EINVAL;
	}
	bench_plan_tell("rfc2544: frames of %u B", frame_bytes);
	course->frame_bytes = frame_bytes;
	course->conditions.line_pps =
	        (line_bps > 0 ? (double)line_bps : LINE_BPS) / ((frame_bytes + FRAME_GAP) * 8);
	/* If weir is under test, this thread measures, beside weir's worker; else a worker's core
	 * does. */
	if (course->own)
		run_frame(course);
	else
		run_frame_there(course);
	if (course->rc < 0)
		return bench_plan_failed(problem, course->rc);
	bench_plan_add(plan, bench_row_rfc2544(course->own ? "weir, in this process"
	                                                   : "between the two devices",
	                                       &course->conditions, &course->result));
	return 0;
}

static int measure_all(struct course *course, struct problem *problem)
{
	const struct bench_arguments *arguments = course->plan->arguments;
	struct rfc2544_conditions *conditions = &course->conditions;
	uint32_t runs = course->plan->conditions.runs;
	bool alone = true; /* no other part is measured */
	int rc = 0;

	for (int part = 0; part < BENCH_MACHINE; part++)
		alone &= part == BENCH_RFC2544 || !arguments->parts[part];
	*conditions = rfc2544_full;
	if (!arguments->rfc_times) {
		conditions->trial_s = conditions->latency_s =
		        bench_seconds(arguments, alone ? TRIAL_S : TRIAL_S / 2);
		conditions->burst_s = BURST_S;
		conditions->searches = !alone                ? 1
		                       : arguments->runs > 0 ? (uint32_t)arguments->runs
		                                             : rfc2544_full.searches;
		conditions->latency_repeats = runs;
		conditions->burst_repeats = alone ? runs : 1;
	}
	if (arguments->frame_given)
		return measure_rfc2544(course, arguments->frame_bytes, problem);
	const uint32_t *frames = alone ? rfc_frames : few_frames;
	size_t n = alone ? RTE_DIM(rfc_frames) : RTE_DIM(few_frames);

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = measure_rfc2544(course, frames[i], problem);
	return rc;
}

int bench_plan_rfc2544(struct bench_plan *plan, struct problem *problem)
{
	struct course *course = calloc(1, sizeof(*course));
	struct problem other;
	int rc;

	if (!course)
		return bench_plan_failed(problem, -ENOMEM);
	course->plan = plan;
	if (plan->arguments->n_devices == 0)
		rc = start_own(course, problem);
	else
		rc = open_tester(course, plan->arguments->devices[0], plan->arguments->devices[1],
		                 RESIDUAL_NS, problem);
	if (rc == 0) {
		if (course->own)
			bench_rig_go(&course->rig);
		rc = measure_all(course, problem);
		if (course->own) {
			bench_rig_stop(&course->rig);
			bench_cables_empty(&course->cables);
		}
		bench_tester_close(&course->tester);
	}
	if (course->rigged && bench_rig_close(&course->rig, rc < 0 ? &other : problem) < 0 &&
	    rc == 0)
		rc = -EIO;
	if (course->own)
		bench_cables_free(&course->cables);
	scenario_free(course->scenario);
	free(course);
	return rc;
}

/* ---- latency: a loop over a cable in both directions ---- */

/* Opens the tester over the cable, which is made if no device is named. */
static int open_loop(struct course *course, struct problem *problem)
{
	const char *const *devices = course->plan->arguments->devices;
	int rc = 0;

	if (course->plan->arguments->n_devices == 0) {
		rc = bench_cables_make(&course->cables, problem);
		course->own = rc == 0;
	}
	if (rc < 0)
		return rc;
	course->devices[0] = course->own ? course->cables.weir[0] : devices[0];
	course->devices[1] = course->own ? course->cables.tester[0] : devices[1];
	return open_tester(course, course->devices[0], course->devices[1], REST_NS, problem);
}

static int measure_latency(struct course *course, struct problem *problem)
{
	struct bench_plan *plan = course->plan;
	const struct port *port = &course->tester.ports[0];
	const struct bench_latency *result = &course->latency;

	bench_plan_tell("latency: %s to %s, %u B", course->devices[0], course->devices[1],
	                course->frame_bytes);
	/* The rate of the wire, as given, or that of a NIC's link; else 0, since the speed that a
	 * virtual device reports is not that of a wire. */
	course->line_bps = plan->arguments->line_bps > 0 ? (double)plan->arguments->line_bps
	                   : port_is_pci(port->device)   ? (double)port_link_bps(port)
	                                                 : 0;
	run_frame_there(course);
	if (course->rc == -EIO)
		problem_set(problem, -1,
		            "%s received %" PRIu64 " of %" PRIu64
		            " frames from %s: connect the two by a cable, with both links up and "
		            "nothing in between",
		            course->devices[1], result->received, result->sent, course->devices[0]);
	else if (course->rc < 0)
		bench_plan_failed(problem, course->rc);
	if (course->rc == 0)
		bench_plan_add(plan, bench_row_latency(course->devices[0], course->devices[1],
		                                       course->line_bps, course->cable_m, result));
	return course->rc;
}

/* Measures one direction, then the other, for which the ports are exchanged. */
static int measure_ways(struct course *course, struct problem *problem)
{
	const struct bench_arguments *arguments = course->plan->arguments;
	size_t n = arguments->frame_given ? 1 : RTE_DIM(few_frames);
	int rc = 0;

	for (int way = 0; way < 2; way++) {
		for (size_t i = 0; rc == 0 && i < n; i++) {
			course->frame_bytes =
			        arguments->frame_given ? arguments->frame_bytes : few_frames[i];
			rc = measure_latency(course, problem);
			if (i == 0)
				course->half_ns[way] = course->latency.half_ns;
		}
		RTE_SWAP(course->tester.ports[0], course->tester.ports[1]);
		RTE_SWAP(course->devices[0], course->devices[1]);
	}
	return rc;
}

/* Says the words for `port` that subtract the latency. The tx latency of one device and the rx
 * latency of the other are from the same direction. */
static void conclude(const struct course *course)
{
	struct bench_plan *plan = course->plan;
	uint64_t there_ns = course->half_ns[0], back_ns = course->half_ns[1];

	if (there_ns > BENCH_LATENCY_MAX_NS || back_ns > BENCH_LATENCY_MAX_NS) {
		bench_plan_remark(plan,
		                  "latency: more than 1 ms for each device, which `port` does not "
		                  "accept: is there more than a cable in between?");
		return;
	}
	bench_plan_remark(plan,
	                  "latency: options for `port`; only the sum was measured, so each end "
	                  "gets half of it\n  port NAME device %s rx-latency %" PRIu64
	                  "ns tx-latency %" PRIu64 "ns\n  port NAME device %s rx-latency %" PRIu64
	                  "ns tx-latency %" PRIu64 "ns",
	                  course->devices[0], back_ns, there_ns, course->devices[1], there_ns,
	                  back_ns);
	if (course->own)
		bench_plan_remark(plan, "latency: without --device, the cable is a pair of rings "
		                        "in this process, and the figures are what the "
		                        "measurement itself adds");
}

int bench_plan_latency(struct bench_plan *plan, struct problem *problem)
{
	struct course *course = calloc(1, sizeof(*course));
	int rc;

	if (!course)
		return bench_plan_failed(problem, -ENOMEM);
	course->plan = plan;
	course->cable_m = (double)plan->arguments->cable_um / FACTOR_ONE;
	course->seconds = bench_seconds(plan->arguments, LATENCY_S);
	rc = open_loop(course, problem);
	if (rc == 0) {
		rc = measure_ways(course, problem);
		if (rc == 0)
			conclude(course);
		bench_tester_close(&course->tester);
	}
	if (course->own)
		bench_cables_free(&course->cables);
	free(course);
	return rc;
}
