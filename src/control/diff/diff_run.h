/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs two recordings (record/rerun.h), or a recording and a changed run of it, side by side. They
 * go in step, packet by packet, so that few fates wait for their partner, however long the runs
 * are.
 *
 * Thread: control.
 */
#ifndef WEIR_DIFF_RUN_H
#define WEIR_DIFF_RUN_H

#include <signal.h>
#include <stdio.h>

#include "diff/fate_differences.h"
#include "record/recording_folder.h"

#define DIFF_SETS_MAX 32u

struct diff_plan {
	const char *folder, *config; /* config: or NULL */
	const char *set[DIFF_SETS_MAX];
	uint32_t n_set;
	uint64_t seed, until_ns; /* until_ns 0: up to the end */
	bool seed_given, ideal;
};

/* One of the two runs. */
struct diff_side {
	struct recording_folder *folder;
	struct scenario *scenario;
	struct rerun_result result;
	bool otherwise; /* not as it was recorded */
};

struct diff_outcome {
	struct diff_side sides[2];
	struct fate_differences differences;
	uint64_t gone; /* fates that waited too long for their partner */
};

/* Compares the runs of both plans. `outcome` is all zero before; diff_outcome_release frees it in
 * any case. Returns 0; -EINVAL with problem if a recording or a scenario is wrong; -EILSEQ with
 * problem if a rerun differs from what was recorded; another -errno with problem. */
int diff_run(const struct diff_plan plans[2], struct diff_outcome *outcome,
             struct problem *problem);
void diff_outcome_release(struct diff_outcome *outcome);

#endif
