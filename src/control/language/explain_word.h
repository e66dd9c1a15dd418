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

/* Explains a word in capitals. Returns false if it has no meaning; then nothing is printed. */
bool explain_place(FILE *out, const char *word);
/* Explains the fields of this name. Returns false if there are none; then nothing is printed. */
bool explain_fields(FILE *out, const char *word);
/* Considers all words that have help here as candidates. */
void explain_word_candidates(struct nearest *nearest);

/* Prints the selections of a cloud, or of a template: `  priority N   which cloud...` */
void explain_selection(FILE *out, bool template);

#endif
