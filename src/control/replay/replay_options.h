/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `weir replay`, parsed and checked: docs/man/weir-replay.1 describes it.
 *
 * Thread: control.
 */
#ifndef WEIR_REPLAY_OPTIONS_H
#define WEIR_REPLAY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "offline/replay.h"

/* `a,b=FILE` in its parts; owned. */
struct replay_binding {
	char *text; /* the parts are in here */
	const char *first, *second, *path;
};

struct replay_arguments {
	const char *config, *split, *report, *log, *picture;
	uint64_t seed;
	bool seed_given;
	uint32_t burst;
	uint64_t memory_bytes;
	bool quiet;
	bool stdout_taken; /* a file goes to standard output, so the table must not */
	struct replay_binding in_text[REPLAY_FILES_MAX], out_text[REPLAY_FILES_MAX];
	/* by replay_arguments_bind */
	struct replay_file in[REPLAY_FILES_MAX], out[REPLAY_FILES_MAX];
	uint32_t n_in, n_out;
};

enum { REPLAY_ARGUMENTS_RUN, REPLAY_ARGUMENTS_HELP, REPLAY_ARGUMENTS_WRONG };

/* Says itself what is wrong, or the help. `arguments` is all zero before; pointers go into argv.
 * What is not RUN needs no release. */
int replay_arguments_parse(int argc, char **argv, struct replay_arguments *arguments);
void replay_arguments_release(struct replay_arguments *arguments);

/* Finds the ports in the scenario and checks that no file is written that is also read or written
 * otherwise. 0, or -EINVAL with problem. */
int replay_arguments_bind(struct replay_arguments *arguments, const struct scenario *scenario,
                          struct problem *problem);

#endif
