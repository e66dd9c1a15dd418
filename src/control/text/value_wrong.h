/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explains what is wrong with a value, and what would be right. Each function sets the error,
 * except its column, and returns -EINVAL.
 *
 * A probability is percent, or a fraction up to 1. `1` is refused, in any spelling without `%`: it
 * is 100 % as a fraction, and 1 % for people who know netem. Numbers above 1 are refused, too; if
 * they can be percent, the message says how to write that. Fractions below 1 are accepted, as
 * models and papers use them, and 0.01 is what the person wrote down; `show config` prints the
 * percent. 0 is 0 in both readings. Weights and factors are not probabilities (FIELD_SHARE): their
 * 1 is 1.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_VALUE_WRONG_H
#define WEIR_VALUE_WRONG_H

#include <stdbool.h>

#include "text/foreign_unit.h"
#include "text/language_error.h"
#include "scenario/field.h"

/* Returns the largest value that the field may have. */
uint64_t value_max(const struct field *field);

/* `units`: the list in which to print the limits; NULL: as the type prints them. */
int value_is_out_of_range(const struct field *field, const char *text, const struct unit *units,
                          struct language_error *error);
/* The text is not of the field's type; `right` says how such a value is written. */
int value_of_no_kind(const struct field *field, const char *text, const char *right,
                     struct language_error *error);
/* The text has no number where a number and a unit are expected. */
int value_is_no_quantity(const struct field *field, const char *text, struct language_error *error);
/* The number is not followed by a unit of the field's type. */
int value_has_unknown_unit(const struct field *field, const char *text,
                           const struct decimal *decimal, struct language_error *error);
/* A probability of 1 or more without `%`; `one`: it is 1. */
int value_needs_percent(const struct field *field, const char *text, bool one,
                        struct language_error *error);

#endif
