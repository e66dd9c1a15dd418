/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The effect of TAB on a line of the shell: completes the words of the language (complete.h), and
 * the commands of the conversation (begin, commit, json on, ...).
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_SHELL_COMPLETE_H
#define WEIR_SHELL_COMPLETE_H

#include <stddef.h>

#include "scenario/scenario.h"

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

#endif
