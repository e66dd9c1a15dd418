/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/describe.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language/language.h"
#include "match/selection.h"
#include "netem/netem.h"
#include "scenario/port_setting.h"
#include "statements.h"
#include "text/alloc_failure.h"
#include "text/foreign_word.h"
#include "text/language_error.h"
#include "text/quantity.h"
#include "text/statement_text.h"
#include "text/value.h"

const struct value_manner value_manners[] = {
        {"TIME", "40ms 1.5us 2s", "ns, us, ms or s; whole nanoseconds"},
        {"RATE", "10mbit 2.5gbit",
         "bit, kbit, mbit or gbit a second, decimal; whole bits a second"},
        {"SIZE", "15kB 64KiB", "B, kB, MB (decimal), KiB or MiB (binary); whole bytes"},
        {"LIMIT", "90kB 100pkt 50ms", "a size, packets (pkt), or the time it takes to send"},
        {"PROBABILITY", "0.1% 0.001 1e-9", "percent, or a plain fraction below 1"},
        {"N", "1000", "a whole number without a unit"},
        {"NUMBER", "0.125 3.2", "a decimal number without a unit"},
        {"on|off", "on", "a switch"},
        {"IPV4", "192.0.2.1", "an address"},
        {"IPV6", "2001:db8::1", "an address"},
        {"TEXT", "file.csv \"my file\"",
         "between quotes if there are blanks; \\\" and \\\\ in quotes"},
        {"N..N", "2..16", "whole numbers from one to another, or one alone"},
        {"N,N...", "3,4,5", "whole numbers; after a comma there may be blanks"},
        {"FILE", "lost.txt", "the name of a file, as a TEXT; it is read together with the line"},
        {"RATE..RATE", "5mbit..20mbit", "from one rate to another; TIME..TIME and so on alike"},
        {"STATEMENT [and STATEMENT...]", "rate 5mbit and no loss",
         "statements as they are written after `cloud NAME`, or `no` and a name"},
        {NULL, NULL, NULL},
};

static void print_least_and_most(FILE *out, const struct field *field)
{
	char min[48], max[48];

	value_print_number(field->type, field->min, min, sizeof(min));
	value_print_number(field->type, field->max, max, sizeof(max));
	if (field->max != 0)
		fprintf(out, "; %s to %s", min, max);
	else if (field->type == FIELD_PROBABILITY)
		fputs("; 0% to 100%", out);
	else if (field->min == 1 && field->type == FIELD_LIMIT)
		fputs("; more than 0", out);
	else if (field->min != 0)
		fprintf(out, "; from %s on", min);
}

void describe_range(FILE *out, const struct field *field)
{
	char initial[48];

	if (field->type <= FIELD_FACTOR || field->type == FIELD_RANGE ||
	    field->type == FIELD_NUMBERS)
		print_least_and_most(out, field);
	if (field->flags & FIELD_REQUIRED || field->type == FIELD_FLAG)
		return;
	if (field->type == FIELD_WORD)
		fprintf(out, "; %s if not given", field->words[field->initial]);
	else if (field->type == FIELD_SWITCH)
		fprintf(out, "; %s if not given", field->initial ? "on" : "off");
	else if (field->type <= FIELD_FACTOR && field->type != FIELD_LIMIT &&
	         field->initial >= field->min) {
		value_print_number(field->type, field->initial, initial, sizeof(initial));
		fprintf(out, "; %s if not given", initial);
	}
}

/* ---- commands ---- */

static void print_forms(FILE *out, uint32_t which)
{
	for (uint32_t f = 0; language_forms[f].usage; f++) {
		if (which >> f & 1)
			fprintf(out, "  %-30s %s\n", language_forms[f].usage,
			        language_forms[f].help);
	}
}

/* ---- statements ---- */

/* Prints a field in one or two lines: `  jitter TIME   spread of the delay; 0s to ...` */
static void describe_field(FILE *out, const struct field *field)
{
	bool positional = !statement_is_keyword(field);
	struct printed head;
	FILE *memory = printed_begin(&head);

	if (!positional)
		fputs(field->name, memory);
	if (field->type != FIELD_FLAG) {
		fputs(positional ? "" : " ", memory);
		value_print_kind(memory, field);
	}
	if (printed_end(&head) != NULL && head.n > 24)
		fprintf(out, "  %s\n  %-24s ", head.bytes, "");
	else
		fprintf(out, "  %-24s ", head.bytes == NULL ? "" : head.bytes);
	free(head.bytes);
	fputs(field->help, out);
	describe_range(out, field);
	fputc('\n', out);
}

static void describe_fields_of(FILE *out, const struct statement *statement)
{
	for (const struct field *field = statement->fields; field->name; field++)
		describe_field(out, field);
}

/* ---- a word that is neither a command nor a statement ---- */

