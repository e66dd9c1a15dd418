/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of several parts: ranges, and lists with commas. A list may have blanks after a comma;
 * code that splits a line into words must join the parts of a list first (value_list_goes_on).
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_VALUE_LIST_H
#define WEIR_VALUE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "text/language_error.h"
#include "scenario/field.h"

/* Like value_parse (value.h), for one type each. The old list of `numbers` is freed. */
int value_parse_range(const struct field *field, const char *text, struct range *range,
                      struct language_error *error);
/* Parses two values with two dots between, of a type that value_span_of takes. */
int value_parse_span(const struct field *field, const char *text, struct range *range,
                     struct language_error *error);
int value_parse_numbers(const struct field *field, const char *text, struct numbers *numbers,
                        struct language_error *error);
/* Refuses a word that is given twice. */
int value_parse_words(const struct field *field, const char *text, uint32_t *given,
                      struct language_error *error);

/* Returns true if a value that has `text` so far continues in the next word. */
bool value_list_goes_on(const struct field *field, const char *text);

#endif
