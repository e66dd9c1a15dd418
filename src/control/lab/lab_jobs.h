/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points of experiments, run through side by side, by as many processes, forked from this one, as
 * are to be at once. Each starts an EAL of its own (what an EAL allocates without hugepages a child
 * would share with its parent), takes one point after the other, and gives figures back through a
 * pipe. So points share nothing, and the result does not depend on how many there are at once.
 *
 * Ownership: jobs and what they point at are the caller's; results_release for each.
 * Thread: control's, without an EAL.
 */
#ifndef WEIR_LAB_JOBS_H
#define WEIR_LAB_JOBS_H

#include <signal.h>

#include "lab/lab_options.h"

struct lab_job {
	struct lab_point point;
	struct lab_override overrides[LAB_SETS_MAX + 2]; /* the point's */
	const char *sweep,
	        *sweep_value; /* the parameter and its value; or NULL: that of the case */
	const struct experiment_plot *trace; /* only for this figure; or NULL */
	char *trace_path;                    /* then: owned */
	struct results results;
	double seconds; /* of the processor */
	bool done;      /* the results are there */
	int error;
	char message[EXPERIMENT_MESSAGE]; /* with error */
};

/* Runs those that are not done, `at_once` at a time. Returns 0, the first job's error in their
 * order (the others still run), or -EINTR when *stop became true, with the rest left out.
 * `progress`, or NULL, after each. */
int lab_jobs_run(struct lab_job *jobs, uint32_t n, uint32_t at_once,
                 const volatile sig_atomic_t *stop,
                 void (*progress)(void *argument, uint32_t done, uint32_t n), void *argument);

#endif
