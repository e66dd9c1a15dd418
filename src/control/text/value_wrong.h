/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong with a value, and what would be right. Each sets the error and leaves its column
 * alone; each returns -EINVAL.
 *
 * A probability is percent, or a fraction up to 1. `1` is refused, in any spelling without `%`: as
 * a fraction it is 100 %, and 1 % to whoever comes from netem. Whole numbers above 1 are refused as
 * they always were, with the percent that they probably are. Fractions below 1 are taken: models
 * and papers give them so, and 0.01 is what the person wrote down; `show config` prints the
 * percent. 0 is 0 in both readings. Weights and factors are no chances (FIELD_SHARE): their 1 is
 * 1.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_VALUE_WRONG_H
#define WEIR_VALUE_WRONG_H

#include <stdbool.h>

#include "text/foreign_unit.h"
#include "text/language_error.h"
#include "scenario/field.h"

/* The largest value of a field. */
uint64_t value_max(const struct field *field);

/* `units`: those that the limits are printed in; NULL: as the type has them. */
int value_is_out_of_range(const struct field *field, const char *text, const struct unit *units,
                          struct language_error *error);
/* It is not of the field's type; `right` is how one is written. */
int value_of_no_kind(const struct field *field, const char *text, const char *right,
                     struct language_error *error);
/* No number stands where a number and a unit should. */
int value_is_no_quantity(const struct field *field, const char *text, struct language_error *error);
/* No unit of the field's type stands behind the number. */
int value_has_unknown_unit(const struct field *field, const char *text,
                           const struct decimal *decimal, struct language_error *error);
/* A probability of 1 or more without `%`; `one`: it is 1. */
int value_needs_percent(const struct field *field, const char *text, bool one,
                        struct language_error *error);

#endif
