/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the help of a subcommand, from its table. */
#include "options/options.h"

#include <stdlib.h>
#include <string.h>

#include "language/explain.h"
#include "text/alloc_failure.h"
#include "text/value.h"

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
	char head[HEAD_BYTES], *words = NULL;
	size_t bytes;
	FILE *text = alloc_failure_stream(&words, &bytes);

	head_of(row, head);
	fprintf(out, "%-*s", column, head);
	if (text) {
		fputs(row->field.help, text);
		if (row->field.max || row->field.type == FIELD_WORD)
			explain_range(text, &row->field);
		if (alloc_failure_close(text) == 0)
			print_words(out, words, column);
	}
	free(words);
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
