/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An error in a line of the scenario language: a name for programs, a column, and a sentence for a
 * person, which says what is wrong and what would be right.
 *
 * A file shows it as `file:line:column: text`; in the JSON of the socket the name is the `code`.
 * The text is valid UTF-8 and one line, whatever the input was.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_LANGUAGE_ERROR_H
#define WEIR_LANGUAGE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct language_error {
	const char *name; /* one of the constants below */
	uint32_t column;  /* in characters, from 1: of the wrong word, or the end of the line; 0:
	                   * none */
	char text[600];
};

#define ERROR_BAD_CHARACTER  "bad-character"  /* a control character, or not UTF-8 */
#define ERROR_BAD_FILE       "bad-file"       /* a file that cannot be read */
#define ERROR_BAD_NAME       "bad-name"       /* not a name of a port or a cloud */
#define ERROR_BAD_QUOTE      "bad-quote"      /* a quote that is not closed, or not at the start */
#define ERROR_BAD_VALUE      "bad-value"      /* not of the field's type */
#define ERROR_CONFLICT       "conflict"       /* things that exclude each other */
#define ERROR_DUPLICATE_NAME "duplicate-name" /* of a port or a cloud */
#define ERROR_DUPLICATE_WORD "duplicate-word" /* a field that is given twice */
#define ERROR_EXTRA_WORD     "extra-word"     /* a word where the line should end */
#define ERROR_FULL           "full"         /* more ports, clouds or statements than the maximum */
#define ERROR_MISSING_UNIT   "missing-unit" /* a bare number */
#define ERROR_MISSING_WORD   "missing-word" /* the line ends too early */
#define ERROR_NOT_HERE       "not-here"     /* a query in a file */
#define ERROR_NO_MEMORY      "no-memory"
#define ERROR_OUT_OF_RANGE   "out-of-range"
#define ERROR_TOO_FINE       "too-fine" /* a fraction of the base unit */
#define ERROR_TOO_LONG       "too-long" /* a line or a word */
#define ERROR_UNKNOWN_CLOUD  "unknown-cloud"
#define ERROR_UNKNOWN_PORT   "unknown-port"
#define ERROR_UNKNOWN_UNIT   "unknown-unit"
#define ERROR_UNKNOWN_WORD   "unknown-word"

/* Sets name and text, and leaves the column as it is. Returns -EINVAL, or -ENOMEM for
 * ERROR_NO_MEMORY, so that a function can end with `return language_error_set(...)`. A text that is
 * too long is cut between two characters. */
int language_error_set(struct language_error *error, const char *name, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* Does the same, and sets the column. */
int language_error_at(struct language_error *error, uint32_t column, const char *name,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Returns how many bytes of a word to show, for "%.*s": all, or 60 at most if the word is longer,
 * cut between two characters. */
int language_error_shown(const char *word);
#define SHOWN(text) language_error_shown(text), text

/*
 * Finds the known word that is nearest to an unknown one: with the least number of letters to
 * insert, remove, change or swap with their neighbour (optimal string alignment). A change of case
 * counts half.
 */

/* Returns twice the number of edits, so that a change of case is 1; UINT32_MAX if a word has more
 * than 64 bytes. */
uint32_t nearest_distance(const char *a, const char *b);

/* The search: takes the candidates one by one. It must not be copied: it points into itself. */
struct nearest {
	const char *word; /* the unknown one */
	const char *best; /* copy of the nearest candidate so far; NULL: none is near enough */
	uint32_t distance;
	char copy[65];
};
void nearest_start(struct nearest *nearest, const char *word);
/* Considers a candidate if no more than about a third of the word is wrong, or only the case of its
 * letters. The first of equal ones is kept. Ignores NULL. */
void nearest_try(struct nearest *nearest, const char *candidate);

/* Sets the error for the unknown word, except its column: unknown word `wrod`; did you mean `word`?
 * Returns false, and sets nothing, if no candidate was near enough. */
bool nearest_suggest(const struct nearest *nearest, struct language_error *error);

/*
 * Words as a sentence lists them: `a`, `b` or `c`. A long list is cut: `a`, `b`, ...
 *
 * Thread: pure functions, any.
 */

struct listing {
	const char *conjunction; /* `or`, `and` */
	uint32_t n;
	uint32_t length;
	char pending[64]; /* the last word; `, ` or the conjunction will precede it */
	char text[256];
};

void listing_start(struct listing *listing, const char *conjunction);
/* Adds a word between backquotes, unless it equals the last one. */
void listing_add(struct listing *listing, const char *word);
/* Adds words without backquotes, such as a number in: `a`, `b` or a number. */
void listing_add_plain(struct listing *listing, const char *words);
/* Returns the text; "" if nothing was added. */
const char *listing_end(struct listing *listing);

#endif
