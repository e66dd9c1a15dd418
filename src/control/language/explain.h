/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Help, from the tables.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_EXPLAIN_H
#define WEIR_EXPLAIN_H

#include <stdio.h>

#include "text/word.h"
#include "scenario/field.h"

/* `help WORDS`: words->word[at...]. Nothing: all commands. `cloud`: the statements. `cloud delay`
 * or `delay`: its fields. `units`: how values are written. `match`, `jitter`, `PLACE`:
 * explain_word.h. 0, or -EINVAL with error and column, and
 * then nothing is printed. */
int explain(FILE *out, const struct words *words, uint32_t at, struct language_error *error);

/* `; 0s to 86400s; 0s if not given`: what there is to say of a field's values. */
void explain_range(FILE *out, const struct field *field);

/* `  jitter TIME   spread of the delay; 0s to ...`: a field, in a line or two. */
void explain_field(FILE *out, const struct field *field);

/* How values are written: a row a type. */
struct value_manner {
	const char *kind, *written, *help;
};
extern const struct value_manner value_manners[]; /* ended by kind NULL */

#endif
