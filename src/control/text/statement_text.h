/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A statement's configuration, from words and to words, by its table of fields:
 *
 *   STATEMENT [VARIANT] [NUMBER] positional values in the order of the table, then keyword fields
 *     in
 * any order
 *
 * A positional field ends where a word is the name of a keyword field, unless that word is quoted.
 * Statements inside a statement (orders_text.h) stand behind the keywords.
 * A field with FIELD_REST takes the rest of the line as it stands; it may have a keyword.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_STATEMENT_TEXT_H
#define WEIR_STATEMENT_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "text/listing.h"
#include "text/word.h"
#include "scenario/statement.h"

/* Parses words[at...]: the statement's name first. On success `conf` is the caller's (conf_free).
 * 0, or -EINVAL or -ENOMEM with error and column. */
int statement_parse(const struct words *words, uint32_t at, struct conf **conf,
                    struct language_error *error);
/* The same for words[at...] that are fields of this statement, without its name. */
int statement_parse_fields(const struct statement *statement, const struct words *words,
                           uint32_t at, struct conf **conf, struct language_error *error);
/* `loss random 1% correlation 25%`: the given fields in the order of the table, no line end. */
void statement_print(FILE *out, const struct conf *conf);
/* Only the fields, each with a blank before it. */
void statement_print_fields(FILE *out, const struct conf *conf);
/* `delay TIME [jitter TIME] [distribution uniform|normal] ...` */
void statement_print_synopsis(FILE *out, const struct statement *statement);
/* The keyword field of a table that a word names, or NULL. A quoted word names none. */
const struct field *statement_keyword(const struct field *fields, const struct word *word);
/* Of how many words from words[at] on the value of the field consists: a list goes on after a
 * comma. At least 1, not beyond `end`. */
uint32_t statement_value_words(const struct words *words, uint32_t at, uint32_t end,
                               const struct field *field);
/* Whether the field holds statements: it stands at the end of the line, without its name. */
bool statement_is_inner(const struct field *field);
/* The statement that these two words begin; the second may be a value. One that `by_percent` may
 * leave out its variant counts without it. NULL: none. */
const struct statement *statement_of_words(const char *name, const char *word);
/* Whether words[at...] are `loss off` or `rewrite 20 off`, to the end: the statement is taken away.
 * Not where `off` is a value of its own, as in `ecn off`. A file of this name is quoted. */
#define STATEMENT_OFF "off"
bool statement_is_off(const struct words *words, uint32_t at);
/* The names of the statements that have a field of this name, for a listing. */
void statement_owners(const char *field, struct listing *listing);
/* Whether a statement of this name is in the table. */
bool statement_is_name(const char *name);

/* The column of field number `field` of the table, in words that statement_parse accepted; that of
 * the statement's name if the field is not there. `letter`: of the field's text, if that takes the
 * rest of the line. */
uint32_t statement_column(const struct words *words, uint32_t at, int field, uint32_t letter);
/* The same for words[at...] that statement_parse_fields accepted. */
uint32_t statement_fields_column(const struct statement *statement, const struct words *words,
                                 uint32_t at, int field, uint32_t letter);

#endif
