/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `weir bench` measures, part by part: which scenarios, frames, loads, depths. Each figure
 * becomes a row (bench_rows.h), appended as soon as it is there.
 *
 * Thread: control, after eal_start_live; bench_plan_clock needs none.
 */
#ifndef WEIR_BENCH_PLAN_H
#define WEIR_BENCH_PLAN_H

#include <jansson.h>

#include "bench/bench_options.h"
#include "measure/bench_rig.h"

struct bench_plan {
	const struct bench_arguments *arguments;
	struct bench_conditions conditions;
	const struct scenario *scenario; /* of -c, or NULL */
	const char *scenario_name;
	json_t *rows;
	/* Figures that could not be had, a sentence each; an array of texts. */
	json_t *remarks;
};

/* 0, or -errno with problem; rows that were measured before stay. */
int bench_plan_cost(struct bench_plan *plan, struct problem *problem);
/* What can be judged of the rows of an earlier document, measured again. */
int bench_plan_again(struct bench_plan *plan, const json_t *document, struct problem *problem);
int bench_plan_precision(struct bench_plan *plan, struct problem *problem);
int bench_plan_depth(struct bench_plan *plan, struct problem *problem);
int bench_plan_clouds(struct bench_plan *plan, struct problem *problem);
int bench_plan_clock(struct bench_plan *plan, struct problem *problem);
int bench_plan_rfc2544(struct bench_plan *plan, struct problem *problem);
int bench_plan_latency(struct bench_plan *plan, struct problem *problem);
int bench_plan_reconf(struct bench_plan *plan, struct problem *problem);
int bench_plan_soak(struct bench_plan *plan, struct problem *problem);

#endif
