/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `weir lab`.
 * Thread: the main thread.
 * Ownership: pointers point into argv.
 */
#ifndef WEIR_LAB_OPTIONS_H
#define WEIR_LAB_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/lab_point.h"
#include "options/options.h"

#define LAB_SETS_MAX  32
#define LAB_SEEDS     5
#define LAB_SEEDS_MAX 10000

struct lab_arguments {
	bool list, json;
	bool points; /* lists what would be run, and does not run it */
	bool merge;
	char *const *folders; /* to merge */
	uint32_t n_folders;
	const char *what; /* experiment, row, file or `all` */
	uint64_t seeds, jobs, first_seed;
	struct lab_override sets[LAB_SETS_MAX];
	uint32_t n_sets;
	const char *only; /* a case */
	const char *out, *pcap, *trace;
	bool no_figures; /* omits an experiment's sweep */
	bool alone;      /* cases as they are, without what rows and figures need beyond */
	bool go_on;      /* continues from what is in `out` */
};

/* Returns how many processes run at once if --jobs is not given; `processors` may be -1:
 * unknown. */
uint64_t lab_jobs_of(long processors);
/* Returns OPTIONS_RUN; otherwise everything has been printed, and the result is the exit status.
 * Splits `NAME=VALUE` in argv. */
int lab_arguments_parse(int argc, char **argv, struct lab_arguments *arguments);

#endif
