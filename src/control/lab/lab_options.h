/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `weir lab`. Thread: the main thread. Ownership: pointers go into argv.
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
	bool points; /* what would be run is listed, and not run */
	bool merge;
	char *const *folders; /* to merge */
	uint32_t n_folders;
	const char *what; /* experiment, row, file or `all` */
	uint64_t seeds, jobs, first_seed;
	struct lab_override sets[LAB_SETS_MAX];
	uint32_t n_sets;
	const char *only; /* a case */
	const char *out, *pcap, *trace;
	bool no_figures; /* without an experiment's sweep */
	bool alone;      /* cases as they are, without what rows and figures need of them */
	bool go_on;      /* from what is in `out` */
};

/* OPTIONS_RUN; else all is said, and it is the exit status. Cuts `NAME=VALUE` in argv apart. */
int lab_arguments_parse(int argc, char **argv, struct lab_arguments *arguments);

#endif
