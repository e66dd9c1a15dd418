/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong with a line that fits no form, and what would be right.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_LANGUAGE_WRONG_H
#define WEIR_LANGUAGE_WRONG_H

#include "text/word.h"

/* words[index] is the first word that fits no form. -EINVAL. */
int language_wrong_word(const struct words *words, uint32_t index, struct language_error *error);
/* All words fit, and more must follow. -EINVAL. */
int language_line_too_short(const struct words *words, struct language_error *error);

#endif
