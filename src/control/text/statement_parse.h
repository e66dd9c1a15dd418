/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the row in the table of statements for the beginning of a statement: its name, and its
 * variant. If a variant is `by_percent`, it may be left out before a percentage, as in `loss 1%`,
 * but not before another number: `loss 0.1` means 10 % as a fraction, and 0.1 % in netem.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_STATEMENT_PARSE_H
#define WEIR_STATEMENT_PARSE_H

#include "scenario/statement.h"
#include "text/nearest.h"
#include "text/word.h"

/* Returns the row; words[*at] is the name of a statement. Moves `at` to the fields. Returns NULL
 * with error and column if there is no such row. */
const struct statement *statement_row(const struct words *words, uint32_t *at,
                                      struct language_error *error);

/*
 * Explains what is wrong with a word among the fields of a statement, and what would be right.
 */

/* Finds the keyword of the table that is nearest to the word. */
void statement_nearest_keyword(const struct field *fields, const char *word,
                               struct nearest *nearest);
/* Sets error and column for words[at], which is no keyword of the statement; conf->given has the
 * fields up to there. Returns -EINVAL. */
int statement_wrong_word(const struct conf *conf, const struct words *words, uint32_t at,
                         struct language_error *error);

#endif
