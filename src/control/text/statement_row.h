/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The row of the table of statements that the beginning of a statement means: its name, and its
 * variant. A variant that goes `by_percent` may be left out before a percentage, `loss 1%`; before
 * another number it may not, for `loss 0.1` is 10 % as a fraction and 0.1 % in netem.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_STATEMENT_ROW_H
#define WEIR_STATEMENT_ROW_H

#include "text/word.h"
#include "scenario/statement.h"

/* words[*at] is the name of a statement; `at` moves on to its fields. NULL with error and
 * column. */
const struct statement *statement_row(const struct words *words, uint32_t *at,
                                      struct language_error *error);

#endif
