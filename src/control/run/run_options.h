/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `weir run`, parsed: docs/man/weir-run.1 describes it.
 *
 * Thread: control.
 */
#ifndef WEIR_RUN_OPTIONS_H
#define WEIR_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "live/runtime.h"

struct run_arguments {
	const char *config, *socket, *cores;
	uint64_t memory_bytes; /* 0: not given */
	enum runtime_layout layout;
	bool quiet;
	int n_eal;
	char **eal; /* what stood behind `--` */
};

enum { RUN_ARGUMENTS_RUN, RUN_ARGUMENTS_HELP, RUN_ARGUMENTS_WRONG };

/* Says itself what is wrong, or the help. Pointers go into argv. */
int run_arguments_parse(int argc, char **argv, struct run_arguments *arguments);

#endif
