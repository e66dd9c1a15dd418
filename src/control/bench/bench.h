/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir bench`: `weir bench --answer` measures, one figure at a time; what is measured, in which
 * order, and what becomes of the figures is the package python/src/weir/bench, which asks it
 * (python/python.h). It makes a document of the figures, prints it, draws it, or compares it with
 * another one.
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_H
#define WEIR_BENCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "live/runtime.h"
#include "figures/figures.h"
#include "measure/bench_cost.h"
#include "measure/bench_machine.h"
#include "measure/bench_precision.h"
#include "measure/bench_rfc2544.h"
#include "measure/bench_rig.h"
#include "options/options.h"
#include "python/python.h"
#include "scenario/problem.h"
#include "scenario/scenario.h"

/* ---- answers ----
 *
 * What is asked: python/src/weir/bench. A question that has `runs` and `seconds` changes the
 * conditions of all that follow. An answer is a new reference; NULL if there is no memory.
 */

struct bench {
	struct bench_machine machine;
	struct bench_conditions conditions;
	struct scenario *scenario; /* of -c, or NULL */
	bool eal, hugepages;
};

extern struct bench bench;

/* Adopts the conditions that a question has. */
void bench_adopt(const json_t *question);
/* Returns {"error", "wrong", "interrupted"}. Wrong: it could not begin; what occurs on the way is
 * not: no memory, an interruption, packets that do not add up or do not flow. */
json_t *bench_failed(int rc, const struct problem *problem);
/* Sets the problem to what `rc` means, and returns it. */
int bench_problem(struct problem *problem, int rc);

json_t *bench_answer_cost(const json_t *question);
json_t *bench_answer_precision(const json_t *question);
json_t *bench_answer_clock(const json_t *question);

/* With a tester, which is opened between the devices named, or ends of cables in this process, and
 * closed again. */
json_t *bench_answer_rfc2544_open(const json_t *question);
json_t *bench_answer_rfc2544(const json_t *question);
json_t *bench_answer_latency_open(const json_t *question);
json_t *bench_answer_latency(const json_t *question);
json_t *bench_answer_tester_close(const json_t *question);

/* A weir that runs, with a paced source, a control socket and its clients, in this process: like
 * one that a lab leaves running. It is observed in windows of time. */
json_t *bench_answer_live_open(const json_t *question);
json_t *bench_answer_live_critical(const json_t *question);
json_t *bench_answer_live_serve(const json_t *question);
json_t *bench_answer_live_begin(const json_t *question);
json_t *bench_answer_live_step(const json_t *question);
json_t *bench_answer_live_window(const json_t *question);
json_t *bench_answer_live_unaccounted(const json_t *question);
json_t *bench_answer_live_close(const json_t *question);

/* What happened in a window. */
struct bench_window {
	double seconds;
	uint64_t offered, sent, emulated;
	uint64_t lost;   /* by weir */
	uint64_t missed; /* due while the worker was away longer than a NIC's ring lasts */
	/* of `missed`: because others had the processor (bench_source.h) */
	uint64_t missed_preempted;
	struct histogram lateness_ns; /* from the due time to the hand-over to the device */
	uint64_t longest_poll_ns;
	/* The same without packets that others made late by having the processor. */
	struct histogram own_lateness_ns;
	uint64_t own_longest_poll_ns;
	/* Late by weir's own doing, by more than two polls: the one in which the packet came due,
	 * and the next. */
	uint64_t late;
	double taken; /* share of the worker's processor that others had */
};

/*
 * ---- figures as JSON ----
 *
 * Rows of the document, or parts of them. Keys by part: docs/bench.md.
 */

/* Returns {"frame", "held", "cost"}: members of the rows of cost, depth and clouds. */
json_t *bench_json_cost(uint32_t frame_bytes, const struct bench_cost *cost);
json_t *bench_row_precision(const char *load, double pps, uint32_t frame_bytes, uint64_t delay_ns,
                            double seconds, const struct bench_precision *precision);
json_t *bench_row_clock(double seconds, const struct bench_clock *clock);
json_t *bench_row_rfc2544(const char *under_test, const struct rfc2544_conditions *conditions,
                          const struct rfc2544_result *result);
json_t *bench_row_latency(const char *from, const char *to, double line_bps, double cable_m,
                          const struct bench_latency *latency);
json_t *bench_json_window(const struct bench_window *window);
json_t *bench_json_machine(const struct bench_machine *machine, double tsc_hz, bool hugepages,
                           const struct bench_conditions *conditions);

/* Returns a number of an object, or 0 if it is missing. */
double bench_number(const json_t *object, const char *key);
const char *bench_text(const json_t *object, const char *key); /* "" if it is missing */

/*
 * The scenarios that `weir bench` measures, in the scenario language.
 *
 * A rate in them is far above what a core can carry, and a queue is larger than a core can fill:
 * the figure is what the stage costs, not what it drops.
 *
 * Ownership: scenarios that are made here are the caller's.
 */

struct bench_scenario {
	const char *name; /* `delay-10ms` */
	/* The statements behind `cloud NAME`, one a line; NULL: none. If the first line begins with
	 * `match`, it selects the packets that each cloud takes. */
	const char *statements;
	bool headers; /* the frames have headers (bench_source.h) */
};

/* Terminated by a row without a name. */
extern const struct bench_scenario bench_scenarios[];

/* Returns the scenario of this name, or NULL if there is none. */
const struct bench_scenario *bench_scenario_find(const char *name);

/* Makes ports a and b, a cloud `down` from a to b and, if `both`, a cloud `up` back. Returns 0, or
 * -errno with `problem` set. */
int bench_scenario_make(const char *statements, bool both, struct scenario **scenario,
                        struct problem *problem);
/* Makes a template with a cloud for each source address in 10.0.0.0/8, at most `clouds`, with these
 * statements, one a line. Returns 0, or -errno with `problem` set. */
int bench_scenario_clouds(uint32_t clouds, const char *statements, struct scenario **scenario,
                          struct problem *problem);

#endif
