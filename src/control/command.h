/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The subcommands of weir. Each gets its own arguments, argv[0] being its name (`replay`). It
 * prints errors to stderr as `weir replay: what is wrong, and what would be right`, and returns the
 * exit status: 0 success, 1 failure on the way, 2 invalid request (nothing was touched).
 */
#ifndef WEIR_COMMAND_H
#define WEIR_COMMAND_H

#include "options/options.h"
#include "python/python.h"

/* command.c: the table of subcommands, --help, --version */
int command_main(int argc, char **argv);

int command_exec(int argc, char **argv);
/* Returns true if the first word after `weir` belongs to exec, which may then be left out: a value
 * that is a statement, --up or --down. */
bool command_exec_begins(const char *word);
int command_on(int argc, char **argv);
int command_run(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_check(int argc, char **argv);
int command_ctl(int argc, char **argv);
int command_bench(int argc, char **argv);

/* Those that are Python. */
extern const struct python_command diff_command, learn_command, top_command, serve_command,
        lab_command, setup_command;

/* `weir --complete WORD ...`, for shells (complete/complete_command.c). `words`: the words after
 * `weir`; the last is the one being typed, perhaps "". `all`: the commands, ended by NULL. */
void command_complete(FILE *out, int n, char **words, const struct options *const *all);

/* The options of each command, and its help. */
extern const struct options exec_options, on_options, run_options, replay_options, diff_options,
        learn_options, check_options, ctl_options, top_options, serve_options, bench_options,
        lab_options, setup_options;

#endif
