/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scenario language: one grammar for the scenario file, the control socket and the shell.
 *
 *   seed N
 *   port NAME [device TEXT | interface|inside|outside INTERFACE] [rx-latency TIME] ...
 *                                                                       port_setting.h
 *   cloud NAME from PLACE to PORT [priority N] [match EXPRESSION...]
 *   clouds NAME from PLACE to PORT per source|destination PREFIX | flow ...
 *   cloud NAME STATEMENT [VARIANT] [N] FIELDS...
 *                           a schedule's fields end with statements: orders_text.h
 *   cloud NAME STATEMENT off
 *   cloud NAME netem|netem-exact LINE...
 *   no cloud NAME
 *   no cloud NAME STATEMENT [N]
 *   no cloud NAME class CLASS [STATEMENT]
 *   probe NAME [to ADDRESS] [within TIME]
 *   show cloud [NAME [all]] | show clouds NAME [ADDRESS] | show path NAME | show config |
 *     show ports | show workers | show totals [NUMBER]
 *   clear counters
 *   help [WORDS]
 *
 * A line is first parsed, which needs nothing but the tables. Then it either edits a scenario, or
 * is a query that the server executes. A server does:
 *
 *   language_parse(line, &command, &error)
 *   switch (command.kind)
 *     an edit         copy = scenario_copy(current); language_edit(copy, ...);
 *                     scenario_check(copy, ...); put it in force; free the old one
 *   language_release(&command)
 *
 * The forms above are a table (language_forms), from which help and completion are made as well;
 * the statements are the table of feedback/statements.h.
 *
 * Ownership: a command owns its conf and netem until language_release.
 * Thread: pure functions, any.
 */
#ifndef WEIR_LANGUAGE_H
#define WEIR_LANGUAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "text/language_error.h"
#include "text/word.h"
#include "netem/netem_become.h"
#include "scenario/scenario.h"

enum command_kind {
	COMMAND_NOTHING, /* blank or a comment */
	/* edits */
	COMMAND_SEED,
	COMMAND_PORT,
	COMMAND_CLOUD,
	COMMAND_CLOUDS, /* a template */
	COMMAND_STATEMENT,
	COMMAND_NETEM, /* a line of tc-netem(8), which becomes statements */
	COMMAND_NO_CLOUD,
	COMMAND_NO_STATEMENT,
	/* queries and control */
	COMMAND_SHOW_CLOUD, /* word[2], if there: the cloud; word[3]: a template's address */
	COMMAND_SHOW_PATH,  /* words.word[2] is the cloud */
	COMMAND_PROBE,      /* probe.h */
	COMMAND_SHOW_CONFIG,
	COMMAND_SHOW_PORTS,
	COMMAND_SHOW_WORKERS,
	COMMAND_SHOW_TOTALS, /* number: of clouds at most; 0: the default */
	COMMAND_CLEAR_COUNTERS,
	COMMAND_HELP, /* words.word[1...] */
};

/* One form of a command. In `usage`, words in lower case stand for themselves, those in upper case
 * for a value; words in brackets are optional, all or none of them; `...` takes the rest of the
 * line. */
struct language_form {
	enum command_kind kind;
	const char *usage;
	const char *help;
};
extern const struct language_form language_forms[]; /* ended by a row with usage NULL */

struct command {
	enum command_kind kind;
	uint64_t seed;   /* COMMAND_SEED */
	uint64_t number; /* COMMAND_NO_STATEMENT: of the one to remove; 0: all of that name */
	bool off;        /* COMMAND_NO_STATEMENT: was `cloud CLOUD STATEMENT off`; the words are
	                  * those of `no cloud`, and the statement need not exist */
	/* Owned. COMMAND_STATEMENT: the statement; COMMAND_PORT, _CLOUD and _CLOUDS: the setting or
	 * selection, or NULL. */
	struct conf *conf;
	struct netem_result *netem; /* COMMAND_NETEM; owned */
	struct words words;         /* the whole line */
};

/* Parses a line. Returns 0, or -EINVAL or -ENOMEM with error; then there is nothing to release. */
/* Returns the name of the interface that a device text means, and writes the word that precedes it
 * in a line (`interface`); or NULL. */
const char *language_port_interface(const char *device, char word[16]);

int language_parse(const char *line, struct command *command, struct language_error *error);
void language_release(struct command *command);

/* Executes an edit. Returns 0 (also for COMMAND_NOTHING), or -EINVAL or -ENOMEM with error, and
 * then the scenario is unchanged. The scenario as a whole is not checked: see scenario_check.h. */
int language_edit(struct scenario *scenario, const struct command *command,
                  struct language_error *error);
/* Sets `error` for a query with an unknown cloud, such as `show cloud dwon`, with the nearest name
 * or those that there are. Returns -EINVAL. */
int language_unknown_cloud(const struct scenario *scenario, const struct word *name,
                           struct language_error *error);
/* Does the same for a port. */
int language_unknown_port(const struct scenario *scenario, const struct word *name,
                          struct language_error *error);

/* ---- for help and completion ---- */

/* The words at which a port's settings and a cloud's selection begin. */
#define LANGUAGE_SETTING_AT   4
#define LANGUAGE_SELECTION_AT 6

/* A word in upper case of a form. */
struct language_slot {
	const char *name;
	const char *expected; /* in an error: what must follow is ...; NULL: nothing */
	const char *help;     /* lines, or NULL */
};

extern const struct language_slot language_slots[]; /* ended by a row with name NULL */

struct language_token {
	char text[16];       /* a word, or NAME, PORT, CLOUD, STATEMENT, N, TEXT, WORDS */
	bool slot;           /* upper case: stands for a value */
	bool first_optional; /* the line may end before this token */
	bool rest;           /* takes the rest of the line */
};
/* Gets the token at `index` of a form. Returns false if the form has fewer. */
bool language_token(const struct language_form *form, uint32_t index, struct language_token *token);
/* Returns the forms that may begin with the first n words: bit i stands for language_forms[i]. Sets
 * `rest`, which may be NULL, to the word from which the last token takes the rest; UINT32_MAX if
 * none does. */
uint32_t language_match(const struct words *words, uint32_t n, uint32_t *rest);

#endif
