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

struct test {
	struct bench_plan *plan;
	struct bench_tester tester;
	struct bench_cables cables;
	bool own; /* with cables in this process, because no device is named */
	uint32_t frame_bytes;
	int rc; /* of the last measurement */
	/* rfc2544; for latency, the conditions are 0 */
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
	struct test *test = argument;
	int priority = test->plan->conditions.priority;

	bench_priority_set(priority);
	if (test->conditions.trial_s > 0)
		test->rc = rfc2544_run(&test->tester.base, &test->conditions, test->frame_bytes,
		                       &test->result);
	else
		test->rc =
		        bench_latency_measure(&test->tester.base, test->frame_bytes, test->line_bps,
		                              test->cable_m, test->seconds, &test->latency);
	bench_priority_clear(priority);
	return 0;
}

/* Runs it on the core of a worker. */
static void run_frame_there(struct test *test)
{
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);

	rte_eal_remote_launch(run_frame, test, lcore);
	rte_eal_wait_lcore(lcore);
}

/* Opens the tester between two devices; frames on the way get `wait_ns` after the last was sent. */
static int open_tester(struct test *test, const char *out, const char *in, uint64_t wait_ns,
                       struct problem *problem)
{
	struct clock clock = {.rate_ns = test->rig.tick_ns};
	int rc;

	if (!test->rigged && clock_calibrate(&clock) < 0) {
		problem_set(problem, -1, "the time stamp counter does not run evenly");
		return -ERANGE;
	}
	rc = bench_tester_open(&test->tester, out, in, clock.rate_ns, problem);
	test->tester.wait_ns = wait_ns;
	return rc;
}

/* ---- RFC 2544: the device under test ---- */

static int no_memory(struct problem *problem)
{
	problem_set(problem, -1, "no memory for the scenario");
	return -ENOMEM;
}

/* Starts weir as the device under test, between two cables, with the tester at their ends. */
static int start_own(struct test *test, struct problem *problem)
{
	const struct bench_plan *plan = test->plan;
	uint64_t line_bps = plan->arguments->line_bps;
	struct bench_setup setup = {.ports = BENCH_GIVEN,
	                            .frame_bytes = 1518,
	                            .most_pps = (line_bps > 0 ? (double)line_bps : LINE_BPS) / 512};
	int rc = 0;

	if (plan->scenario)
		test->scenario = scenario_copy(plan->scenario);
	else
		rc = bench_scenario_make(DEFAULT_DUT, true, &test->scenario, problem);
	if (rc == 0 && !test->scenario)
		return no_memory(problem);
	if (rc == 0)
		rc = bench_cables_make(&test->cables, problem);
	if (rc < 0)
		return rc;
	test->own = true;
	for (int i = 0; i < 2; i++) {
		free(test->scenario->ports[i].device);
		test->scenario->ports[i].device = strdup(test->cables.weir[i]);
		if (!test->scenario->ports[i].device)
			return no_memory(problem);
	}
	setup.scenario = test->scenario;
	rc = bench_rig_open(&test->rig, &setup, &plan->conditions, problem);
	if (rc < 0)
		return rc;
	test->rigged = true;
	rc = open_tester(test, test->cables.tester[0], test->cables.tester[1],
	                 OWN_REST_NS + 2 * bench_held_ns(test->scenario), problem);
	test->tester.full_is_lost = true;
	test->tester.worker = &test->rig.runtime->workers[0];
	return rc;
}

/* ---- RFC 2544: frames and durations ---- */

static int measure_rfc2544(struct test *test, uint32_t frame_bytes, struct problem *problem)
{
	struct bench_plan *plan = test->plan;
	uint64_t line_bps = plan->arguments->line_bps;

	if (frame_bytes < 64 || frame_bytes > BENCH_TESTER_BYTES)
		return problem_set(problem, -1, "rfc2544 takes frames from 64 to %d bytes, not %u",
		                   BENCH_TESTER_BYTES, frame_bytes);
	bench_plan_progress("rfc2544: frames of %u B", frame_bytes);
	test->frame_bytes = frame_bytes;
	test->conditions.line_pps =
	        (line_bps > 0 ? (double)line_bps : LINE_BPS) / ((frame_bytes + FRAME_GAP) * 8);
	/* If weir is under test, this thread measures, beside weir's worker; else a worker's core
	 * does. */
	if (test->own)
		run_frame(test);
	else
		run_frame_there(test);
	if (test->rc < 0)
		return bench_plan_failed(problem, test->rc);
	bench_plan_add(plan, bench_row_rfc2544(test->own ? "weir, in this process"
	                                                 : "between the two devices",
	                                       &test->conditions, &test->result));
	return 0;
}

static int measure_all(struct test *test, struct problem *problem)
{
	const struct bench_arguments *arguments = test->plan->arguments;
	struct rfc2544_conditions *conditions = &test->conditions;
	uint32_t runs = test->plan->conditions.runs;
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
		return measure_rfc2544(test, arguments->frame_bytes, problem);
	const uint32_t *frames = alone ? rfc_frames : few_frames;
	size_t n = alone ? RTE_DIM(rfc_frames) : RTE_DIM(few_frames);

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = measure_rfc2544(test, frames[i], problem);
	return rc;
}

