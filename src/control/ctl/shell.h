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
#include "scenario/scenario.h"

/*
 * The effect of TAB on a line of the shell: completes the words of the language (complete.h), and
 * the commands of the conversation (begin, commit, json on, ...).
 *
 * Thread: pure functions, any.
 */

/* Completes the line up to its `cursor`-th byte. *insert is the text to insert there ("" if none),
 * *choices the words if there are several (a list ended by NULL; NULL if there are none); the
 * caller frees both. Returns 0 or -ENOMEM. */
int shell_complete(const char *line, size_t cursor, const struct scenario *scenario, char **insert,
                   char ***choices);
/* Returns all words that may stand at the end of the line, those of complete() and the
 * conversation's own: a list ended by NULL, which the caller frees. `start`: the byte at which the
 * word begins. Returns NULL if there is no memory. */
char **shell_candidates(const char *line, const struct scenario *scenario, size_t *start);
void shell_choices_free(char **choices);

#define SHELL_HISTORY_LINES 1000

/* Reads lines from the terminal, until quit, exit or the end of input, and prints the answers.
 * `path`: the socket, for connecting again after the server has closed an idle link; NULL: the
 * default. Returns the exit status of weir ctl. */
int shell_run(struct ctl_link *link, const char *path);

/* Gets the path of the history: $XDG_STATE_HOME/weir_history, else ~/.weir_history. Returns false
 * if there is no home. */
bool shell_history_path(char *path, size_t size);

#endif
