/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interactive shell of `weir ctl`: line editing, a persistent history, completion with TAB from
 * the language's tables and from the names in the running scenario.
 *
 * Thread: the caller's, one; it uses the terminal.
 */
#ifndef WEIR_SHELL_H
#define WEIR_SHELL_H

#include <stdbool.h>
#include <stddef.h>

#include "ctl/ctl_link.h"

#define SHELL_HISTORY_LINES 1000

/* Reads lines from the terminal, until quit, exit or the end of input, and prints the answers.
 * `path`: the socket, for connecting again after the server has closed an idle link; NULL: the
 * default. Returns the exit status of weir ctl. */
int shell_run(struct ctl_link *link, const char *path);

/* Gets the path of the history: $XDG_STATE_HOME/weir_history, else ~/.weir_history. Returns false
 * if there is no home. */
bool shell_history_path(char *path, size_t size);

#endif
