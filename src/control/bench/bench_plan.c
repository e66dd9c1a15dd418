/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts that are measured without clients and without a tester; and what all parts share. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "bench/bench.h"

#define IMIX        0
#define FRAME_SIZES (sizeof(frame_sizes) / sizeof(frame_sizes[0]))

static const uint32_t frame_sizes[] = {64, 128, 256, 512, 1024, 1518, 9000, IMIX};

void bench_plan_progress(const char *format, ...)
{
	va_list list;

	if (!isatty(STDERR_FILENO))
		return;
	fputs("\r\033[K", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
}

void bench_plan_add(struct bench_plan *plan, json_t *row)
{
	json_array_append_new(plan->rows, row);
}

void bench_plan_remark(struct bench_plan *plan, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	json_array_append_new(plan->remarks, json_vsprintf(format, list));
	va_end(list);
}

int bench_plan_failed(struct problem *problem, int rc)
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

/* Measures the cost of a scenario, and frees it. */
static int measure(struct bench_plan *plan, struct scenario *scenario, struct bench_setup setup,
                   struct bench_cost *cost, struct problem *problem)
{
	int rc;

	setup.scenario = scenario;
	rc = bench_cost_measure(&setup, &plan->conditions, cost, problem);
	scenario_free(scenario);
	return rc;
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
	char frames[16] = "IMIX";
	struct bench_cost cost;
	int rc;

	if (frame_bytes != IMIX)
		snprintf(frames, sizeof(frames), "%u", frame_bytes);
	bench_plan_progress("cost: %s, %s B, %s", name, frames, ports_name);
	rc = bench_cost_measure(&setup, &plan->conditions, &cost, problem);
	if (rc == 0)
		bench_plan_add(plan, bench_row_cost(name, ports_name, frame_bytes, &cost));
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

int bench_plan_again(struct bench_plan *plan, const json_t *document, struct problem *problem)
{
	const json_t *rows = json_object_get(document, "rows"), *row;
	int rc = 0;
	size_t i = 0;

	while (rc == 0 && (row = bench_next(rows, "cost", &i))) {
		enum bench_ports ports = strcmp(bench_text(row, "ports"), "net_ring") == 0
		                                 ? BENCH_NET_RING
		                                 : BENCH_NET_NULL;
		uint32_t frame_bytes = (uint32_t)strtoul(bench_text(row, "frames"), NULL, 10);
		const char *name = bench_text(row, "scenario");
		const struct bench_scenario *own = bench_scenario_find(name);

		if (own)
			rc = cost_of(plan, own, ports, frame_bytes, problem);
		else if (plan->scenario && strcmp(plan->scenario_name, name) == 0)
			rc = cost_row(plan, name, plan->scenario, ports, frame_bytes, false,
			              problem);
		else
			bench_plan_remark(plan,
			                  "cost: scenario %s was not measured: it is not one of "
			                  "weir's own, and -c does not name it",
			                  name);
	}
	if (rc == 0 && bench_next(rows, "depth", &(size_t){0}))
		rc = bench_plan_depth(plan, problem);
	if (rc == 0 && bench_next(rows, "clouds", &(size_t){0}))
		rc = bench_plan_clouds(plan, problem);
	return rc;
}

/* Measures every scenario with one frame size, and the other sizes with the first two scenarios, or
 * with all if --full is given. */
static int cost_standard(struct bench_plan *plan, uint32_t frame, struct problem *problem)
{
	const struct bench_arguments *arguments = plan->arguments;
	int rc = 0;

	for (const struct bench_scenario *s = bench_scenarios; rc == 0 && s->name; s++)
		rc = cost_of(plan, s, BENCH_NET_NULL, frame, problem);
	for (size_t i = 0; rc == 0 && i < FRAME_SIZES && !arguments->frame_given; i++) {
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
	uint32_t frame = arguments->frame_given ? arguments->frame_bytes : 64;
	int rc = 0;

	if (!plan->scenario && arguments->scenario)
		return cost_of(plan, arguments->scenario, BENCH_NET_NULL, frame, problem);
	if (!plan->scenario)
		return cost_standard(plan, frame, problem);
	/* Measures the scenario of -c with the given frame size, or with all. */
	for (size_t i = 0; rc == 0 && i < (arguments->frame_given ? 1 : FRAME_SIZES); i++)
		rc = cost_row(plan, plan->scenario_name, plan->scenario, BENCH_NET_NULL,
		              arguments->frame_given ? frame : frame_sizes[i], false, problem);
	return rc;
}

/* ---- precision ---- */

static int precision_row(struct bench_plan *plan, const struct bench_load *load,
                         struct bench_precision *precision, struct problem *problem)
{
	struct bench_setup setup = {
	        .ports = BENCH_SILENT,
	        .frame_bytes = load->frame_bytes,
	        .headers = load->statements != NULL,
	        .pps = load->pps,
	        .most_pps = load->pps * 1.2,
	};
	struct scenario *scenario;
	int rc = load->statements ? bench_scenario_make(load->statements, false, &scenario, problem)
	                          : bench_scenario_delay(load->delay_ns, false, &scenario, problem);

	if (rc < 0)
		return rc;
	bench_plan_progress("precision: %s, delay %.0f ms", load->name,
	                    (double)load->delay_ns / 1e6);
	setup.scenario = scenario;
	rc = bench_precision_measure(&setup, &plan->conditions, precision, problem);
	if (rc == 0)
		bench_plan_add(plan, bench_row_precision(load->name, load->pps, load->frame_bytes,
		                                         load->delay_ns, plan->conditions.seconds,
		                                         precision));
	scenario_free(scenario);
	return rc;
}

int bench_plan_precision(struct bench_plan *plan, struct problem *problem)
{
	struct bench_precision *precision = malloc(sizeof(*precision));
	struct bench_conditions kept = plan->conditions;
	int rc = 0;

	if (!precision)
		return bench_plan_failed(problem, -ENOMEM);
	/* A percentile of 99.99 requires some ten thousand packets at the slowest load. */
	if (plan->arguments->seconds_us == 0)
		plan->conditions.seconds = 2;
	for (const struct bench_load *load = bench_loads; rc == 0 && load->name; load++) {
		if (bench_load_is(load, plan->arguments->load))
			rc = precision_row(plan, load, precision, problem);
	}
	plan->conditions = kept;
	free(precision);
	return rc;
}

/* ---- depth ---- */

static const double depths[] = {0.1e6, 0.25e6, 0.5e6, 1e6, 2e6, 4e6, 7.5e6};

/* A saturated source keeps rate x delay packets in flight. So the rate of the last measurement
 * gives the delay for the next depth; at first, that of a single run with 1 ms. */
int bench_plan_depth(struct bench_plan *plan, struct problem *problem)
{
	const struct bench_setup setup = {.ports = BENCH_NET_NULL, .frame_bytes = 64};
	uint32_t runs = plan->conditions.runs;
	double pps = 0, first_ns = 0;
	struct scenario *scenario;
	struct bench_cost cost;
	int rc = bench_scenario_delay(SIMTIME_MS, true, &scenario, problem);

	if (rc < 0)
		return rc;
	plan->conditions.runs = 1;
	rc = measure(plan, scenario, setup, &cost, problem);
	plan->conditions.runs = runs;
	if (rc == 0)
		pps = cost.mpps.median > 0 ? cost.mpps.median * 1e6 : BENCH_LINE_PPS;
	for (size_t i = 0; rc == 0 && i < sizeof(depths) / sizeof(depths[0]); i++) {
		uint64_t delay_ns = (uint64_t)(depths[i] / pps * 1e9);

		rc = bench_scenario_delay(delay_ns, true, &scenario, problem);
		if (rc < 0)
			break;
		bench_plan_progress("depth: %.1f million packets in flight", depths[i] / 1e6);
		rc = measure(plan, scenario, setup, &cost, problem);
		if (rc < 0)
			break;
		if (cost.mpps.median > 0)
			pps = cost.mpps.median * 1e6;
		if (first_ns == 0)
			first_ns = cost.ns_per_packet;
		bench_plan_add(plan, bench_row_depth(depths[i], &cost, first_ns, delay_ns));
	}
	return rc;
}

/* ---- clouds ---- */

static const uint32_t cloud_counts[] = {1, 64, 4096, 65536};

/* Measures as many clouds as there are addresses in the offered load, which is otherwise the same
 * for any number. */
int bench_plan_clouds(struct bench_plan *plan, struct problem *problem)
{
	double first_ns = 0;

	for (size_t i = 0; i < sizeof(cloud_counts) / sizeof(cloud_counts[0]); i++) {
		uint32_t clouds = cloud_counts[i];
		const struct bench_setup setup = {
		        .ports = BENCH_NET_NULL, .frame_bytes = 64, .addresses = clouds};
		struct scenario *scenario;
		struct bench_cost cost;
		int rc = bench_scenario_clouds(clouds, "delay 10ms", &scenario, problem);

		if (rc == 0) {
			bench_plan_progress("clouds: %u", clouds);
			rc = measure(plan, scenario, setup, &cost, problem);
		}
		/* If this machine cannot carry so many clouds, only these rows are missing. An
		 * interruption ends the part. */
		if (rc < 0 && (i == 0 || rc == -EINTR))
			return rc;
		if (rc < 0) {
			bench_plan_remark(plan, "clouds: %u and more were not measured: %s", clouds,
			                  problem->text);
			break;
		}
		if (first_ns == 0)
			first_ns = cost.ns_per_packet;
		bench_plan_add(plan, bench_row_clouds(clouds, &cost, first_ns));
	}
	return 0;
}

/* ---- clock: that of a live run, compared with the kernel's ---- */

#define CLOCK_S 5.0

int bench_plan_clock(struct bench_plan *plan, struct problem *problem)
{
	struct bench_clock *clock = malloc(sizeof(*clock));
	struct bench_clock_source source;
	int rc;

	if (!clock)
		return bench_plan_failed(problem, -ENOMEM);
	bench_plan_progress("clock");
	bench_clock_machine(&source);
	rc = bench_clock_watch(&source, bench_seconds(plan->arguments, CLOCK_S), clock);
	if (rc == -ERANGE)
		problem_set(problem, -1,
		            "clock: the time stamp counter does not run evenly; see weir bench "
		            "machine for the reason");
	else if (rc < 0)
		bench_plan_failed(problem, -EINTR);
	if (clock->interval_ns.count > 0)
		bench_plan_add(plan, bench_row_clock((double)clock->samples * BENCH_CLOCK_STEP_NS /
		                                             SIMTIME_S,
		                                     clock));
	free(clock);
	return rc;
}
