/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words that people bring from elsewhere, from tc and netem, mahimahi, WANem, routers of Cisco,
 * comcast, toxiproxy, dummynet, and what the language of weir has for them. One table; every place
 * that meets an unknown word looks here before it lists what it knows. None of these words is
 * taken: the answer is the line to type, with the person's own value where that can stand in it.
 *
 * The table knows statements by their names only; a row counts where the table of statements has
 * its statement.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_FOREIGN_WORD_H
#define WEIR_FOREIGN_WORD_H

#include <stdbool.h>
#include <stddef.h>

#include "text/language_error.h"

enum foreign_place {
	FOREIGN_STATEMENT, /* behind `cloud NAME`, and among the words of another statement */
	FOREIGN_LINE,      /* the beginning of a line: one word, or `show` and another */
	FOREIGN_VALUE,     /* a word where a field has its own: `gaussian` */
	FOREIGN_COMMAND,   /* a subcommand */
};

struct foreign_word {
	enum foreign_place place;
	const char *word;
	/* FOREIGN_STATEMENT: a statement up to a value, and an example of it, or NULL; or, as in
	 * FOREIGN_LINE and FOREIGN_COMMAND, the whole line. FOREIGN_VALUE: the word. */
	const char *write;
	const char *value;
	const char *note; /* for the end of the sentence, or NULL */
};
extern const struct foreign_word foreign_words[]; /* ended by word NULL */

/* Upper case, `_` and leading dashes do not matter. NULL: none. */
const struct foreign_word *foreign_word_find(enum foreign_place place, const char *word);
/* The same for a word that is nearly one of them. */
const struct foreign_word *foreign_word_nearest(enum foreign_place place, const char *word);
/* Whether a word of FOREIGN_VALUE means this one of weir's: `droptail` is `tail`. */
bool foreign_word_means(const char *word, const char *own);

#define FOREIGN_TEXT_BYTES 200
/* `delay 250ms`: what to write for a row of FOREIGN_STATEMENT with `next` behind the word (NULL:
 * nothing). False: there is no such statement. */
bool foreign_word_write(const struct foreign_word *row, const char *next,
                        char text[FOREIGN_TEXT_BYTES]);
/* The same for a value that stands without any statement: `40ms` is a delay. */
bool foreign_value_write(const char *value, char text[FOREIGN_TEXT_BYTES]);

/* Sets the error, but for its column, if the table has the word; `next` as above. `before` stands
 * before a statement in the line to type: "", or `cloud NAME `. */
bool foreign_word_refused(const struct foreign_word *row, const char *word, const char *next,
                          const char *before, struct language_error *error);

#endif
