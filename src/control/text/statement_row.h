/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the row in the table of statements for the beginning of a statement: its name, and its
 * variant. If a variant is `by_percent`, it may be left out before a percentage, as in `loss 1%`,
 * but not before another number: `loss 0.1` means 10 % as a fraction, and 0.1 % in netem.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_STATEMENT_ROW_H
#define WEIR_STATEMENT_ROW_H

#include "text/word.h"
#include "scenario/statement.h"

/* Returns the row; words[*at] is the name of a statement. Moves `at` to the fields. Returns NULL
 * with error and column if there is no such row. */
const struct statement *statement_row(const struct words *words, uint32_t *at,
                                      struct language_error *error);

#endif
