/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output of `weir diff`: as text, and as one JSON object.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_DIFF_TEXT_H
#define WEIR_DIFF_TEXT_H

#include <stdio.h>

#include "diff/diff_run.h"

void diff_text_print(FILE *out, const struct diff_outcome *outcome);
/* Returns 0 or -ENOMEM. */
int diff_json_print(FILE *out, const struct diff_outcome *outcome);

#endif
