/* SPDX-License-Identifier: BSD-3-Clause */
/* A tester that sends and receives: RFC 2544, and the latency that devices add. */
#include <errno.h>
#include <inttypes.h>
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
#define FRAME_GAP   20              /* bytes of preamble and gap on the wire with each frame */
#define RESIDUAL_NS (2 * SIMTIME_S) /* RFC 2544, 23 */
#define OWN_REST_NS (20 * SIMTIME_MS)
#define DEFAULT_DUT "delay 1ms"
#define REST_NS     (100 * SIMTIME_MS)

static struct test {
	struct bench_tester tester;
	struct bench_cables cables;
	bool open, own; /* own: with cables in this process, because no device is named */
	json_t *asked;  /* the question that has opened it: `devices`, `line_bps`, `cable_m` */
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
	struct bench_latency latency;
} test;

/* Runs a measurement with the priority of the workers. */
static int run_frame(void *argument)
{
	int priority = bench.conditions.priority;

	(void)argument;
	bench_priority_set(priority);
	if (test.conditions.trial_s > 0)
		test.rc = rfc2544_run(&test.tester.base, &test.conditions, test.frame_bytes,
		                      &test.result);
	else
		test.rc = bench_latency_measure(&test.tester.base, test.frame_bytes, test.line_bps,
		                                test.cable_m, test.seconds, &test.latency);
	bench_priority_clear(priority);
	return 0;
}

/* Runs it on the core of a worker. */
static void run_frame_there(void)
{
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);

	rte_eal_remote_launch(run_frame, NULL, lcore);
	rte_eal_wait_lcore(lcore);
}

/* Opens the tester between two devices; frames on the way get `wait_ns` after the last was sent. */
static int open_tester(const char *out, const char *in, uint64_t wait_ns, struct problem *problem)
{
	struct clock clock = {.rate_ns = test.rig.tick_ns};
	int rc;

	if (!test.rigged && clock_calibrate(&clock) < 0) {
		problem_set(problem, -1, "the time stamp counter does not run evenly");
		return -ERANGE;
	}
	rc = bench_tester_open(&test.tester, out, in, clock.rate_ns, problem);
	test.tester.wait_ns = wait_ns;
	test.open = rc == 0;
	return rc;
}

/* Closes what is open. */
static int close_all(struct problem *problem)
{
	int rc = 0;

	if (test.open && test.rigged) {
		bench_rig_stop(&test.rig);
		bench_cables_empty(&test.cables);
	}
	if (test.open)
		bench_tester_close(&test.tester);
	if (test.rigged)
		rc = bench_rig_close(&test.rig, problem);
	if (test.own)
		bench_cables_free(&test.cables);
	scenario_free(test.scenario);
	json_decref(test.asked);
	memset(&test, 0, sizeof(test));
	return rc < 0 ? -EIO : 0;
}

json_t *bench_answer_tester_close(const json_t *question)
{
	struct problem problem;
	int rc = close_all(&problem);

	(void)question;
	return rc < 0 ? bench_failed(rc, &problem) : json_object();
}

static json_t *open_failed(int rc, const struct problem *problem)
{
	struct problem other;

	close_all(&other);
	return bench_failed(rc, problem);
}

/* ---- RFC 2544 ---- */

static int no_memory(struct problem *problem)
{
	problem_set(problem, -1, "no memory for the scenario");
	return -ENOMEM;
}

static double line_bps(void)
{
	double given = bench_number(test.asked, "line_bps");

	return given > 0 ? given : LINE_BPS;
}

/* Returns the device that was named, or NULL. */
static const char *device(size_t i)
{
	return json_string_value(json_array_get(json_object_get(test.asked, "devices"), i));
}

/* Starts weir as the device under test, between two cables, with the tester at their ends. */
static int start_own(struct problem *problem)
{
	struct bench_setup setup = {
	        .ports = BENCH_GIVEN, .frame_bytes = 1518, .most_pps = line_bps() / 512};
	int rc = 0;

	if (bench.scenario)
		test.scenario = scenario_copy(bench.scenario);
	else
		rc = bench_scenario_make(DEFAULT_DUT, true, &test.scenario, problem);
	if (rc == 0 && !test.scenario)
		return no_memory(problem);
	if (rc == 0)
		rc = bench_cables_make(&test.cables, problem);
	if (rc < 0)
		return rc;
	test.own = true;
	for (int i = 0; i < 2; i++) {
		free(test.scenario->ports[i].device);
		test.scenario->ports[i].device = strdup(test.cables.weir[i]);
		if (!test.scenario->ports[i].device)
			return no_memory(problem);
	}
	setup.scenario = test.scenario;
	rc = bench_rig_open(&test.rig, &setup, &bench.conditions, problem);
	if (rc < 0)
		return rc;
	test.rigged = true;
	rc = open_tester(test.cables.tester[0], test.cables.tester[1],
	                 OWN_REST_NS + 2 * bench_held_ns(test.scenario), problem);
	test.tester.full_is_lost = true;
	test.tester.worker = &test.rig.runtime->workers[0];
	if (rc == 0)
		bench_rig_go(&test.rig);
	return rc;
}

