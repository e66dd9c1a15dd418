/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explains what is wrong with a line that matches no form, and what would be right.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_LANGUAGE_WRONG_H
#define WEIR_LANGUAGE_WRONG_H

#include "text/word.h"

/* Sets error and column for words[index], the first word that matches no form. Returns -EINVAL. */
int language_wrong_word(const struct words *words, uint32_t index, struct language_error *error);
/* Sets error and column for a line whose words match, but which must continue. Returns -EINVAL. */
int language_line_too_short(const struct words *words, struct language_error *error);

#endif
