/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>

#include "bench/bench_rows.h"
#include "bench/bench_scenarios.h"
#include "measure/bench_clock.h"

#define IMIX 0

static const uint32_t frame_sizes[] = {64, 128, 256, 512, 1024, 1518, 9000, IMIX};

static void tell(struct bench_plan *plan, const char *what)
{
	if (plan->conditions.tell)
		plan->conditions.tell(plan->conditions.argument, what);
}

static void append(struct bench_plan *plan, json_t *row)
{
	json_array_append_new(plan->rows, row);
}

static const char *frames_name(uint32_t frame_bytes, char text[16])
{
	if (frame_bytes == IMIX)
		return "IMIX";
	snprintf(text, 16, "%u", frame_bytes);
	return text;
}

/* ---- cost ---- */

static int cost_row(struct bench_plan *plan, const char *name, const struct scenario *scenario,
                    enum bench_ports ports, uint32_t frame_bytes, bool headers,
                    struct problem *problem)
{
	struct bench_setup setup = {.scenario = scenario,
	                            .ports = ports,
	                            .frame_bytes = frame_bytes,
	                            .headers = headers};
	const char *ports_name = ports == BENCH_NET_RING ? "net_ring" : "net_null";
	char what[160], frames[16];
	struct bench_cost cost;
	int rc;

	snprintf(what, sizeof(what), "cost: %s, %s B, %s", name, frames_name(frame_bytes, frames),
	         ports_name);
	tell(plan, what);
	rc = bench_cost_measure(&setup, &plan->conditions, &cost, problem);
	if (rc == 0)
		append(plan, bench_row_cost(name, ports_name, frame_bytes, &cost));
	return rc;
}

static int cost_of(struct bench_plan *plan, const struct bench_scenario *which,
                   enum bench_ports ports, uint32_t frame_bytes, struct problem *problem)
{
	struct scenario *scenario;
	int rc = bench_scenario_make(which->statements, true, &scenario, problem);

	if (rc < 0)
		return rc;
	rc = cost_row(plan, which->name, scenario, ports, frame_bytes, which->headers, problem);
	scenario_free(scenario);
	return rc;
}

/* Measures a row of an earlier document again, or adds a remark why that is impossible. */
static int cost_again(struct bench_plan *plan, const json_t *row, struct problem *problem)
{
	enum bench_ports ports =
	        strcmp(bench_text(row, "ports"), "net_ring") == 0 ? BENCH_NET_RING : BENCH_NET_NULL;
	uint32_t frame_bytes = (uint32_t)strtoul(bench_text(row, "frames"), NULL, 10);
	const char *name = bench_text(row, "scenario");
	const struct bench_scenario *own = bench_scenario_find(name);

	if (own)
		return cost_of(plan, own, ports, frame_bytes, problem);
	if (plan->scenario && strcmp(plan->scenario_name, name) == 0)
		return cost_row(plan, name, plan->scenario, ports, frame_bytes, false, problem);
	json_array_append_new(plan->remarks,
	                      json_sprintf("cost: scenario %s was not measured: it is not one "
	                                   "of weir's own, and -c does not name it",
	                                   name));
	return 0;
}

int bench_plan_again(struct bench_plan *plan, const json_t *document, struct problem *problem)
{
	bool depth = false, clouds = false;
	int rc = 0;
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(document, "rows"), i, row)
	{
		depth |= bench_is(row, "depth");
		clouds |= bench_is(row, "clouds");
		if (rc == 0 && bench_is(row, "cost"))
			rc = cost_again(plan, row, problem);
	}
	if (rc == 0 && depth)
		rc = bench_plan_depth(plan, problem);
	if (rc == 0 && clouds)
		rc = bench_plan_clouds(plan, problem);
	return rc;
}

/* Measures every scenario with one frame size, and the other sizes with the first two scenarios, or
 * with all if --full is given. */
