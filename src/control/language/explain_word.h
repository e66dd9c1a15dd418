/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Help for a word that is neither a command nor a statement: what a word in capitals stands for
 * (PLACE, SELECTION), and the fields of that name (`match`, `priority`, `jitter`), with the
 * statements or lines that have them.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_EXPLAIN_WORD_H
#define WEIR_EXPLAIN_WORD_H

#include <stdbool.h>
#include <stdio.h>

#include "text/nearest.h"

/* What a word in capitals stands for. False: it is none, and nothing is printed. */
bool explain_place(FILE *out, const char *word);
/* The fields of this name. False: there is none, and nothing is printed. */
bool explain_fields(FILE *out, const char *word);
/* All words that have help here, as candidates. */
void explain_word_candidates(struct nearest *nearest);

/* `  priority N   which cloud...`: the selections behind a cloud, or a template. */
void explain_selection(FILE *out, bool template);

#endif
