/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong with a word among the fields of a statement, and what would be right.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_STATEMENT_WRONG_H
#define WEIR_STATEMENT_WRONG_H

#include "text/nearest.h"
#include "text/word.h"
#include "scenario/statement.h"

/* The keyword of a table that is nearest to the word. */
void statement_nearest_keyword(const struct field *fields, const char *word,
                               struct nearest *nearest);
/* words[at] is no keyword of the statement, whose fields up to there are `given`. -EINVAL. */
int statement_wrong_word(const struct conf *conf, const struct words *words, uint32_t at,
                         struct language_error *error);

#endif
