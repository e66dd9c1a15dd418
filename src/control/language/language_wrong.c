/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/language_wrong.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "language/language.h"
#include "statements.h"
#include "text/foreign_word.h"
#include "text/nearest.h"
#include "text/statement_text.h"

#define SHOWN(text) language_error_shown(text), text

static const char *slot_words(const char *slot)
{
	static const char *const words[][2] = {
	        {"NAME", "a new name"},
	        {"PORT", "the name of a port"},
	        {"PLACE", "the name of a port or of a cloud"},
	        {"CLOUD", "the name of a cloud"},
	        {"CLASS", "the name of a class"},
	        {"N", "a number"},
	        {"TIME", "a time"},
	        {"INTERFACE", "the name of an interface"},
	        {"ADDRESS", "an address"},
	        {"SELECTION", "`source` PREFIX, `destination` PREFIX or `flow`"},
	        {"TEXT", "a text"},
	        {"WORDS", "words"},
	        {"LINE", "a line of tc-netem(8)"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i][0], slot) == 0)
			return words[i][1];
	}
	return slot;
}

/* Collects, for an error, what may stand at `index` in one of the forms. */
static void expect(uint32_t alive, uint32_t index, struct nearest *nearest, struct listing *listing)
{
	struct language_token token;

	for (uint32_t f = 0; language_forms[f].usage; f++) {
		if (!(alive >> f & 1) || !language_token(&language_forms[f], index, &token))
			continue;
		if (!token.slot) {
			nearest_try(nearest, token.text);
			listing_add(listing, token.text);
		} else if (strcmp(token.text, "STATEMENT") != 0 &&
		           strcmp(token.text, "NUMBER") != 0) {
			listing_add_plain(listing, slot_words(token.text));
		}
	}
	for (uint32_t f = 0; language_forms[f].usage; f++) {
		if (!(alive >> f & 1) || !language_token(&language_forms[f], index, &token) ||
		    strcmp(token.text, "STATEMENT") != 0)
			continue;
		for (const struct statement *const *row = statements; *row; row++) {
			nearest_try(nearest, (*row)->name);
			listing_add(listing, (*row)->name);
		}
		return;
	}
}

/* Returns true if the name of a statement may stand at `index`. */
static bool expects_statement(uint32_t alive, uint32_t index)
{
	struct language_token token;

	for (uint32_t f = 0; language_forms[f].usage; f++) {
		if (alive >> f & 1 && language_token(&language_forms[f], index, &token) &&
		    strcmp(token.text, "STATEMENT") == 0)
			return true;
	}
	return false;
}

/* Sets the error for another tool's word for a statement; behind `no`, only with weir's name. */
static bool foreign_statement(const struct words *words, uint32_t index,
                              const struct foreign_word *row, struct language_error *error)
{
	const char *next = index + 1 < words->n ? words->word[index + 1].text : NULL;

	if (row == NULL || strcmp(words->word[0].text, "no") != 0 || index == 0)
		return foreign_word_refused(row, words->word[index].text, next,
		                            index == 0 ? "cloud NAME " : "", error);
	language_error_set(error, ERROR_UNKNOWN_WORD, "unknown word `%.*s`; did you mean `%.*s`?",
	                   SHOWN(words->word[index].text), (int)strcspn(row->write, " "),
	                   row->write);
	return true;
}

/* Sets the error for another tool's beginning of a line, of one or two words. */
static bool foreign_line(const struct words *words, uint32_t index, struct language_error *error)
{
	char text[LINE_BYTES_MAX + 2];

	if (index > 1)
		return false;
	snprintf(text, sizeof(text), "%s%s%s", words->word[0].text, index ? " " : "",
	         index ? words->word[1].text : "");
	return foreign_word_refused(foreign_word_find(FOREIGN_LINE, text), words->word[index].text,
	                            NULL, "", error);
}

/* Sets the error for another tool's word; `find` looks for the word itself, or for a similar
 * one. */
static bool foreign(const struct words *words, uint32_t index, uint32_t alive,
                    const struct foreign_word *(*find)(enum foreign_place place, const char *word),
                    struct language_error *error)
{
	if (words->word[index].quoted)
		return false;
	if (find == foreign_word_find && foreign_line(words, index, error))
		return true;
	return (index == 0 || expects_statement(alive, index)) &&
	       foreign_statement(words, index, find(FOREIGN_STATEMENT, words->word[index].text),
	                         error);
}

