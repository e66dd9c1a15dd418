/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits a line into words.
 *
 * Words stand between blanks (space, tab, and a carriage return at the end of the line). `#` at the
 * beginning of a word makes the rest of the line a comment. A word with blanks, or an empty one, is
 * written between double quotes; in them `\"` is a quote and `\\` a backslash. A quoted word is
 * always a value, never a keyword. A line is UTF-8 without control characters.
 *
 * Ownership: a value, which contains the text of its words. Copy it with words_copy only: it points
 * into itself.
 * Thread: pure functions, any.
 */
#ifndef WEIR_WORD_H
#define WEIR_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "text/language_error.h"

#define LINE_BYTES_MAX 4096 /* without its end */
#define LINE_WORDS_MAX 256

struct word {
	const char *text; /* without quotes, escapes resolved */
	uint32_t column;  /* in characters, from 1 */
	uint32_t offset;  /* in bytes, from 0 */
	bool quoted;
};

struct words {
	uint32_t n;
	struct word word[LINE_WORDS_MAX];
	uint32_t end_column; /* where a further word would begin: the end of the last one + 2 */
	bool open;           /* the last word ends with the line: more of it may follow */
	bool comment;        /* a comment follows */
	char text[LINE_BYTES_MAX + LINE_WORDS_MAX + 1];
};

/* Splits a line. Returns 0, or -EINVAL with error and column. */
int words_split(const char *line, struct words *words, struct language_error *error);

/* Returns the text of word `at`, or NULL behind the last. */
const char *words_text(const struct words *words, uint32_t at);
/* Returns true if word `at` is this one, and not quoted: a quoted word is a value. */
bool words_is(const struct words *words, uint32_t at, const char *text);
/* Returns the column of word `at`; behind the last, where it would begin. */
uint32_t words_column(const struct words *words, uint32_t at);

/* Prints a text as one word, such that words_split returns it: quoted if it must be, or if
 * `quote`. */
void word_print(FILE *out, const char *text, bool quote);

/* Returns true if the text may stand in a line: UTF-8 without control characters. */
bool word_is_text(const char *text);

/* Returns true if this may be the name of a port or a cloud: 1 to 31 letters, digits, `-`, `_`,
 * `.`. */
bool word_is_name(const char *text);

/*
 * A command line as one would type it: words that a shell would take apart are quoted.
 *
 * Thread: any.
 */

/* Returns `weir COMMAND` and the words behind argv[0], to be freed; NULL if there is no memory,
 * which is noted. Options of `without`, ended by NULL, are left out with their values. */
char *command_line_text(const char *command, int argc, char *const *argv,
                        const char *const *without);

#endif
