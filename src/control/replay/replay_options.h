/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `weir replay`, parsed and checked; docs/man/weir-replay.1 describes it.
 *
 * Thread: control.
 */
#ifndef WEIR_REPLAY_OPTIONS_H
#define WEIR_REPLAY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "offline/replay.h"
#include "options/options.h"
#include "text/word.h"

#define REPLAY_SETS_MAX 32u

/* The parts of `a,b=FILE`. */
struct replay_binding {
	const char *first, *second, *path;
};

struct replay_arguments {
	char statements[LINE_BYTES_MAX]; /* on the command line (short_form.h); "": none */
	const char *config, *split, *link_type, *report, *log, *picture, *capture, *explain_json;
	/* the folder of a recording that is run again, or NULL */
	const char *recording;
	const char *set[REPLAY_SETS_MAX]; /* lines that change the scenarios of the recording */
	uint32_t n_set;
	uint64_t until_ns; /* 0: to the end of the recording */
	uint64_t packet;   /* whose way is printed in words; 0: none */
	bool ideal;
	uint64_t seed;
	bool seed_given;
	uint64_t burst, memory_bytes;
	bool explain;
	bool quiet;
	bool stdout_taken; /* a file goes to standard output, so the table must not */
	struct replay_binding in_text[REPLAY_FILES_MAX], out_text[REPLAY_FILES_MAX];
	/* set by replay_arguments_bind */
	struct replay_file in[REPLAY_FILES_MAX], out[REPLAY_FILES_MAX];
	uint32_t n_in, n_out;
};

/* Returns OPTIONS_RUN; else everything was printed, and the result is the exit status. Splits
 * PORT=PCAP in argv, and points into it. */
int replay_arguments_parse(int argc, char **argv, struct replay_arguments *arguments);

/* Finds the ports in the scenario, and checks that no output file is also an input, or another
 * output. Returns 0, or -EINVAL with problem. */
int replay_arguments_bind(struct replay_arguments *arguments, const struct scenario *scenario,
                          struct problem *problem);

#endif
