/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/statement_wrong.h"

#include <errno.h>
#include <string.h>

#include "text/foreign_word.h"
#include "text/listing.h"
#include "text/statement_text.h"
#include "text/value.h"
#include "scenario/scenario.h"
#include "statements.h"

#define SHOWN(text) language_error_shown(text), text

static bool is_keyword(const struct field *field)
{
	return !(field->flags & FIELD_POSITIONAL);
}

static bool is_given(const struct conf *conf, const struct field *field)
{
	return conf->given >> (field - conf->statement->fields) & 1;
}

void statement_nearest_keyword(const struct field *fields, const char *word,
                               struct nearest *nearest)
{
	nearest_start(nearest, word);
	for (const struct field *field = fields; field->name; field++) {
		if (is_keyword(field))
			nearest_try(nearest, field->name);
	}
}

static void nearest_statement(struct nearest *nearest)
{
	for (const struct statement *const *row = statements; *row; row++)
		nearest_try(nearest, (*row)->name);
}

/* Lists the keywords that a value, found in place of a keyword, could belong to. */
static void value_owners(const struct conf *conf, const char *word, struct listing *listing)
{
	struct language_error ignored;

	for (const struct field *field = conf->statement->fields; field->name; field++) {
		struct conf *made;

		if (!is_keyword(field) || is_given(conf, field) || field->type > FIELD_PROBABILITY)
			continue;
		made = conf_make(conf->statement);
		if (made != NULL && value_parse(field, word, made, &ignored) == 0)
			listing_add(listing, field->name);
		conf_free(made);
	}
}

int statement_wrong_word(const struct conf *conf, const struct words *words, uint32_t at,
                         struct language_error *error)
{
	const struct word *word = &words->word[at];
	const char *statement = conf->statement->name;
	const char *next = at + 1 < words->n ? words->word[at + 1].text : NULL;
	struct nearest nearest;
	struct listing listing;

	error->column = word->column;
	if (!word->quoted && strcmp(word->text, STATEMENT_OFF) == 0)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "`off` stands alone after a statement: `%s off`",
		                          statement);
	if (!word->quoted && foreign_word_refused(foreign_word_find(FOREIGN_STATEMENT, word->text),
	                                          word->text, next, "", error))
		return -EINVAL;
	statement_nearest_keyword(conf->statement->fields, word->text, &nearest);
	if (nearest.best != NULL && !word->quoted)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "unknown word `%.*s`; did you mean `%s`?",
		                          SHOWN(word->text), nearest.best);
	if (statement_is_name(word->text))
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "`%s` is a statement of its own, not a word of `%s`; "
		                          "give it a line of its own: cloud NAME %s ...",
		                          word->text, statement, word->text);
	nearest_start(&nearest, word->text);
	nearest_statement(&nearest);
	if (nearest.best != NULL && !word->quoted)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "unknown word `%.*s`; did you mean `%s`, a statement of "
		                          "its own?",
		                          SHOWN(word->text), nearest.best);
	if (!word->quoted &&
	    foreign_word_refused(foreign_word_nearest(FOREIGN_STATEMENT, word->text), word->text,
	                         next, "", error))
		return -EINVAL;
	listing_start(&listing, "or");
	value_owners(conf, word->text, &listing);
	if (!word->quoted && *listing_end(&listing) != 0)
		return language_error_set(
		        error, ERROR_UNKNOWN_WORD,
		        "`%.*s` needs the word before it that says what it is: %s",
		        SHOWN(word->text), listing.text);
	listing_start(&listing, "or");
	for (const struct field *field = conf->statement->fields; field->name; field++) {
		if (is_keyword(field) && !is_given(conf, field))
			listing_add(&listing, field->name);
	}
	if (*listing_end(&listing) == 0)
		return language_error_set(error, ERROR_EXTRA_WORD,
		                          "`%.*s` is too much; `%s` ends before it",
		                          SHOWN(word->text), statement);
	return language_error_set(error, ERROR_UNKNOWN_WORD,
	                          "unknown word `%.*s`; what may follow here is %s",
	                          SHOWN(word->text), listing.text);
}
