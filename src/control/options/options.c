/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "language/describe.h"
#include "text/alloc_failure.h"
#include "text/language_error.h"
#include "text/value.h"

#define LONG_FIRST 256 /* getopt's value for the first row; -h and letters are below */

int options_wrong(const struct options *options, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "weir %s: ", options->command);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return OPTIONS_WRONG;
}

/* Converts the table for getopt. `letters` has room for 3 + 2 * OPTIONS_MAX bytes and the final
 * 0. */
static void for_getopt(const struct options *options, struct option *names, char *letters)
{
	uint32_t n = 0;

	if (options->until_word)
		*letters++ = '+';
	*letters++ = ':';
	*letters++ = 'h';
	for (; options->rows[n].field.name; n++) {
		const struct option_row *row = &options->rows[n];
		bool flag = row->field.type == FIELD_FLAG;

		names[n] =
		        (struct option){row->field.name + 2, flag ? no_argument : required_argument,
		                        NULL, LONG_FIRST + (int)n};
		if (row->letter)
			*letters++ = row->letter;
		if (row->letter && !flag)
			*letters++ = ':';
	}
	*letters = '\0';
	names[n] = (struct option){"help", no_argument, NULL, 'h'};
	names[n + 1] = (struct option){NULL, 0, NULL, 0};
}

/* Returns the row for getopt's result, or for its optopt; NULL if there is none. */
static const struct option_row *row_of(const struct options *options, int found)
{
	for (uint32_t i = 0; options->rows[i].field.name; i++) {
		if (found == LONG_FIRST + (int)i || (found && found == options->rows[i].letter))
			return &options->rows[i];
	}
	return NULL;
}

/* Reports an option that does not exist, lacks its value or must have none; `word` is its text. */
static int refuse(const struct options *options, int found, char *word)
{
	const struct option_row *row = row_of(options, optopt);
	struct nearest nearest;

	if (row && found == ':')
		return options_wrong(options, "%s needs a value; weir %s --help", row->field.name,
		                     options->command);
	if (row || optopt == 'h')
		return options_wrong(options, "%s takes no value",
		                     row ? row->field.name : "--help");
	if (optopt)
		return options_wrong(options, "no such option -%c; weir %s --help lists them",
		                     optopt, options->command);
	word[strcspn(word, "=")] = '\0';
	nearest_start(&nearest, word + 2);
	for (row = options->rows; row->field.name; row++)
		nearest_try(&nearest, row->field.name + 2);
	if (nearest.best)
		return options_wrong(options, "no such option %.*s; did you mean --%s?",
		                     language_error_shown(word), word, nearest.best);
	return options_wrong(options, "no such option %.*s; weir %s --help lists them",
	                     language_error_shown(word), word, options->command);
}

int options_take(const struct option_row *row, char *text, void *arguments,
                 struct language_error *error)
{
	void *member = (char *)arguments + row->field.offset;

	if (row->take)
		return row->take(&row->field, text, arguments, error);
	if (row->field.type == FIELD_FLAG)
		*(bool *)member = true;
	else if (row->field.type == FIELD_TEXT)
		*(const char **)member = text;
	else
		return value_parse(&row->field, text, arguments, error);
	return 0;
}

int options_words_of(const struct options *options, const char *word)
{
	size_t length = strlen(word);

	for (const struct option_row *row = options->rows; row->field.name; row++) {
		bool is = word[1] == '-' ? strncmp(row->field.name, word, length) == 0
		                         : length == 2 && word[1] == row->letter;

		if (is && row->field.type != FIELD_FLAG)
			return 2;
		/* A complete name comes before longer names that begin with it. */
		if (is && strcmp(row->field.name, word) == 0)
			break;
	}
	return 1;
}

