/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of a subcommand, as a table, from which parsing, errors and help are made.
 *
 * An option is a field (field.h) of the subcommand's arguments, and is parsed as the scenario
 * language parses a value of its type. Its name is as typed, `--seed`. Its `form` is what follows
 * the name in the help, if that is not the type's own word. Its `initial` is the value if it is not
 * given. Three types are parsed otherwise:
 *
 *   FIELD_FLAG   bool: the option takes no value
 *   FIELD_TEXT   const char *: points into argv, nothing is owned
 *   any, with a function `take` of the subcommand: that parses the text and stores the result
 *
 * Each subcommand has -h and --help without a row. Long names may be abbreviated, values may follow
 * `=`, and words may stand among the options, as with getopt_long of GNU.
 *
 * Thread: the main thread; getopt has a state of the process.
 */
#ifndef WEIR_OPTIONS_H
#define WEIR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "language/scenario_name.h"
#include "machine/run_log.h"
#include "scenario/field.h"
#include "text/language_error.h"

#define OPTIONS_MAX 32

struct option_row {
	char letter; /* 'c' of -c; 0: none */
	struct field field;
	/* Parses the value. Returns 0, or language_error_set's result; may modify `text`. NULL:
	 * parsed by the field's type. */
	int (*take)(const struct field *field, char *text, void *arguments,
	            struct language_error *error);
};

/* The value of one option. The last members are those of options that several subcommands
 * share. */
union option_value {
	uint64_t number;
	const char *text;
	uint32_t word;
	const char *config, *cores, *socket;
	uint32_t layout, log_level;
	bool json;
};

/* Ends a table. */
#define OPTIONS_END                                                                                \
	{                                                                                          \
		.field = FIELD_END                                                                 \
	}

struct options {
	const char *command; /* `replay` */
	const char *usage;   /* the forms without `weir replay `, a line each */
	const char *does;    /* a sentence, also in `weir --help` */
	const char *about;   /* further lines, verbatim; or NULL */
	const char *end;     /* lines behind the options, verbatim; or NULL */
	const struct option_row *rows;
	bool until_word; /* options end at the first word that is none */
};

/* The words that are not options. */
struct options_words {
	int n;
	char **word;
	bool apart;     /* `--` precedes them */
	uint64_t given; /* bit i: row i was given */
};

enum { OPTIONS_RUN = -1, OPTIONS_HELP = 0, OPTIONS_WRONG = 2 };

/* Parses argv, where argv[0] is the subcommand, into `arguments`, which must be zeroed. Returns
 * OPTIONS_RUN, or else the exit status, after the help or the error was printed. */
int options_read(const struct options *options, int argc, char **argv, void *arguments,
                 struct options_words *words);

/* The same without a struct for all values, for a command that is Python: calls `taker` with each
 * option that is given, and `to`. Its result, if not 0, is an error. */
typedef int options_taker(const struct option_row *row, char *text, void *to,
                          struct language_error *error);
int options_each(const struct options *options, int argc, char **argv, options_taker *taker,
                 void *to, struct options_words *words);
/* Parses the text of an option, and stores it in the arguments: the taker of options_read. */
options_taker options_take;

/* Returns how many words the option has that begins with `word`: 2 if the next one is its value. */
int options_words_of(const struct options *options, const char *word);
bool options_given(const struct options *options, const struct options_words *words,
                   const char *name);

/* Prints `weir replay: ...` and a new line on standard error. Returns OPTIONS_WRONG. */
int options_wrong(const struct options *options, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* Prints each form: `  weir replay ...`. `first` precedes the first form, `others` each of the
 * others. */
void options_print_usage(FILE *out, const struct options *options, const char *first,
                         const char *others);
void options_print_help(FILE *out, const struct options *options);

/* A row is {OPTION(...)}, {.letter = 'x', OPTION(...)} or {OPTION(...), .take = ...}. Further
 * members of struct field follow `member`, always with `.help = "..."`. */
#define OPTION(option, kind, arguments, member, ...)                                               \
	.field = {FIELD(option, kind, arguments, member, __VA_ARGS__)}
/* The same for a command that is Python. Its options are taken one by one, each into a union
 * option_value, and go to Python (python.h). */
#define VALUE(option, kind, ...) .field = {.name = (option), .type = (kind), __VA_ARGS__}

/* Options that several subcommands share; their arguments must have a member of this name. */
#define OPTION_CONFIG(arguments, what)                                                             \
	.letter = 'c', .take = scenario_name_take,                                                 \
	OPTION("--config", FIELD_TEXT, arguments, config, .form = "FILE|NAME", .help = what)
#define OPTION_SOCKET(arguments)                                                                   \
	.letter = 's', OPTION("--socket", FIELD_TEXT, arguments, socket, .form = "PATH",           \
	                      .help = "control socket; if not given, for clients $WEIR_SOCKET, "   \
	                              "which weir exec sets; else /run/weir.sock for root, "       \
	                              "$XDG_RUNTIME_DIR/weir.sock or /tmp/weir-UID.sock for "      \
	                              "others")
#define OPTION_JSON(arguments, what)                                                               \
	.letter = 'j', OPTION("--json", FIELD_FLAG, arguments, json, .help = what)
#define OPTION_QUIET(arguments, what)                                                              \
	.letter = 'q', OPTION("--quiet", FIELD_FLAG, arguments, quiet, .help = what)
#define OPTION_CORES(arguments)                                                                    \
	OPTION("--cores", FIELD_TEXT, arguments, cores, .form = "LIST",                            \
	       .help = "processors for the workers, like 2,4-5; the last one, if not given")
/* uint32_t log_level: enum run_log_level. */
#define OPTION_LOG_LEVEL(arguments)                                                                \
	OPTION("--log-level", FIELD_WORD, arguments, log_level, .form = "LEVEL",                   \
	       .words = run_log_levels, .initial = RUN_LOG_NOTICE,                                 \
	       .help = "lowest level of lines to log, to the journal if standard error leads "     \
	               "there, else to standard error")
/* uint32_t layout: enum runtime_layout. */
#define OPTION_LAYOUT(arguments)                                                                   \
	OPTION("--layout", FIELD_WORD, arguments, layout, .form = "LAYOUT",                        \
	       .words = (const char *const[]){"run-to-completion", "pipeline", NULL},              \
	       .help = "run-to-completion: each worker receives, emulates and sends; pipeline: "   \
	               "separate workers for each of these, 3 or more")
#define OPTION_MEMORY_LEAST (UINT64_C(4) << 20) /* of a live weir */
/* uint64_t memory_bytes; `initially` 0: none. */
#define OPTION_MEMORY(arguments, least, initially, what)                                           \
	OPTION("--memory", FIELD_BYTES, arguments, memory_bytes, .min = (least),                   \
	       .max = UINT64_C(1) << 44, .initial = (initially), .help = what)

#endif
