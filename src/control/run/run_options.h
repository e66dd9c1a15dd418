/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses the command line of `weir run`, which docs/man/weir-run.1 describes.
 *
 * Thread: control.
 */
#ifndef WEIR_RUN_OPTIONS_H
#define WEIR_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "language/short_form.h"
#include "live/runtime.h"
#include "options/options.h"
#include "record/recording_run.h"
#include "run/rest_options.h"

struct run_arguments {
	const char *config, *socket, *cores;
	const char *keep;
	struct recording_arguments record;
	struct rest_arguments rest;
	const char *socket_readonly, *readonly_group;
	uint64_t memory_bytes; /* 0: not given */
	uint32_t layout;       /* enum runtime_layout */
	uint32_t log_level;    /* enum run_log_level */
	bool quiet;
	struct short_words words; /* n 0: none; else they are the scenario, with `config` */
	int n_eal;
	char **eal; /* the words behind `--` */
};

/* Returns OPTIONS_RUN, or the exit status; then all output has been printed. Pointers go into
 * argv. */
int run_arguments_parse(int argc, char **argv, struct run_arguments *arguments);

#endif
