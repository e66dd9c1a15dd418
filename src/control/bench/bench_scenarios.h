/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scenarios that `weir bench` measures, in the scenario language.
 *
 * A rate in them is far above what a core can carry, and a queue is larger than a core can fill:
 * the figure is what the stage costs, not what it drops.
 *
 * Ownership: scenarios that are made here are the caller's.
 * Thread: control.
 */
#ifndef WEIR_BENCH_SCENARIOS_H
#define WEIR_BENCH_SCENARIOS_H

#include <stdbool.h>
#include <stdint.h>

#include "scenario/scenario.h"

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
