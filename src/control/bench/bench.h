/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir bench` in three steps: a command line says what to measure; a plan measures it, part by
 * part, into a document; the package python/src/weir/bench prints the document, draws it, or
 * compares it with another one.
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_H
#define WEIR_BENCH_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "live/runtime.h"
#include "measure/bench_cost.h"
#include "measure/bench_machine.h"
#include "measure/bench_precision.h"
#include "measure/bench_rfc2544.h"
#include "measure/bench_rig.h"
#include "options/options.h"
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
	uint64_t seconds_us;  /* 0: not given; see bench_seconds */
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
/* Returns --seconds, or `otherwise` if it is not given. */
double bench_seconds(const struct bench_arguments *arguments, double otherwise);

/* ---- the plan: what is measured, with which scenarios, frames, loads, depths ---- */

struct bench_plan {
	const struct bench_arguments *arguments;
	struct bench_conditions conditions;
	const struct scenario *scenario; /* of -c, or NULL */
	const char *scenario_name;
	/* Each figure becomes a row, which is appended as soon as it is measured. */
	json_t *rows;
	/* Remarks, for example on figures that could not be measured: an array of texts, a sentence
	 * each. */
	json_t *remarks;
};

/* Measure a part, after eal_start_live, which bench_plan_clock does not need. Return 0, or -errno
 * with `problem` set; rows that were measured before stay. */
int bench_plan_cost(struct bench_plan *plan, struct problem *problem);
int bench_plan_precision(struct bench_plan *plan, struct problem *problem);
int bench_plan_depth(struct bench_plan *plan, struct problem *problem);
int bench_plan_clouds(struct bench_plan *plan, struct problem *problem);
int bench_plan_clock(struct bench_plan *plan, struct problem *problem);
int bench_plan_rfc2544(struct bench_plan *plan, struct problem *problem);
int bench_plan_latency(struct bench_plan *plan, struct problem *problem);
int bench_plan_reconf(struct bench_plan *plan, struct problem *problem);
int bench_plan_soak(struct bench_plan *plan, struct problem *problem);
/* Measures those rows of an earlier document again that can be judged. */
int bench_plan_again(struct bench_plan *plan, const json_t *document, struct problem *problem);

/* What the parts share. */

/* Says what is measured now: on a terminal in one line, which is overwritten; otherwise not at
 * all. */
void bench_plan_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Appends a row. */
void bench_plan_add(struct bench_plan *plan, json_t *row);
void bench_plan_remark(struct bench_plan *plan, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* Sets the problem to what `rc` means, and returns it. */
int bench_plan_failed(struct problem *problem, int rc);

/*
 * ---- a weir that runs ----
 *
 * A weir with a paced source, a control socket and its clients, in this process: like one that a
 * lab leaves running. It is observed in windows of time.
 */

struct server;
struct serving;

struct bench_live {
	struct bench_rig rig;
	struct server *server;
	struct serving *serving;
	char socket[64];
	/* at the beginning of the window */
	struct bench_count from;
	struct histogram_part lateness, own_lateness;
	struct bench_sink sink; /* counts weir's own share of the lateness */
};

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

/* Opens the rig alone, at a standstill. Returns 0, or -errno with `problem` set. */
int bench_live_open(struct bench_live *live, double pps, const struct bench_conditions *conditions,
                    struct problem *problem);
/* Sets another rate, while the rig is at a standstill. */
void bench_live_pace(struct bench_live *live, double pps);
/* Opens the socket, and starts the rig. Returns 0, or -errno with `problem` set. */
int bench_live_serve(struct bench_live *live, struct problem *problem);
/* Answers clients for a moment. Returns 0, or, if it is to end, the number of a signal or
 * -errno. */
int bench_live_step(struct bench_live *live);
void bench_live_window_begin(struct bench_live *live);
/* Returns false if there is no memory. */
bool bench_live_window_end(struct bench_live *live, struct bench_window *window);
/* Returns the number of packets that are not accounted for, summed over clouds. The rig is at a
 * standstill. */
uint64_t bench_live_unaccounted(struct bench_live *live);
/* Closes the socket and the rig. Returns 0, or -EIO with `problem` set if a packet is not accounted
 * for. */
int bench_live_close(struct bench_live *live, struct problem *problem);

/*
 * Changes of a weir that runs, made as a client makes them: one line of the scenario language each,
 * over the control socket, from a thread of its own. The lines make the example of every statement
 * in turn (statement.h), of a cloud `down` that has a delay and a rate (BENCH_CHANGES_BASE), and
 * remove it again. Schedules count from the beginning of the run: no instant of these is ever
 * reached.
 *
 * Thread: begin and end are control's.
 */

#define BENCH_CHANGES_DELAY "delay 10ms"
#define BENCH_CHANGES_RATE  "rate 100gbit queue 10MB"
#define BENCH_CHANGES_BASE  BENCH_CHANGES_DELAY "\n" BENCH_CHANGES_RATE
#define BENCH_CHANGES_MAX   256
#define BENCH_CHANGES_BYTES 200

struct bench_changes {
	const char *socket;
	uint64_t pause_ns; /* between two changes, after a first round of all; 0: none */
	uint64_t most;     /* maximum number of changes; 0: until the end */
	/* the thread's, until it has ended */
	pthread_t thread;
	bool stop, ended; /* atomic */
	uint64_t made;    /* atomic */
	char file[64];    /* of numbers, one a line: valid as a list of packets and as a trace */
	uint32_t n_lines;
	char lines[BENCH_CHANGES_MAX][BENCH_CHANGES_BYTES];
	struct problem problem; /* of the first line that was refused; "": none */
};

/* Fills in the lines, with `file` in the place of FILE. */
void bench_changes_prepare(struct bench_changes *changes);
/* Starts the thread. Returns 0, or -errno with `problem` set. */
int bench_changes_begin(struct bench_changes *changes, struct problem *problem);
/* Returns true if all of `most` are made, or one was refused. */
bool bench_changes_ended(const struct bench_changes *changes);
/* Does so while it answers clients. Returns `rc`, or, if that is 0, what bench_changes_end
 * returns. */
int bench_changes_end_live(struct bench_changes *changes, struct bench_live *live, int rc,
                           struct problem *problem);

/*
 * ---- the document: {"machine":{...},"rows":[...],"remarks":[...]} ----
 *
 * What prints, draws or compares results has the document alone, so that what it shows is what the
 * file of -j says. Every row has `part`. Keys by part: docs/bench.md.
 *
 * Ownership: new references, the caller's. Functions return NULL if there is no memory.
 */

json_t *bench_row_cost(const char *scenario, const char *ports, uint32_t frame_bytes,
                       const struct bench_cost *cost);
/* `depth`: the intended number of packets in flight; `first_ns`: cost in the first row of the part,
 * to which `relative` refers. */
json_t *bench_row_depth(double depth, const struct bench_cost *cost, double first_ns,
                        uint64_t delay_ns);
json_t *bench_row_clouds(uint32_t clouds, const struct bench_cost *cost, double first_ns);
json_t *bench_row_precision(const char *load, double pps, uint32_t frame_bytes, uint64_t delay_ns,
                            double seconds, const struct bench_precision *precision);
json_t *bench_row_clock(double seconds, const struct bench_clock *clock);
json_t *bench_row_rfc2544(const char *under_test, const struct rfc2544_conditions *conditions,
                          const struct rfc2544_result *result);
json_t *bench_row_latency(const char *from, const char *to, double line_bps, double cable_m,
                          const struct bench_latency *latency);
/* Returns what happened in a window of a rig that runs. */
json_t *bench_json_window(const struct bench_window *window);
json_t *bench_json_machine(const struct bench_machine *machine, double tsc_hz, bool hugepages,
                           const struct bench_conditions *conditions);

/* Reads a document from a file. Returns NULL with `problem` set on failure. */
json_t *bench_document_load(const char *path, struct problem *problem);
/* Returns the next row of the part, from *at on, which is 0 at first; NULL if there is none. */
const json_t *bench_next(const json_t *rows, const char *part, size_t *at);
/* Returns a number of a row, or 0 if it is missing. `OBJECT.KEY` is one of an object in the row. */
double bench_number(const json_t *row, const char *key);
const char *bench_text(const json_t *row, const char *key); /* "" if it is missing */
bool bench_is(const json_t *row, const char *part);

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

/* Terminated by a row without a name. The first is bare forwarding, the second a delay of 10 ms. */
extern const struct bench_scenario bench_scenarios[];
#define BENCH_SCENARIO_BARE  (&bench_scenarios[0])
#define BENCH_SCENARIO_DELAY (&bench_scenarios[1])

/* Returns the scenario of this name, or NULL if there is none. */
const struct bench_scenario *bench_scenario_find(const char *name);
/* Statements, with a delay of 10 ms: a router; the same with RED, ECN and feedback; and two fields
 * of 4 and 8 bytes overwritten. They need frames with headers. */
extern const char bench_router[], bench_router_feedback[], bench_rewrite[];
/* The second one without a delay. */
extern const char bench_router_feedback_alone[];

/* Makes ports a and b, a cloud `down` from a to b and, if `both`, a cloud `up` back. Returns 0, or
 * -errno with `problem` set. */
int bench_scenario_make(const char *statements, bool both, struct scenario **scenario,
                        struct problem *problem);
/* Does the same with a constant delay in each direction. */
int bench_scenario_delay(uint64_t delay_ns, bool both, struct scenario **scenario,
                         struct problem *problem);
/* Makes a template with a cloud for each source address in 10.0.0.0/8, at most `clouds`, with these
 * statements, one a line. Returns 0, or -errno with `problem` set. */
int bench_scenario_clouds(uint32_t clouds, const char *statements, struct scenario **scenario,
                          struct problem *problem);

/*
 * The loads of `weir bench precision`: packets at equal intervals, through a delay, or through a
 * router with a delay.
 */

/* The rate of 64-byte frames on 10 Gbit/s: 84 bytes each with gap and preamble. */
#define BENCH_LINE_PPS 14880952.0

struct bench_load {
	const char *name;
	double pps;
	uint32_t frame_bytes;
	uint64_t delay_ns;
	/* with the delay, if any; the frames have headers then; NULL: the delay alone */
	const char *statements;
};

/* Terminated by a row without a name. */
extern const struct bench_load bench_loads[];

/* Returns true if the name of the load contains this part; NULL fits each load. */
bool bench_load_is(const struct bench_load *load, const char *part);

#endif
