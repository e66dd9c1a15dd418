/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explains what is wrong with a word among the fields of a statement, and what would be right.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_STATEMENT_WRONG_H
#define WEIR_STATEMENT_WRONG_H

#include "text/nearest.h"
#include "text/word.h"
#include "scenario/statement.h"

/* Finds the keyword of the table that is nearest to the word. */
void statement_nearest_keyword(const struct field *fields, const char *word,
                               struct nearest *nearest);
/* Sets error and column for words[at], which is no keyword of the statement; conf->given has the
 * fields up to there. Returns -EINVAL. */
int statement_wrong_word(const struct conf *conf, const struct words *words, uint32_t at,
                         struct language_error *error);

#endif
