/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A statement's configuration, from words and to words, by its table of fields:
 *
 *   STATEMENT [VARIANT] [NUMBER] POSITIONALS KEYWORDS
 *
 * The positional values stand in the order of the table, the keyword fields in any order.
 * Positional values end where a word is the name of a keyword field, unless that word is quoted.
 * Statements inside a statement (orders_text.h) follow the keywords. A field with FIELD_REST takes
 * the rest of the line as it stands; it may have a keyword.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_STATEMENT_TEXT_H
#define WEIR_STATEMENT_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenario/statement.h"
#include "text/language_error.h"
#include "text/word.h"

/* Parses words[at...], which begin with the statement's name. On success the caller owns `conf`
 * (conf_free). Returns 0, or -EINVAL or -ENOMEM with error and column. */
int statement_parse(const struct words *words, uint32_t at, struct conf **conf,
                    struct language_error *error);
/* Parses likewise words[at...] that are fields of this statement, without its name. */
int statement_parse_fields(const struct statement *statement, const struct words *words,
                           uint32_t at, struct conf **conf, struct language_error *error);
/* Prints the given fields in the order of the table, without a line end: `loss random 1%
 * correlation 25%`. */
void statement_print(FILE *out, const struct conf *conf);
/* Prints only the fields, each with a blank before it. */
void statement_print_fields(FILE *out, const struct conf *conf);
/* Prints what may be written: `delay TIME [jitter TIME] [distribution uniform|normal] ...` */
void statement_print_synopsis(FILE *out, const struct statement *statement);
/* Returns true if the field is written behind its name. */
bool statement_is_keyword(const struct field *field);
/* Returns the keyword field that a word names, or NULL. A quoted word names none. */
const struct field *statement_keyword(const struct field *fields, const struct word *word);
/* Returns how many words from words[at] on form the value of the field: a list continues after a
 * comma. At least 1, not beyond `end`. */
uint32_t statement_value_words(const struct words *words, uint32_t at, uint32_t end,
                               const struct field *field);
/* Returns true if the field holds statements: it stands at the end of the line, without its
 * name. */
bool statement_is_inner(const struct field *field);
/* Returns the statement that these two words begin, or NULL; the second word may be a value. A
 * `by_percent` statement is found without its variant. */
const struct statement *statement_of_words(const char *name, const char *word);
/* Returns true if words[at...], to the end of the line, remove a statement, as `loss off` and
 * `rewrite 20 off` do. Returns false if `off` is a value, as in `ecn off`. A file called `off` must
 * be quoted. */
#define STATEMENT_OFF "off"
bool statement_is_off(const struct words *words, uint32_t at);
/* Adds the names of the statements that have a field of this name to the listing. */
void statement_owners(const char *field, struct listing *listing);
/* Returns the first statement of this name in the table, or NULL. */
const struct statement *statement_named(const char *name);

/* Returns the column of field number `field` of the table, in words[at...] that
 * statement_parse_fields accepted, or, if `statement` is NULL, statement_parse; the column of
 * words[at] if the field is not there. `letter`: the character of the field's text, if that takes
 * the rest of the line. */
uint32_t statement_column(const struct statement *statement, const struct words *words, uint32_t at,
                          int field, uint32_t letter);

#endif
