/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `weir lab`. Thread: the main thread. Ownership: pointers go into argv.
 */
#ifndef WEIR_LAB_OPTIONS_H
#define WEIR_LAB_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/lab_point.h"

#define LAB_SETS_MAX  32
#define LAB_SEEDS     5
#define LAB_SEEDS_MAX 10000

struct lab_arguments {
	bool list, json;
	bool merge;
	char *const *folders; /* to merge */
	uint32_t n_folders;
	const char *what; /* experiment, row, file or `all` */
	uint32_t seeds, jobs;
	uint64_t first_seed;
	struct lab_override sets[LAB_SETS_MAX];
	uint32_t n_sets;
	const char *only; /* a case */
	const char *out, *pcap, *trace;
	bool figures; /* an experiment's sweep, too */
	bool go_on;   /* from what is in `out` */
};

enum { LAB_ARGUMENTS_RUN, LAB_ARGUMENTS_HELP, LAB_ARGUMENTS_WRONG };

/* Says itself what is wrong, or the help. Cuts `NAME=VALUE` in argv apart. */
int lab_arguments_parse(int argc, char **argv, struct lab_arguments *arguments);

#endif