int options_each(const struct options *options, int argc, char **argv, options_taker *taker,
                 void *to, struct options_words *words)
{
	struct option names[OPTIONS_MAX + 2];
	char letters[3 + 2 * OPTIONS_MAX + 1];
	struct language_error error;
	int found, status = OPTIONS_RUN;

	for_getopt(options, names, letters);
	*words = (struct options_words){.n = 0};
	opterr = 0;
	optind = 0; /* GNU: resets getopt, as argv is not the process's */
	while (status == OPTIONS_RUN &&
	       (found = getopt_long(argc, argv, letters, names, NULL)) >= 0) {
		const struct option_row *row = row_of(options, found);

		if (found == 'h') {
			options_print_help(stdout, options);
			status = OPTIONS_HELP;
		} else if (!row) {
			status = refuse(options, found, argv[optind - 1]);
		} else {
			words->given |= UINT64_C(1) << (row - options->rows);
			if (taker(row, optarg, to, &error))
				status = options_wrong(options, "%s", error.text);
		}
	}
	words->n = argc - optind;
	words->word = argv + optind;
	words->apart = strcmp(argv[optind - 1], "--") == 0;
	optind = 0; /* the EAL uses getopt as well */
	return status;
}

int options_read(const struct options *options, int argc, char **argv, void *arguments,
                 struct options_words *words)
{
	/* Stores the initial values of the table; all others stay 0. */
	for (const struct option_row *row = options->rows; row->field.name; row++) {
		void *member = (char *)arguments + row->field.offset;

		if (row->field.initial && row->field.type == FIELD_WORD)
			*(uint32_t *)member = (uint32_t)row->field.initial;
		else if (row->field.initial)
			*(uint64_t *)member = row->field.initial;
	}
	return options_each(options, argc, argv, options_take, arguments, words);
}

bool options_given(const struct options *options, const struct options_words *words,
                   const char *name)
{
	uint32_t row = 0;

	while (strcmp(options->rows[row].field.name, name) != 0)
		row++;
	return words->given >> row & 1;
}

/* Prints the help of a subcommand, from its table. */

#define COLUMNS    80
#define HEAD_BYTES 40

void options_print_usage(FILE *out, const struct options *options, const char *first,
                         const char *others)
{
	const char *before = first;

	for (const char *form = options->usage; *form; before = others) {
		int bytes = (int)strcspn(form, "\n");

		fprintf(out, "%sweir %s %.*s\n", before, options->command, bytes, form);
		form += bytes + (form[bytes] == '\n');
	}
}

/* Formats `  -c, --config FILE`. Returns its length. */
static int head_of(const struct option_row *row, char head[HEAD_BYTES])
{
	const struct field *field = &row->field;
	const char *form = field->form ? field->form : value_kind(field->type)->kind;
	char letter[] = {'-', row->letter, ',', '\0'};

	return snprintf(head, HEAD_BYTES, "  %3s %s%s%s", row->letter ? letter : "", field->name,
	                field->type == FIELD_FLAG ? "" : " ", form);
}

/* Prints words in lines that begin at `column`; the first line has its head already. */
static void print_words(FILE *out, char *words, int column)
{
	int at = column;
	char *rest;

	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		int bytes = (int)strlen(word);

		if (at > column && at + 1 + bytes > COLUMNS) {
			fprintf(out, "\n%*s", column, "");
			at = column;
		}
		at += fprintf(out, "%s%s", at > column ? " " : "", word);
	}
	fputc('\n', out);
}

static void print_row(FILE *out, const struct option_row *row, int column)
{
	char head[HEAD_BYTES];
	struct printed words;
	FILE *text = printed_begin(&words);

	head_of(row, head);
	fprintf(out, "%-*s", column, head);
	fputs(row->field.help, text);
	if (row->field.max || row->field.type == FIELD_WORD)
		describe_range(text, &row->field);
	if (printed_end(&words) != NULL)
		print_words(out, words.bytes, column);
	free(words.bytes);
}

void options_print_help(FILE *out, const struct options *options)
{
	char head[HEAD_BYTES];
	int column = 0;

	for (const struct option_row *row = options->rows; row->field.name; row++) {
		int bytes = head_of(row, head) + 2;

		column = bytes > column ? bytes : column;
	}
	options_print_usage(out, options, "usage: ", "       ");
	fprintf(out, "\n%s\n%s\n", options->does, options->about ? options->about : "");
	for (const struct option_row *row = options->rows; row->field.name; row++)
		print_row(out, row, column);
	fprintf(out, "  -h, --help\n%s%s", options->end ? "\n" : "",
	        options->end ? options->end : "");
}
