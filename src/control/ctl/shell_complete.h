/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What TAB does to a line of the shell: the words of the language (complete.h), and those that are
 * the conversation's own (begin, commit, json on, ...).
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_SHELL_COMPLETE_H
#define WEIR_SHELL_COMPLETE_H

#include <stddef.h>

#include "scenario/scenario.h"

/* Completes the line up to its `cursor`-th byte: what is to be inserted there ("" if nothing), and
 * the words among which it cannot choose (a list ended by NULL; NULL if there are none), both to be
 * freed. 0 or -ENOMEM. */
int shell_complete(const char *line, size_t cursor, const struct scenario *scenario, char **insert,
                   char ***choices);
/* All words that may stand where the line ends, as complete() has them, and the conversation's own:
 * a list ended by NULL, to be freed. `start`: the byte where the word begins. NULL: no memory. */
char **shell_candidates(const char *line, const struct scenario *scenario, size_t *start);
void shell_choices_free(char **choices);

#endif
