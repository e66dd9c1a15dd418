/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words that people bring from other tools (tc and netem, mahimahi, WANem, Cisco routers, comcast,
 * toxiproxy, dummynet), and their equivalents in weir's language. There is one table; all code that
 * finds an unknown word looks here before it lists the known words. None of these words is
 * accepted: the answer is the line to type, with the person's own value if that fits.
 *
 * The table knows statements by name only; a row is ignored if the table of statements lacks its
 * statement.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_FOREIGN_WORD_H
#define WEIR_FOREIGN_WORD_H

#include <stdbool.h>
#include <stddef.h>

#include "text/language_error.h"
#include "text/quantity.h"

enum foreign_place {
	FOREIGN_STATEMENT, /* behind `cloud NAME`, and among the words of another statement */
	FOREIGN_LINE,      /* the beginning of a line: one word, or `show` and another */
	FOREIGN_VALUE,     /* a word in place of a field's own: `gaussian` */
	FOREIGN_COMMAND,   /* a subcommand */
};

struct foreign_word {
	enum foreign_place place;
	const char *words; /* with `|` between */
	/* FOREIGN_STATEMENT: a statement up to a value, with an example of the value or NULL; or a
	 * whole line, as for FOREIGN_LINE and FOREIGN_COMMAND. FOREIGN_VALUE: weir's word. */
	const char *write;
	const char *value;
	const char *note; /* for the end of the message, or NULL */
};
extern const struct foreign_word foreign_words[]; /* ended by a row with words NULL */

/* Returns the row of a word, or NULL. Ignores case, leading dashes, and `_` in place of `-`. */
const struct foreign_word *foreign_word_find(enum foreign_place place, const char *word);
/* Returns the row whose word is the nearest to this one, or NULL if none is near enough. */
const struct foreign_word *foreign_word_nearest(enum foreign_place place, const char *word);

#define FOREIGN_TEXT_BYTES 200
/* Prints what to write for a row of FOREIGN_STATEMENT, such as `delay 250ms`. `next` is the word
 * that follows, or NULL. Returns false if there is no such statement. */
bool foreign_word_write(const struct foreign_word *row, const char *next,
                        char text[FOREIGN_TEXT_BYTES]);
/* Prints what to write for a value without a statement: `delay 40ms` for `40ms`. Returns false if
 * no statement takes the value. */
bool foreign_value_write(const char *value, char text[FOREIGN_TEXT_BYTES]);

/* Sets the error, except its column, if there is a row. Returns whether there is. `next` as above;
 * `before` precedes the statement in the line to type: "", or `cloud NAME `. */
bool foreign_word_refused(const struct foreign_word *row, const char *word, const char *next,
                          const char *before, struct language_error *error);

/*
 * Units as other tools and other people write them: `Mbit/s`, `Mbps`, `KB`, `msec`, `packets`.
 *
 * An unambiguous spelling is accepted if its row in the table says so: `bit` and `bit/s` with any
 * prefix, such as `Mbit/s`. Any other spelling is refused, with what to write instead, including
 * the number. An ambiguous spelling is refused with both readings: `Mbps` means bits to most people
 * and bytes to tc, `KB` has 1000 bytes or 1024.
 */

#define FOREIGN_READINGS_MAX 2

struct foreign_unit {
	const struct unit *units; /* the list of its kind: units_rate... */
	bool taken;
	uint32_t n;
	uint64_t factor[FOREIGN_READINGS_MAX]; /* in base units */
	const char *note; /* why there are two readings, for the end of a sentence; or "" */
};

/* Finds a spelling among those for a list of units (one kind of values). Returns false if it is not
 * there. */
bool foreign_unit_find(const struct unit *units, const char *name, struct foreign_unit *unit);

/* Prints what to write (`10mbit`) for a number in this unit, for each reading that is a whole
 * number of the base unit. Returns their number. */
uint32_t foreign_unit_readings(const struct foreign_unit *unit, const struct decimal *decimal,
                               char text[FOREIGN_READINGS_MAX][QUANTITY_TEXT_BYTES]);

#endif
