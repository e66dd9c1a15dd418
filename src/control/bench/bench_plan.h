/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `weir bench` measures, part by part: scenarios, frames, loads, depths. Each figure becomes a
 * row (bench_rows.h), which is appended as soon as it is measured.
 *
 * Thread: control, after eal_start_live, which bench_plan_clock does not need.
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
	/* Remarks, for example on figures that could not be measured: an array of texts, a sentence
	 * each. */
	json_t *remarks;
};

/* Measures the part. Returns 0, or -errno with `problem` set; rows that were measured before stay.
 * The same holds for the functions below. */
int bench_plan_cost(struct bench_plan *plan, struct problem *problem);
/* Measures those rows of an earlier document again that can be judged. */
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