static int cost_standard(struct bench_plan *plan, struct problem *problem)
{
	const struct bench_arguments *arguments = plan->arguments;
	uint32_t frame = arguments->frame_given ? arguments->frame_bytes : 64;
	size_t n = sizeof(frame_sizes) / sizeof(frame_sizes[0]);
	int rc = 0;

	for (const struct bench_scenario *s = bench_scenarios; rc == 0 && s->name; s++)
		rc = cost_of(plan, s, BENCH_NET_NULL, frame, problem);
	for (size_t i = 0; rc == 0 && i < n && !arguments->frame_given; i++) {
		for (const struct bench_scenario *s = bench_scenarios; rc == 0 && s->name; s++) {
			if (frame_sizes[i] == frame ||
			    (!arguments->full && s != BENCH_SCENARIO_BARE &&
			     s != BENCH_SCENARIO_DELAY))
				continue;
			rc = cost_of(plan, s, BENCH_NET_NULL, frame_sizes[i], problem);
		}
	}
	/* A second worker would send into a ring that no worker receives from. */
	if (plan->conditions.layout == LAYOUT_RUN_TO_COMPLETION && rte_lcore_count() > 2)
		return rc;
	if (rc == 0)
		rc = cost_of(plan, BENCH_SCENARIO_BARE, BENCH_NET_RING, frame, problem);
	if (rc == 0)
		rc = cost_of(plan, BENCH_SCENARIO_DELAY, BENCH_NET_RING, frame, problem);
	return rc;
}

int bench_plan_cost(struct bench_plan *plan, struct problem *problem)
{
	const struct bench_arguments *arguments = plan->arguments;

	if (plan->scenario) {
		/* Measures the scenario of -c with the given frame size, or with all. */
		size_t n = sizeof(frame_sizes) / sizeof(frame_sizes[0]);
		int rc = 0;

		if (arguments->frame_given)
			return cost_row(plan, plan->scenario_name, plan->scenario, BENCH_NET_NULL,
			                arguments->frame_bytes, false, problem);
		for (size_t i = 0; rc == 0 && i < n; i++)
			rc = cost_row(plan, plan->scenario_name, plan->scenario, BENCH_NET_NULL,
			              frame_sizes[i], false, problem);
		return rc;
	}
	if (arguments->scenario)
		return cost_of(plan, arguments->scenario, BENCH_NET_NULL,
		               arguments->frame_given ? arguments->frame_bytes : 64, problem);
	return cost_standard(plan, problem);
}

/* ---- precision ---- */

static int precision_row(struct bench_plan *plan, const struct bench_load *load,
                         struct problem *problem)
{
	struct bench_setup setup = {
	        .ports = BENCH_SILENT,
	        .frame_bytes = load->frame_bytes,
	        .headers = load->statements != NULL,
	        .pps = load->pps,
	        .most_pps = load->pps * 1.2,
	};
	struct bench_precision *precision = malloc(sizeof(*precision));
	struct scenario *scenario;
	char what[160];
	int rc;

	if (!precision) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	rc = load->statements ? bench_scenario_make(load->statements, false, &scenario, problem)
	                      : bench_scenario_delay(load->delay_ns, false, &scenario, problem);
	if (rc < 0)
		goto err_free;
	snprintf(what, sizeof(what), "precision: %s, delay %.0f ms", load->name,
	         (double)load->delay_ns / 1e6);
	tell(plan, what);
	setup.scenario = scenario;
	rc = bench_precision_measure(&setup, &plan->conditions, precision, problem);
	if (rc == 0)
		append(plan,
		       bench_row_precision(load->name, load->pps, load->frame_bytes, load->delay_ns,
		                           plan->conditions.seconds, precision));
	scenario_free(scenario);
err_free:
	free(precision);
	return rc;
}

int bench_plan_precision(struct bench_plan *plan, struct problem *problem)
{
	struct bench_conditions kept = plan->conditions;
	int rc = 0;

	/* A percentile of 99.99 requires some ten thousand packets at the slowest load. */
	if (plan->arguments->seconds_us == 0)
		plan->conditions.seconds = 2;
	for (const struct bench_load *load = bench_loads; rc == 0 && load->name; load++) {
		if (bench_load_is(load, plan->arguments->load))
			rc = precision_row(plan, load, problem);
	}
	plan->conditions = kept;
	return rc;
}

/* ---- depth ---- */

static const double depths[] = {0.1e6, 0.25e6, 0.5e6, 1e6, 2e6, 4e6, 7.5e6};

/* A saturated source keeps rate x delay packets in flight. So the rate of the last measurement
 * gives the delay for this depth. */