json_t *bench_answer_rfc2544_open(const json_t *question)
{
	struct problem problem;
	int rc;

	bench_adopt(question);
	test.asked = json_deep_copy(question);
	if (!device(0))
		rc = start_own(&problem);
	else
		rc = open_tester(device(0), device(1), RESIDUAL_NS, &problem);
	return rc < 0 ? open_failed(rc, &problem) : json_object();
}

/* Has the RFC's times and numbers, unless the question has `trial_s` and others. */
json_t *bench_answer_rfc2544(const json_t *question)
{
	uint32_t frame_bytes = (uint32_t)bench_number(question, "frame");
	struct problem problem;

	test.frame_bytes = frame_bytes;
	test.conditions = rfc2544_full;
	if (json_object_get(question, "trial_s")) {
		test.conditions.trial_s = test.conditions.latency_s =
		        bench_number(question, "trial_s");
		test.conditions.burst_s = bench_number(question, "burst_s");
		test.conditions.searches = (uint32_t)bench_number(question, "searches");
		test.conditions.latency_repeats =
		        (uint32_t)bench_number(question, "latency_repeats");
		test.conditions.burst_repeats = (uint32_t)bench_number(question, "burst_repeats");
	}
	test.conditions.line_pps = line_bps() / ((frame_bytes + FRAME_GAP) * 8);
	/* If weir is under test, this thread measures, beside weir's worker; else a worker's core
	 * does. */
	if (test.own)
		run_frame(NULL);
	else
		run_frame_there();
	if (test.rc < 0)
		return bench_failed(bench_problem(&problem, test.rc), &problem);
	return bench_row_rfc2544(test.own ? "weir, in this process" : "between the two devices",
	                         &test.conditions, &test.result);
}

/* ---- latency: a loop over a cable in both directions ---- */

/* Opens the tester over the cable, which is made if no device is named. */
json_t *bench_answer_latency_open(const json_t *question)
{
	struct problem problem;
	int rc = 0;

	test.asked = json_deep_copy(question);
	if (!device(0)) {
		rc = bench_cables_make(&test.cables, &problem);
		test.own = rc == 0;
	}
	test.devices[0] = test.own ? test.cables.weir[0] : device(0);
	test.devices[1] = test.own ? test.cables.tester[0] : device(1);
	if (rc == 0)
		rc = open_tester(test.devices[0], test.devices[1], REST_NS, &problem);
	if (rc < 0)
		return open_failed(rc, &problem);
	return json_pack("{s:[s,s],s:b}", "devices", test.devices[0], test.devices[1], "own",
	                 test.own);
}

/* Measures in one direction; `back`: in the other one, for which the ports are exchanged. */
json_t *bench_answer_latency(const json_t *question)
{
	bool back = json_is_true(json_object_get(question, "back"));
	struct port *ports = test.tester.ports;
	const char *out = test.devices[back], *in = test.devices[!back];
	struct problem problem;

	if (back)
		RTE_SWAP(ports[0], ports[1]);
	test.frame_bytes = (uint32_t)bench_number(question, "frame");
	test.seconds = bench_number(question, "for");
	test.cable_m = bench_number(test.asked, "cable_m");
	/* The rate of the wire, as given, or that of a NIC's link; else 0, since the speed that a
	 * virtual device reports is not that of a wire. */
	test.line_bps = bench_number(test.asked, "line_bps");
	if (test.line_bps <= 0 && port_is_pci(ports[0].device))
		test.line_bps = (double)port_link_bps(&ports[0]);
	run_frame_there();
	if (back)
		RTE_SWAP(ports[0], ports[1]);
	if (test.rc == 0)
		return bench_row_latency(out, in, test.line_bps, test.cable_m, &test.latency);
	bench_problem(&problem, test.rc);
	if (test.rc == -EIO)
		problem_set(&problem, -1,
		            "%s received %" PRIu64 " of %" PRIu64
		            " frames from %s: connect the two by a cable, with both links up and "
		            "nothing in between",
		            in, test.latency.received, test.latency.sent, out);
	return bench_failed(test.rc, &problem);
}
