/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario on the command line: the name or the file of a scenario, or else a plain one with two
 * ports and the clouds `down` and `up`, followed by statements for both directions or for one.
 *
 * A text may contain several statements. A statement ends before the name of another one, if it is
 * complete by then; `netem` takes all the rest. A value with its unit where a statement may begin
 * is a statement: `40ms` is `delay 40ms`, `10mbit` is `rate 10mbit`, `1%` is `loss random 1%`,
 * unless the text has that statement already.
 *
 * Thread: control.
 */
#ifndef WEIR_SHORT_FORM_H
#define WEIR_SHORT_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario/scenario.h"
#include "text/word.h"

#define SHORT_FORM_TOO_LONG                                                                        \
	"the statements are longer than %d bytes; give longer ones in a file, with -c FILE",       \
	        LINE_BYTES_MAX
/* The ports a and b, with `down` from a to b, and `up` from b to a. */
extern const char short_form_plain[];

struct short_form {
	const char *command; /* `exec`, for messages */
	const char *plain;   /* the scenario to which statements are added, if there is no config */
	const char **config; /* the scenario's file. If it is NULL, and `both` begins with a file or
	                      * a name, that moves here */
	char *both;          /* statements for both directions, LINE_BYTES_MAX */
	const char *down, *up; /* for one; "": none */
};

/* Makes the scenario. Returns 0, and the scenario is the caller's; or -errno, with a line that
 * describes the error. */
int short_form_make(const struct short_form *form, struct scenario **scenario, char *message,
                    size_t room);

/* The words of `weir run` and `weir check`: [INTERFACE INTERFACE] [NAME] [STATEMENTS]. The
 * interfaces become the devices of the ports, in their order. */
struct short_words {
	uint32_t n;            /* 0: there are none */
	const char *device[2]; /* NULL: none given */
	char both[LINE_BYTES_MAX];
};
/* Takes the words, which must stay. Returns 0, or -EINVAL with a line. */
int short_words_take(struct short_words *words, int n, char *const *word, char *message,
                     size_t room);
/* Makes their scenario, as short_form_make. */
int short_words_make(struct short_words *words, const char *command, const char **config,
                     struct scenario **scenario, char *message, size_t room);

/* Appends words to a text of LINE_BYTES_MAX, after a blank. Returns false if there is no room. */
bool short_form_append(char *text, const char *more);
/* Returns true if a word is a value with its unit that is a statement. */
bool short_form_is_value(const char *word);
/* Returns true if a statement begins with this word. */
bool short_form_names_statement(const char *word);

#endif
