/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir bench`: this program reads the command line and measures, one figure at a time; what is
 * measured, in which order, and what becomes of the figures is the package python/src/weir/bench,
 * which asks this process (python/python.h). It makes a document of the figures, prints it, draws
 * it, or compares it with another one.
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

struct bench_scenario;

/* ---- the command line: docs/man/weir-bench.1 describes it ---- */

#define BENCH_DEVICES     2
#define BENCH_SECONDS_MAX 86400

enum bench_part {
	BENCH_COST,
	BENCH_PRECISION,
	BENCH_DEPTH,
	BENCH_CLOUDS,
	BENCH_CLOCK,
	BENCH_RFC2544,
	/* only if named: between devices, over a cable; and parts that take long */
	BENCH_LATENCY,
	BENCH_RECONF,
	BENCH_SOAK,
	BENCH_MACHINE,
	BENCH_COMPARE,
	BENCH_PARTS
};

struct bench_arguments {
	bool parts[BENCH_PARTS];
	const char *compare; /* the earlier -j file */
	const char *against; /* a later one, instead of measuring; or NULL */
	const char *config, *cores, *html;
	const struct bench_scenario *scenario; /* cost: this one of weir's own alone; or NULL */
	const char *load; /* precision: only loads that have this in their names; or NULL */
	bool frame_given;
	uint32_t frame_bytes; /* 0: IMIX */
	uint64_t seconds_us;  /* 0: not given */
	uint64_t runs;        /* 0: not given */
	uint64_t bound_q63;   /* compare */
	uint64_t priority;
	uint64_t flight_ns, flight_snap; /* 0: without a flight; 0: whole frames */
	uint32_t layout;                 /* enum runtime_layout */
	bool json, full, rfc_times;
	const char *devices
	        [BENCH_DEVICES]; /* rfc2544: at another device under test; latency: the two ends */
	uint32_t n_devices;
	uint64_t line_bps;  /* rfc2544, latency; 0: not given */
	uint64_t cable_um;  /* latency: millionths of a metre */
	uint64_t hours_um;  /* soak: millionths of an hour */
	uint64_t loss_q63;  /* soak: the bound of the critical load */
	const char *resume; /* soak: file of the earlier parts, and of this one; or NULL */
};

/* Parses the command line. Returns OPTIONS_RUN, or the exit status after printing a message or a
 * text. Pointers go into argv. */
int bench_arguments_parse(int argc, char **argv, struct bench_arguments *arguments);

/* ---- answers ----
 *
 * What is asked: python/src/weir/bench. A question that has `runs` and `seconds` changes the
 * conditions of all that follow. An answer is a new reference; NULL if there is no memory.
 */

struct bench {
	struct bench_arguments arguments;
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

/* What the command line asks for; texts of it are words of Python's. */
json_t *bench_answer_asked(const json_t *question);
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
