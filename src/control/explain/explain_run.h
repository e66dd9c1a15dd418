/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The explanation of one run: takes fates, explains the connections that are over, and writes them
 * as text, and as JSON to a file, which appears when it is complete (atomic_file.h).
 *
 * Ownership: explain_run_free frees the run, and removes a file that was not published.
 * Thread: one at a time.
 */
#ifndef WEIR_EXPLAIN_RUN_H
#define WEIR_EXPLAIN_RUN_H

#include <stdbool.h>
#include <stdio.h>

#include "account/witness.h"
#include "scenario/problem.h"
#include "scenario/scenario.h"

struct explain_run;

struct explain_plan {
	uint32_t n_ports;
	const char (*ports)[SCENARIO_NAME_BYTES]; /* their names, which are copied */
	const char *json;                         /* a file; or NULL */
	FILE *text;  /* gets each connection in words once it is over; or NULL */
	FILE *lines; /* gets each as a line of JSON (explanation.h); or NULL */
	bool deaf;   /* the hosts do not hear what weir does (walk.h) */
};

/* Returns 0; -EINVAL with problem if the file cannot be created; -ENOMEM. */
int explain_run_open(const struct explain_plan *plan, struct explain_run **run,
                     struct problem *problem);
/* Does the same for the ports of a scenario. */
int explain_run_of(const struct scenario *scenario, const char *json, bool deaf,
                   struct explain_run **run, struct problem *problem);
/* Takes fates (explainer.h). Fits fate_reader_take. */
void explain_run_take(void *run, const struct fate *const fates[], uint32_t n);
/* Explains what is over at `now`. */
void explain_run_step(struct explain_run *run, simtime now);
/* Explains all that is left, and completes the file. `lacking`: how many fates are missing. Returns
 * 0, or -errno with problem. */
int explain_run_finish(struct explain_run *run, uint64_t lacking, struct problem *problem);
/* Prints it, once it is finished. */
void explain_run_print(const struct explain_run *run, FILE *out);
/* Returns the same as a text, which the caller frees; NULL: there is no memory, which is noted. */
char *explain_run_text(const struct explain_run *run);
#define EXPLAIN_HEADING "Where the time of each connection went"
int explain_run_publish(struct explain_run *run, struct problem *problem);
void explain_run_free(struct explain_run *run); /* NULL is allowed */

#endif