int bench_plan_rfc2544(struct bench_plan *plan, struct problem *problem)
{
	struct test *test = calloc(1, sizeof(*test));
	struct problem other;
	int rc;

	if (!test)
		return bench_plan_failed(problem, -ENOMEM);
	test->plan = plan;
	if (plan->arguments->n_devices == 0)
		rc = start_own(test, problem);
	else
		rc = open_tester(test, plan->arguments->devices[0], plan->arguments->devices[1],
		                 RESIDUAL_NS, problem);
	if (rc == 0) {
		if (test->own)
			bench_rig_go(&test->rig);
		rc = measure_all(test, problem);
		if (test->own) {
			bench_rig_stop(&test->rig);
			bench_cables_empty(&test->cables);
		}
		bench_tester_close(&test->tester);
	}
	if (test->rigged && bench_rig_close(&test->rig, rc < 0 ? &other : problem) < 0 && rc == 0)
		rc = -EIO;
	if (test->own)
		bench_cables_free(&test->cables);
	scenario_free(test->scenario);
	free(test);
	return rc;
}

/* ---- latency: a loop over a cable in both directions ---- */

/* Opens the tester over the cable, which is made if no device is named. */
static int open_loop(struct test *test, struct problem *problem)
{
	const char *const *devices = test->plan->arguments->devices;
	int rc = 0;

	if (test->plan->arguments->n_devices == 0) {
		rc = bench_cables_make(&test->cables, problem);
		test->own = rc == 0;
	}
	if (rc < 0)
		return rc;
	test->devices[0] = test->own ? test->cables.weir[0] : devices[0];
	test->devices[1] = test->own ? test->cables.tester[0] : devices[1];
	return open_tester(test, test->devices[0], test->devices[1], REST_NS, problem);
}

static int measure_latency(struct test *test, struct problem *problem)
{
	struct bench_plan *plan = test->plan;
	const struct port *port = &test->tester.ports[0];
	const struct bench_latency *result = &test->latency;

	bench_plan_progress("latency: %s to %s, %u B", test->devices[0], test->devices[1],
	                    test->frame_bytes);
	/* The rate of the wire, as given, or that of a NIC's link; else 0, since the speed that a
	 * virtual device reports is not that of a wire. */
	test->line_bps = plan->arguments->line_bps > 0 ? (double)plan->arguments->line_bps
	                 : port_is_pci(port->device)   ? (double)port_link_bps(port)
	                                               : 0;
	run_frame_there(test);
	if (test->rc == -EIO)
		problem_set(problem, -1,
		            "%s received %" PRIu64 " of %" PRIu64
		            " frames from %s: connect the two by a cable, with both links up and "
		            "nothing in between",
		            test->devices[1], result->received, result->sent, test->devices[0]);
	else if (test->rc < 0)
		bench_plan_failed(problem, test->rc);
	if (test->rc == 0)
		bench_plan_add(plan, bench_row_latency(test->devices[0], test->devices[1],
		                                       test->line_bps, test->cable_m, result));
	return test->rc;
}

/* Measures one direction, then the other, for which the ports are exchanged. */
static int measure_ways(struct test *test, struct problem *problem)
{
	const struct bench_arguments *arguments = test->plan->arguments;
	size_t n = arguments->frame_given ? 1 : RTE_DIM(few_frames);
	int rc = 0;

	for (int way = 0; way < 2; way++) {
		for (size_t i = 0; rc == 0 && i < n; i++) {
			test->frame_bytes =
			        arguments->frame_given ? arguments->frame_bytes : few_frames[i];
			rc = measure_latency(test, problem);
			if (i == 0)
				test->half_ns[way] = test->latency.half_ns;
		}
		RTE_SWAP(test->tester.ports[0], test->tester.ports[1]);
		RTE_SWAP(test->devices[0], test->devices[1]);
	}
	return rc;
}

/* Says the words for `port` that subtract the latency. The tx latency of one device and the rx
 * latency of the other are from the same direction. */
static void conclude(const struct test *test)
{
	struct bench_plan *plan = test->plan;
	uint64_t there_ns = test->half_ns[0], back_ns = test->half_ns[1];

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
	                  test->devices[0], back_ns, there_ns, test->devices[1], there_ns, back_ns);
	if (test->own)
		bench_plan_remark(plan, "latency: without --device, the cable is a pair of rings "
		                        "in this process, and the figures are what the "
		                        "measurement itself adds");
}

int bench_plan_latency(struct bench_plan *plan, struct problem *problem)
{
	struct test *test = calloc(1, sizeof(*test));
	int rc;

	if (!test)
		return bench_plan_failed(problem, -ENOMEM);
	test->plan = plan;
	test->cable_m = (double)plan->arguments->cable_um / FACTOR_ONE;
	test->seconds = bench_seconds(plan->arguments, LATENCY_S);
	rc = open_loop(test, problem);
	if (rc == 0) {
		rc = measure_ways(test, problem);
		if (rc == 0)
			conclude(test);
		bench_tester_close(&test->tester);
	}
	if (test->own)
		bench_cables_free(&test->cables);
	free(test);
	return rc;
}
