/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints help, from the tables.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_DESCRIBE_H
#define WEIR_DESCRIBE_H

#include <stdio.h>

#include "scenario/field.h"
#include "text/word.h"

/* Describes words->word[at...], as `help WORDS` does. No words: all commands. `cloud`: the
 * statements. `cloud delay` or `delay`: its fields. `units`: how values are written. `match`,
 * `jitter`, `PLACE`. Returns 0, or -EINVAL with error and column, and then nothing
 * is printed. */
int describe(FILE *out, const struct words *words, uint32_t at, struct language_error *error);

/* Prints the range and the initial value of a field: `; 0s to 86400s; 0s if not given`. */
void describe_range(FILE *out, const struct field *field);

/* How values of one kind are written. */
struct value_manner {
	const char *kind, *written, *help;
};
extern const struct value_manner value_manners[]; /* ended by a row with kind NULL */

#endif