static int depth_row(struct bench_plan *plan, double depth, double *pps, double *first_ns,
                     struct problem *problem)
{
	uint64_t delay_ns = (uint64_t)(depth / *pps * 1e9);
	struct bench_setup setup = {.ports = BENCH_NET_NULL, .frame_bytes = 64};
	struct scenario *scenario;
	struct bench_cost cost;
	char what[80];
	int rc = bench_scenario_delay(delay_ns, true, &scenario, problem);

	if (rc < 0)
		return rc;
	setup.scenario = scenario;
	snprintf(what, sizeof(what), "depth: %.1f million packets in flight", depth / 1e6);
	tell(plan, what);
	rc = bench_cost_measure(&setup, &plan->conditions, &cost, problem);
	scenario_free(scenario);
	if (rc < 0)
		return rc;
	if (cost.mpps.median > 0)
		*pps = cost.mpps.median * 1e6;
	if (*first_ns == 0)
		*first_ns = cost.ns_per_packet;
	append(plan, bench_row_depth(depth, &cost, *first_ns, delay_ns));
	return 0;
}

/* Measures the rate at a delay of 1 ms, to begin with. */
static int depth_rate(struct bench_plan *plan, double *pps, struct problem *problem)
{
	struct bench_conditions brief = plan->conditions;
	struct bench_setup setup = {.ports = BENCH_NET_NULL, .frame_bytes = 64};
	struct scenario *scenario;
	struct bench_cost cost;
	int rc = bench_scenario_delay(SIMTIME_MS, true, &scenario, problem);

	if (rc < 0)
		return rc;
	brief.runs = 1;
	setup.scenario = scenario;
	rc = bench_cost_measure(&setup, &brief, &cost, problem);
	scenario_free(scenario);
	*pps = cost.mpps.median > 0 ? cost.mpps.median * 1e6 : BENCH_LINE_PPS;
	return rc;
}

int bench_plan_depth(struct bench_plan *plan, struct problem *problem)
{
	double pps = 0, first_ns = 0;
	int rc = depth_rate(plan, &pps, problem);

	for (size_t i = 0; rc == 0 && i < sizeof(depths) / sizeof(depths[0]); i++)
		rc = depth_row(plan, depths[i], &pps, &first_ns, problem);
	return rc;
}

/* ---- clouds ---- */

static const uint32_t cloud_counts[] = {1, 64, 4096, 65536};

/* Measures as many clouds as there are addresses in the offered load, which is otherwise the same
 * for any number. */
static int clouds_row(struct bench_plan *plan, uint32_t clouds, double *first_ns,
                      struct problem *problem)
{
	struct bench_setup setup = {
	        .ports = BENCH_NET_NULL, .frame_bytes = 64, .addresses = clouds};
	struct scenario *scenario;
	struct bench_cost cost;
	char what[80];
	int rc = bench_scenario_clouds(clouds, "delay 10ms", &scenario, problem);

	if (rc < 0)
		return rc;
	snprintf(what, sizeof(what), "clouds: %u", clouds);
	tell(plan, what);
	setup.scenario = scenario;
	rc = bench_cost_measure(&setup, &plan->conditions, &cost, problem);
	scenario_free(scenario);
	if (rc < 0)
		return rc;
	if (*first_ns == 0)
		*first_ns = cost.ns_per_packet;
	append(plan, bench_row_clouds(clouds, &cost, *first_ns));
	return 0;
}

int bench_plan_clouds(struct bench_plan *plan, struct problem *problem)
{
	double first_ns = 0;

	for (size_t i = 0; i < sizeof(cloud_counts) / sizeof(cloud_counts[0]); i++) {
		int rc = clouds_row(plan, cloud_counts[i], &first_ns, problem);

		if (rc == 0)
			continue;
		/* If this machine cannot carry so many clouds, only these rows are missing. An
		 * interruption ends the part. */
		if (i == 0 || rc == -EINTR)
			return rc;
		json_array_append_new(plan->remarks,
		                      json_sprintf("clouds: %u and more were not measured: %s",
		                                   cloud_counts[i], problem->text));
		break;
	}
	return 0;
}

/* The clock of a live run, compared with the kernel's. */

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
