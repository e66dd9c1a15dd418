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
#include <stdio.h>

#include "scenario/field.h"
#include "scenario/scenario.h"
#include "text/language_error.h"
#include "text/word.h"

/*
 * The scenarios that come with weir, by their names: `geo-satellite` is configs/geo-satellite.weir.
 * They are searched in `configs` of the working directory, beside the sources of this program, and
 * where they were installed. The beginning of a name is enough, from three letters on, if no other
 * scenario begins with it. Those of the folder `measured` have it in their name: `measured/geo`.
 */

/* Gets the path of the scenario with this name, or with the only name that begins so. Returns false
 * if there is none. */
bool scenario_name_find(const char *name, char *path, size_t room);
/* Prints all names, each with the first sentence of its file. */
void scenario_names_print(FILE *out);

/* The value of an option that names a scenario (options.h): a file as it is, or a name, which
 * becomes the path of its file. */
int scenario_name_take(const struct field *field, char *text, void *arguments,
                       struct language_error *error);

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
