/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of `weir exec`, parsed; docs/man/weir-exec.1 describes it.
 *
 * Thread: control.
 */
#ifndef WEIR_EXEC_OPTIONS_H
#define WEIR_EXEC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/exec_path.h"
#include "options/options.h"
#include "record/recording_run.h"
#include "run/rest_options.h"
#include "scenario/scenario.h"
#include "text/word.h"

#define EXEC_COMMANDS_MAX 2

struct exec_arguments {
	const char *config, *cores, *report, *log, *picture, *pcap, *socket;
	/* Statements for both directions, and for one; "": none. */
	char both[LINE_BYTES_MAX], down[LINE_BYTES_MAX], up[LINE_BYTES_MAX];
	struct recording_arguments record;
	struct rest_arguments rest;
	uint64_t memory_bytes; /* 0: not given */
	uint64_t seed;
	uint32_t log_level; /* enum run_log_level */
	bool seed_given, quiet;
	bool shell;   /* there is no command: a shell */
	bool between; /* two commands, at the far end (A) and the near end (B) */
	bool dashes;  /* there is a command behind the statements */
	/* of the far end, if it has a command, and of the near end */
	char *argv[EXEC_COMMANDS_MAX][4]; /* a shell with the text of --between */
	char *const *command[EXEC_COMMANDS_MAX];
};

/* Returns OPTIONS_RUN, or another value if everything was printed (options.h). Pointers point into
 * argv and into `arguments`. */
int exec_arguments_parse(int argc, char **argv, struct exec_arguments *arguments);

/*
 * The scenario of `weir exec`: that of a file, or one of a path without impairments,
 *
 *   port world
 *   port command
 *   cloud down from world to command
 *   cloud up from command to world
 *
 * followed by the statements of the command line (short_form.h): `down` is for packets to the
 * command. With --between the ports are A and B.
 */

/* Makes the scenario. Returns 0, and the scenario is the caller's; or -errno, with a line that
 * describes the error. `ports` receives the indices of the far and the near port. May move the
 * first word of `both` to `config`: the name of a scenario. */
int exec_scenario_make(struct exec_arguments *arguments, struct scenario **scenario,
                       uint32_t ports[EXEC_ENDS], char *message, size_t room);

#endif