static const char match_examples[] =
        "\n"
        "  match udp port 53\n"
        "  match src net 10.0.0.0/16\n"
        "  match tcp and dst port 443\n"
        "  match dscp 46                    0 to 63; tcpdump does not have it\n"
        "  match vlan 7 and host 10.0.0.1\n";

/* Explains a word in capitals. Returns false if it has no meaning; then nothing is printed. */
static bool describe_place(FILE *out, const char *word)
{
	for (const struct language_slot *slot = language_slots; slot->name; slot++) {
		if (slot->help != NULL && strcmp(slot->name, word) == 0) {
			fputs(slot->help, out);
			return true;
		}
	}
	if (strcmp(word, "SELECTION") != 0)
		return false;
	fputs("cloud NAME from PLACE to PORT [SELECTION...]\n", out);
	describe_fields_of(out, &selection_statement);
	fputs("\nclouds NAME from PLACE to PORT per SELECTION...\n", out);
	describe_fields_of(out, &selection_per_statement);
	return true;
}

/* Explains the fields of this name in a statement, each below the line that has it. */
static bool describe_in(FILE *out, const struct statement *statement, const char *head,
                        const char *word)
{
	bool found = false;

	for (const struct field *field = statement->fields; field->name; field++) {
		if (field->flags & FIELD_POSITIONAL || strcmp(field->name, word) != 0)
			continue;
		if (head != NULL) {
			fprintf(out, "%s\n", head);
		} else {
			fputs("cloud NAME ", out);
			statement_print_synopsis(out, statement);
			fputc('\n', out);
		}
		describe_field(out, field);
		found = true;
	}
	return found;
}

/* Explains the fields of this name. Returns false if there are none; then nothing is printed. */
static bool describe_fields(FILE *out, const char *word)
{
	bool found = describe_in(out, &selection_statement,
	                         "cloud NAME from PLACE to PORT [SELECTION...]", word);

	if (found && strcmp(word, "match") == 0)
		fprintf(out, "%s\n", match_examples);
	found |= describe_in(out, &selection_per_statement,
	                     "clouds NAME from PLACE to PORT per SELECTION...", word);
	found |= describe_in(out, &port_setting_statement, "port NAME device TEXT [SETTING...]",
	                     word);
	for (const struct statement *const *row = statements; *row; row++)
		found |= describe_in(out, *row, NULL, word);
	return found;
}

static void try_fields(const struct statement *statement, struct nearest *nearest)
{
	for (const struct field *field = statement->fields; field->name; field++)
		nearest_try(nearest, statement_is_keyword(field) ? field->name : NULL);
}

/* Considers all words that have help here as candidates. */
static void describe_word_candidates(struct nearest *nearest)
{
	for (const struct language_slot *slot = language_slots; slot->name; slot++)
		nearest_try(nearest, slot->help != NULL ? slot->name : NULL);
	try_fields(&selection_per_statement, nearest);
	try_fields(&port_setting_statement, nearest);
	for (const struct statement *const *row = statements; *row; row++)
		try_fields(*row, nearest);
}

static void describe_statement(FILE *out, const struct statement *statement)
{
	fputs("cloud NAME ", out);
	statement_print_synopsis(out, statement);
	fprintf(out, "\n  %s\n", statement->help);
	if (statement->by_percent)
		fprintf(out, "  %s 1%% is %s %s 1%%\n", statement->name, statement->name,
		        statement->variant);
	if (statement->fields->name != NULL)
		fputc('\n', out);
	describe_fields_of(out, statement);
	for (const struct statement_term *term = statement->terms; term && term->name; term++)
		fprintf(out, "%s  %-32s %s\n", term == statement->terms ? "\n" : "", term->name,
		        term->help);
	if (!statement->example)
		return;
	fputs("\nfor example:\n", out);
	for (uint32_t i = 0; i < STATEMENT_BESIDE && statement->beside[i]; i++)
		fprintf(out, "  cloud down %s\n", statement->beside[i]);
	fprintf(out, "  cloud down %s%s%s\n", statement->name, statement->example[0] ? " " : "",
	        statement->example);
}

static void describe_cloud(FILE *out)
{
	for (uint32_t f = 0; language_forms[f].usage; f++) {
		if (strstr(language_forms[f].usage, "cloud ") != NULL)
			print_forms(out, 1u << f);
	}
	fputs("\nPLACE is a port, or a cloud whose packets continue into this one (help PLACE).\n"
	      "SELECTION is:\n",
	      out);
	describe_fields_of(out, &selection_statement);
	fputs("\nStatements, in the order in which a packet meets them:\n", out);
	for (const struct statement *const *row = statements; *row; row++) {
		fputs("  ", out);
		statement_print_synopsis(out, *row);
		fprintf(out, "\n      %s\n", (*row)->help);
	}
}

/* Sets the error for another tool's word: an exact one, or a similar one if no word of weir's is
 * similar. */
