/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs points of experiments side by side, in as many processes, forked from this one, as are to
 * run at once. Each starts an EAL of its own (without hugepages, a child would share the parent's
 * EAL memory with it), runs one point after the other, and returns figures through a pipe. So
 * points share nothing, and the result does not depend on how many run at once.
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
	const char *sweep, *sweep_value; /* the parameter and its value; or NULL: as in the case */
	const struct experiment_plot *trace; /* runs for this figure only; or NULL */
	char *trace_path;                    /* with `trace`; owned */
	struct results results;
	double seconds; /* processor time */
	bool done;      /* the results are there */
	int error;
	char message[EXPERIMENT_MESSAGE]; /* with error */
};

/* Runs the jobs that are not done, `at_once` at a time. Returns 0, the first job's error in their
 * order (the others still run), or -EINTR if *stop became true; the rest is then left out. Calls
 * `progress`, unless it is NULL, after each. */
int lab_jobs_run(struct lab_job *jobs, uint32_t n, uint32_t at_once,
                 const volatile sig_atomic_t *stop,
                 void (*progress)(void *argument, uint32_t done, uint32_t n), void *argument);

#endif
