/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures that need no clients and no tester: what a packet costs, how exactly it leaves, and
 * how exact the clock is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

int bench_problem(struct problem *problem, int rc)
{
	problem_set(problem, -1, "%s",
	            rc == -EINTR    ? "interrupted"
	            : rc == -ENOMEM ? "no memory"
	            : rc == -ENOBUFS
	                    ? "the sending device takes no frames: is its link up, and does "
	                      "the other end receive?"
	                    : strerror(-rc));
	return rc;
}

json_t *bench_failed(int rc, const struct problem *problem)
{
	bool on_the_way =
	        rc == -ENOMEM || rc == -EINTR || rc == -EIO || rc == -ENOBUFS || rc == -ERANGE;

	return json_pack("{s:o,s:b,s:b}", "error", figures_string(problem->text), "wrong",
	                 !on_the_way, "interrupted", rc == -EINTR);
}

void bench_adopt(const json_t *question)
{
	if (json_object_get(question, "runs"))
		bench.conditions.runs = (uint32_t)bench_number(question, "runs");
	if (json_object_get(question, "seconds"))
		bench.conditions.seconds = bench_number(question, "seconds");
}

static bool is_true(const json_t *question, const char *key)
{
	return json_is_true(json_object_get(question, key));
}

/* The scenario is one of weir's own, named; that of -c; or is made of `statements`, with a cloud in
 * either direction, or with so many `clouds`. */
json_t *bench_answer_cost(const json_t *question)
{
	const struct bench_scenario *own = bench_scenario_find(bench_text(question, "scenario"));
	const char *statements = own ? own->statements : bench_text(question, "statements");
	bool ring = strcmp(bench_text(question, "ports"), "net_ring") == 0;
	struct bench_setup setup = {
	        .scenario = bench.scenario,
	        .ports = ring ? BENCH_NET_RING : BENCH_NET_NULL,
	        .frame_bytes = (uint32_t)bench_number(question, "frame"),
	        .headers = own && own->headers,
	        .addresses = (uint32_t)bench_number(question, "clouds"),
	};
	struct scenario *made = NULL;
	struct problem problem;
	struct bench_cost cost;
	int rc = 0;

	bench_adopt(question);
	if (setup.addresses > 0)
		rc = bench_scenario_clouds(setup.addresses, statements, &made, &problem);
	else if (!is_true(question, "file"))
		rc = bench_scenario_make(statements, true, &made, &problem);
	if (made)
		setup.scenario = made;
	if (rc == 0)
		rc = bench_cost_measure(&setup, &bench.conditions, &cost, &problem);
	scenario_free(made);
	return rc < 0 ? bench_failed(rc, &problem) : bench_json_cost(setup.frame_bytes, &cost);
}

json_t *bench_answer_precision(const json_t *question)
{
	double pps = bench_number(question, "pps");
	uint64_t delay_ns = (uint64_t)bench_number(question, "delay_ns");
	struct bench_setup setup = {
	        .ports = BENCH_SILENT,
	        .frame_bytes = (uint32_t)bench_number(question, "frame"),
	        .headers = is_true(question, "headers"),
	        .pps = pps,
	        .most_pps = pps * 1.2,
	};
	struct bench_precision *precision = malloc(sizeof(*precision));
	struct scenario *scenario = NULL;
	struct problem problem;
	json_t *row = NULL;
	int rc;

	if (!precision)
		return NULL;
	bench_adopt(question);
	rc = bench_scenario_make(bench_text(question, "statements"), false, &scenario, &problem);
	setup.scenario = scenario;
	if (rc == 0)
		rc = bench_precision_measure(&setup, &bench.conditions, precision, &problem);
	if (rc == 0)
		row = bench_row_precision(bench_text(question, "load"), pps, setup.frame_bytes,
		                          delay_ns, bench.conditions.seconds, precision);
	scenario_free(scenario);
	free(precision);
	return rc < 0 ? bench_failed(rc, &problem) : row;
}

/* Compares the clock of a live run with the kernel's. Even if it fails, what was seen until then is
 * `row`. */
json_t *bench_answer_clock(const json_t *question)
{
	struct bench_clock *clock = malloc(sizeof(*clock));
	struct bench_clock_source source;
	struct problem problem;
	json_t *answer;
	int rc;

	if (!clock)
		return NULL;
	bench_clock_machine(&source);
	rc = bench_clock_watch(&source, bench_number(question, "for"), clock);
	if (rc == -ERANGE)
		problem_set(&problem, -1,
		            "clock: the time stamp counter does not run evenly; see weir bench "
		            "machine for the reason");
	else if (rc < 0)
		bench_problem(&problem, -EINTR);
	answer = json_pack(
	        "{s:o*,s:o*}", "failed", rc < 0 ? bench_failed(rc, &problem) : NULL, "row",
	        clock->interval_ns.count > 0
	                ? bench_row_clock((double)clock->samples * BENCH_CLOCK_STEP_NS / SIMTIME_S,
	                                  clock)
	                : NULL);
	free(clock);
	return answer;
}