static bool describe_foreign(const char *word, const struct nearest *nearest,
                             struct language_error *error)
{
	const struct foreign_word *row = foreign_word_find(FOREIGN_STATEMENT, word);

	if (row == NULL)
		row = foreign_word_find(FOREIGN_LINE, word);
	if (row == NULL && nearest->best == NULL)
		row = foreign_word_nearest(FOREIGN_STATEMENT, word);
	return foreign_word_refused(row, word, NULL, "", error);
}

static int unknown(const struct word *word, bool statements_only, struct language_error *error)
{
	struct nearest nearest;
	struct listing listing;

	nearest_start(&nearest, word->text);
	listing_start(&listing, "and");
	for (uint32_t f = 0; !statements_only && language_forms[f].usage; f++) {
		struct language_token token;

		language_token(&language_forms[f], 0, &token);
		nearest_try(&nearest, token.text);
		listing_add(&listing, token.text);
	}
	for (const struct statement *const *row = statements; *row; row++) {
		nearest_try(&nearest, (*row)->name);
		listing_add(&listing, (*row)->name);
	}
	error->column = word->column;
	if (describe_foreign(word->text, &nearest, error))
		return -EINVAL;
	if (!statements_only)
		describe_word_candidates(&nearest);
	if (nearest.best != NULL)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "no help for `%.*s`; did you mean `%s`?",
		                          SHOWN(word->text), nearest.best);
	return language_error_set(error, ERROR_UNKNOWN_WORD,
	                          "no help for `%.*s`; there is help for %s", SHOWN(word->text),
	                          listing_end(&listing));
}

static bool is_netem(const struct word *word)
{
	return strcmp(word->text, "netem") == 0 || strcmp(word->text, "netem-exact") == 0;
}

/* Explains the statement words[at]; words[at + 1] may be a variant. */
static int describe_statements(FILE *out, const struct words *words, uint32_t at,
                               struct language_error *error)
{
	const char *variant = words_text(words, at + 1);
	bool chosen = false, first = true;

	if (is_netem(&words->word[at])) {
		netem_explain(out);
		return 0;
	}
	if (!statement_named(words->word[at].text))
		return unknown(&words->word[at], true, error);
	/* A word that is no variant is a value or a field: all variants are explained. */
	if (variant != NULL)
		chosen = statement_find(words->word[at].text, variant) != NULL;
	for (const struct statement *const *row = statements; *row; row++) {
		if (strcmp((*row)->name, words->word[at].text) != 0 ||
		    (chosen && ((*row)->variant == NULL || strcmp((*row)->variant, variant) != 0)))
			continue;
		if (!first)
			fputc('\n', out);
		first = false;
		describe_statement(out, *row);
	}
	return 0;
}

/* Returns the forms whose first tokens are the words from `at` on, as bits. */
static uint32_t forms_beginning_with(const struct words *words, uint32_t at)
{
	uint32_t which = 0;

	for (uint32_t f = 0; language_forms[f].usage; f++) {
		bool same = true;

		for (uint32_t i = at; same && i < words->n; i++) {
			struct language_token token;

			same = language_token(&language_forms[f], i - at, &token) &&
			       (token.slot || strcmp(token.text, words->word[i].text) == 0);
		}
		which |= (uint32_t)same << f;
	}
	return which;
}

int describe(FILE *out, const struct words *words, uint32_t at, struct language_error *error)
{
	const struct word *word = &words->word[at];
	uint32_t which;

	if (at >= words->n) {
		print_forms(out, UINT32_MAX);
		fputs("\n"
		      "help cloud lists the statements, help cloud delay explains one, help match "
		      "what a\n"
		      "field says, help units how values are written. # begins a comment.\n",
		      out);
		return 0;
	}
	if (strcmp(word->text, "units") == 0) {
		for (const struct value_manner *row = value_manners; row->kind; row++)
			fprintf(out, "  %-12s %-18s %s\n", row->kind, row->written, row->help);
		return 0;
	}
	if (strcmp(word->text, "cloud") == 0) {
		if (at + 1 < words->n)
			return describe_statements(out, words, at + 1, error);
		describe_cloud(out);
		return 0;
	}
	if (statement_named(word->text) || is_netem(word))
		return describe_statements(out, words, at, error);
	if (describe_place(out, word->text))
		return 0;
	which = forms_beginning_with(words, at);
	if (which == 0 && describe_fields(out, word->text))
		return 0;
	if (which == 0)
		return unknown(word, false, error);
	print_forms(out, which);
	if (strcmp(word->text, "clouds") == 0) {
		fputc('\n', out);
		describe_fields_of(out, &selection_per_statement);
	}
	if (strcmp(word->text, "port") == 0) {
		fputc('\n', out);
		describe_fields_of(out, &port_setting_statement);
	}
	return 0;
}
