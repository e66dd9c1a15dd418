/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "scenario/scenario.h"
#include "statements.h"
#include "text/foreign_word.h"
#include "text/nearest.h"
#include "text/quantity.h"
#include "text/statement_parse.h"
#include "text/statement_text.h"
#include "text/value.h"

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

/* Finds the statement of `loss 1%`, whose variant is left out. Refuses a number without `%`: sets
 * the error, with the possible readings, leaves `statement` alone, and returns true. Returns false
 * if the word is no number, or the statement needs its variant. */
static bool find_by_percent(const char *name, const struct word *word,
                            const struct statement **statement, struct language_error *error)
{
	const struct statement *row = statement_of_words(name, word->text);
	char fraction[PROBABILITY_TEXT_BYTES];
	probability_q63 value;
	size_t digits = strspn(word->text, "0123456789.");

	if (row == NULL || digits == 0)
		return false;
	if (strcmp(word->text + digits, "%") == 0) {
		*statement = row;
		return true;
	}
	if (word->text[digits] != 0)
		return false;
	error->column = word->column;
	if (probability_parse(word->text, &value) != PROBABILITY_OK)
		language_error_set(error, ERROR_BAD_VALUE,
		                   "`%s %.*s` is not a probability; write it in percent, from 0%% "
		                   "to 100%%: %s 1%%",
		                   name, SHOWN(word->text), name);
	else if (value == 0)
		language_error_set(error, ERROR_BAD_VALUE, "`%s` is written in percent: %s 0%%",
		                   name, name);
	else {
		probability_print(value, fraction);
		language_error_set(error, ERROR_BAD_VALUE,
		                   "`%s %.*s` has two readings: as a fraction it is %s, in netem "
		                   "%.*s%%; write %s %s or %s %.*s%%",
		                   name, SHOWN(word->text), fraction, SHOWN(word->text), name,
		                   fraction, name, SHOWN(word->text));
	}
	return true;
}

/* Refuses words[at], which is `word`, if it is another tool's variant, such as `loss gemodel`. */
static bool refuse_foreign(const char *name, const struct word *word, const struct words *words,
                           uint32_t at, struct language_error *error)
{
	const struct foreign_word *row = foreign_word_find(FOREIGN_STATEMENT, word->text);
	size_t bytes = strlen(name);

	error->column = word->column;
	return row != NULL && strncmp(row->write, name, bytes) == 0 && row->write[bytes] == ' ' &&
	       foreign_word_refused(row, word->text,
	                            at + 1 < words->n ? words->word[at + 1].text : NULL, "", error);
}

const struct statement *statement_row(const struct words *words, uint32_t *at,
                                      struct language_error *error)
{
	const char *name = words->word[*at].text;
	const struct word *word = *at + 1 < words->n ? &words->word[*at + 1] : NULL;
	const struct statement *statement = NULL;
	struct nearest nearest;
	struct listing listing;

	if (word != NULL && !word->quoted)
		statement = statement_find(name, word->text);
	*at += statement == NULL ? 1 : 2;
	if (statement == NULL)
		statement = statement_find(name, NULL);
	if (statement != NULL)
		return statement;
	if (word != NULL && !word->quoted && find_by_percent(name, word, &statement, error))
		return statement;
	if (word != NULL && !word->quoted && refuse_foreign(name, word, words, *at, error))
		return NULL;
	nearest_start(&nearest, word == NULL ? "" : word->text);
	listing_start(&listing, "or");
	for (const struct statement *const *row = statements; *row; row++) {
		if (strcmp((*row)->name, name) != 0)
			continue;
		nearest_try(&nearest, (*row)->variant);
		listing_add(&listing, (*row)->variant);
	}
	error->column = word == NULL ? words->end_column : word->column;
	listing_end(&listing);
	if (word == NULL)
		language_error_set(error, ERROR_MISSING_WORD, "`%s` needs a variant: %s", name,
		                   listing.text);
	else if (nearest.best != NULL)
		language_error_set(error, ERROR_UNKNOWN_WORD,
		                   "unknown word `%.*s`; did you mean `%s`?", SHOWN(word->text),
		                   nearest.best);
	else
		language_error_set(error, ERROR_UNKNOWN_WORD,
		                   "unknown word `%.*s`; what follows `%s` is %s",
		                   SHOWN(word->text), name, listing.text);
	return NULL;
}