/* Sets the error for a value in place of a statement, or for a word that belongs to a statement. */
static bool without_statement(const struct words *words, uint32_t index, uint32_t alive,
                              struct language_error *error)
{
	const char *word = words->word[index].text, *before = index == 0 ? "cloud NAME " : "";
	char text[FOREIGN_TEXT_BYTES];
	struct listing owners;

	if (index > 0 && !expects_statement(alive, index))
		return false;
	if (foreign_value_write(word, text)) {
		language_error_set(error, ERROR_UNKNOWN_WORD,
		                   "`%.*s` needs the statement before it: `%s%s`", SHOWN(word),
		                   before, text);
		return true;
	}
	listing_start(&owners, "and");
	statement_owners(word, &owners);
	if (*listing_end(&owners) == 0)
		return false;
	language_error_set(
	        error, ERROR_UNKNOWN_WORD,
	        "`%.*s` is not a statement but a word of %s, and is written after its name",
	        SHOWN(word), owners.text);
	return true;
}

/* Sets the error for names without the keywords: `port a eth1`, `cloud down a to b`, `cloud down a
 * -> b`. */
static bool without_keywords(const struct words *words, uint32_t index,
                             struct language_error *error)
{
	const struct word *word = words->word;
	const char *first = word[index].text;

	if (index != 2)
		return false;
	if (strcmp(word[0].text, "port") == 0 && words->n == 3) {
		language_error_set(error, ERROR_UNKNOWN_WORD,
		                   "unknown word `%.*s`; if it is an interface, write: port %.*s "
		                   "interface %.*s",
		                   SHOWN(first), SHOWN(word[1].text), SHOWN(first));
		return true;
	}
	if (strncmp(word[0].text, "cloud", 5) != 0 || words->n != 5 ||
	    (strcmp(word[3].text, "to") != 0 && strcmp(word[3].text, "->") != 0))
		return false;
	language_error_set(error, ERROR_UNKNOWN_WORD,
	                   "unknown word `%.*s`; did you mean: %s %.*s from %.*s to %.*s",
	                   SHOWN(first), word[0].text, SHOWN(word[1].text), SHOWN(first),
	                   SHOWN(word[4].text));
	return true;
}

int language_wrong_word(const struct words *words, uint32_t index, struct language_error *error)
{
	const struct word *word = &words->word[index];
	uint32_t alive = language_match(words, index, NULL);
	struct nearest nearest;
	struct listing listing;

	nearest_start(&nearest, word->text);
	listing_start(&listing, "or");
	expect(alive, index, &nearest, &listing);
	error->column = word->column;
	if (*listing_end(&listing) == 0)
		return language_error_set(error, ERROR_EXTRA_WORD,
		                          "`%.*s` is too much; the line ends before it",
		                          SHOWN(word->text));
	if (word->quoted)
		return language_error_set(
		        error, ERROR_UNKNOWN_WORD,
		        "a quoted word is not a keyword; what may stand here is %s", listing.text);
	if (index == 0 && statement_is_name(word->text))
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "`%s` belongs to a cloud; write: cloud NAME %s ...",
		                          word->text, word->text);
	if (foreign(words, index, alive, foreign_word_find, error))
		return -EINVAL;
	if (nearest.best != NULL)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "unknown word `%.*s`; did you mean `%s`?",
		                          SHOWN(word->text), nearest.best);
	if (foreign(words, index, alive, foreign_word_nearest, error) ||
	    without_statement(words, index, alive, error) || without_keywords(words, index, error))
		return -EINVAL;
	return language_error_set(error, ERROR_UNKNOWN_WORD,
	                          "unknown word `%.*s`; what may stand here is %s",
	                          SHOWN(word->text), listing.text);
}

int language_line_too_short(const struct words *words, struct language_error *error)
{
	struct nearest nearest;
	struct listing listing;

	nearest_start(&nearest, "");
	listing_start(&listing, "or");
	expect(language_match(words, words->n, NULL), words->n, &nearest, &listing);
	error->column = words->end_column;
	return language_error_set(error, ERROR_MISSING_WORD,
	                          "the line ends too early; what must follow is %s",
	                          listing_end(&listing));
}
