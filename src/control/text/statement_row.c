/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/statement_row.h"

#include <string.h>

#include "text/foreign_word.h"
#include "text/listing.h"
#include "text/nearest.h"
#include "text/probability.h"
#include "text/statement_text.h"
#include "statements.h"

#define SHOWN(text) language_error_shown(text), text

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
