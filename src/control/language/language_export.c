/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/language_export.h"

#include <errno.h>
#include <stdlib.h>

#include <jansson.h>

#include "account/reason.h"
#include "figures/figures.h"
#include "language/describe.h"
#include "language/language.h"
#include "match/selection.h"
#include "scenario/port_setting.h"
#include "statements.h"
#include "text/alloc_failure.h"
#include "text/statement_text.h"
#include "text/value.h"

static const char *const role_names[] = {
        [ROLE_STAGE] = "stage", [ROLE_LINK] = "link",
        [ROLE_AQM] = "aqm",     [ROLE_AQM_MODIFIER] = "aqm-modifier",
        [ROLE_CLASS] = "class", [ROLE_LINE] = "line",
        [ROLE_CLOUD] = "cloud", [ROLE_SCHEDULE] = "schedule",
};

/* Limits go up to 2^64 - 1; JSON readers expect 63 bits. */
static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* Returns what the synopsis has: TIME, or the words. */
static json_t *kind_of(const struct field *field)
{
	struct printed text;
	json_t *kind;

	value_print_kind(printed_begin(&text), field);
	kind = printed_end(&text) != NULL ? json_string(text.bytes) : NULL;
	free(text.bytes);
	return kind;
}

static json_t *words_of(const struct field *field)
{
	json_t *words = json_array();

	if (!field->words) {
		json_decref(words);
		return json_null();
	}
	for (const char *const *word = field->words; *word; word++)
		json_array_append_new(words, json_string(*word));
	return words;
}

static json_t *field_object(const struct field *field)
{
	bool bounded = field->min != 0 || field->max != 0, inner = statement_is_inner(field);

	return json_pack("{s:s, s:s, s:o, s:s, s:b, s:b, s:b, s:b, s:o, s:o, s:o, s:o}", "name",
	                 field->name, "type", value_kind(field->type)->name, "kind", kind_of(field),
	                 "help", field->help, "positional",
	                 (int)(field->flags & FIELD_POSITIONAL ? 1 : 0), "required",
	                 (int)(field->flags & FIELD_REQUIRED ? 1 : 0), "rest",
	                 (int)(inner || field->flags & FIELD_REST ? 1 : 0), "inner", (int)inner,
	                 "min", bounded ? number(field->min) : json_null(), "max",
	                 field->max ? number(field->max) : json_null(), "initial",
	                 field->flags & FIELD_REQUIRED ? json_null() : number(field->initial),
	                 "words", words_of(field));
}

static json_t *fields_array(const struct field *fields)
{
	json_t *array = json_array();

	for (; fields->name; fields++)
		json_array_append_new(array, field_object(fields));
	return array;
}

static json_t *statement_object(const struct statement *row)
{
	json_t *beside = json_array();

	for (uint32_t i = 0; i < STATEMENT_BESIDE && row->beside[i]; i++)
		json_array_append_new(beside, json_string(row->beside[i]));
	return json_pack("{s:s, s:s?, s:s, s:s, s:o, s:s, s:i, s:i, s:b, s:b, s:s?, s:o}", "name",
	                 row->name, "variant", row->variant, "help", row->help, "example",
	                 row->example, "beside", beside, "role", role_names[row->role],
	                 "number_max", (int)row->number_max, "many_max", (int)row->many_max,
	                 "scoped", (int)row->scoped, "by_percent", (int)row->by_percent, "clears",
	                 row->clears, "fields", fields_array(row->fields));
}

static json_t *tables(void)
{
	json_t *rows = json_array(), *forms = json_array(), *values = json_array();
	json_t *reasons = json_array();

	for (const struct statement *const *row = statements; *row; row++)
		json_array_append_new(rows, statement_object(*row));
	for (const struct language_form *form = language_forms; form->usage; form++)
		json_array_append_new(
		        forms, json_pack("{s:s, s:s}", "usage", form->usage, "help", form->help));
	for (const struct value_manner *row = value_manners; row->kind; row++)
		json_array_append_new(values,
		                      json_pack("{s:s, s:s, s:s}", "kind", row->kind, "written",
		                                row->written, "help", row->help));
	for (int reason = 0; reason < REASON_COUNT; reason++)
		json_array_append_new(reasons,
		                      json_pack("{s:s, s:s, s:s}", "name",
		                                reason_name((enum reason)reason), "kind",
		                                reason_kind_name(reason_kind((enum reason)reason)),
		                                "help", reason_help((enum reason)reason)));
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "weir", WEIR_VERSION,
	                 "statements", rows, "port", fields_array(port_setting_statement.fields),
	                 "selection", fields_array(selection_statement.fields), "template",
	                 fields_array(selection_per_statement.fields), "forms", forms, "values",
	                 values, "reasons", reasons, "figures", figures_table());
}

int language_json_print(FILE *out)
{
	json_t *object = tables();
	int rc;

	if (!object)
		return -ENOMEM;
	rc = json_dumpf(object, out, JSON_INDENT(1));
	json_decref(object);
	return rc < 0 || fputc('\n', out) == EOF ? -EIO : 0;
}

/* Prints text for troff: escapes backslashes and hyphens, and a point or an apostrophe at the
 * beginning, which would be a request there. */
static void print_text(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\\')
			fputs("\\e", out);
		else
			fputc(*text, out);
	}
}

/* Prints for troff what `print` writes. */
static void print_captured(FILE *out, void (*print)(FILE *out, const void *of), const void *of)
{
	struct printed text;

	print(printed_begin(&text), of);
	if (printed_end(&text) != NULL)
		print_text(out, text.bytes);
	free(text.bytes);
}

static void synopsis(FILE *out, const void *of)
{
	fputs("cloud NAME ", out);
	statement_print_synopsis(out, of);
}

static void kind(FILE *out, const void *of)
{
	value_print_kind(out, of);
}

static void range(FILE *out, const void *of)
{
	describe_range(out, of);
}

static void print_field(FILE *out, const struct field *field)
{
	fputs(".TP\n", out);
	if (!(field->flags & FIELD_POSITIONAL)) {
		fputs("\\fB", out);
		print_text(out, field->name);
		fputs("\\fR", out);
		fputs(field->type == FIELD_FLAG ? "" : " ", out);
	}
	fputs("\\fI", out);
	if (field->type != FIELD_FLAG)
		print_captured(out, kind, field);
	fputs("\\fR\n", out);
	print_text(out, field->help);
	print_captured(out, range, field);
	fputs(".\n", out);
}

static void print_row(FILE *out, const char *head, const char *text)
{
	fputs(".TP\n.B ", out);
	print_text(out, head);
	fputc('\n', out);
	print_text(out, text);
	fputc('\n', out);
}

static void print_statement(FILE *out, const struct statement *statement)
{
	fputs(".SS ", out);
	print_text(out, statement->name);
	if (statement->variant != NULL) {
		fputc(' ', out);
		print_text(out, statement->variant);
	}
	fputs("\n.B ", out);
	print_captured(out, synopsis, statement);
	fputs("\n.PP\n", out);
	print_text(out, statement->help);
	fputs(".\n", out);
	if (statement->by_percent)
		fprintf(out, "%s 1%% is %s %s 1%%.\n", statement->name, statement->name,
		        statement->variant);
	for (const struct field *field = statement->fields; field->name; field++)
		print_field(out, field);
	for (const struct statement_term *term = statement->terms; term && term->name; term++)
		print_row(out, term->name, term->help);
}

static const char head[] =
        ".\\\" made by `weir help --man` from the tables of weir\n"
        ".TH WEIR\\-SCENARIO 5 \"\" weir \"weir manual\"\n"
        ".SH NAME\n"
        "weir\\-scenario \\- the language of scenario files and of the control socket\n"
        ".SH DESCRIPTION\n"
        "A scenario says which ports there are, which clouds lead from one to another, and what "
        "each\n"
        "cloud does to its packets. A file is read with\n"
        ".BR weir\\ run ,\n"
        ".B weir replay\n"
        "and\n"
        ".BR weir\\ check ;\n"
        "the same lines, and the queries below, are understood on the control socket\n"
        ".RB ( weir\\ ctl ).\n"
        ".PP\n"
        "A line is a command. Words stand between blanks; one that has blanks itself is written "
        "between\n"
        "double quotes, where \\e\" is a quote and \\e\\e a backslash. # at the beginning of a "
        "word makes\n"
        "the rest of the line a comment. A line is UTF\\-8 text of at most 4096 bytes. Names have "
        "1 to 31\n"
        "letters, digits, \\-, _ or .; ports and clouds share them.\n"
        ".PP\n"
        "A statement is written with its values in the given order, then its other fields in any "
        "order.\n"
        "Repeating a statement replaces the whole of it: fields that are not given again "
        "return\n"
        "to their initial values. Statements of one name exclude each other.\n";

static const char tail[] = ".SH EXAMPLE\n"
                           ".nf\n"
                           "seed 42\n"
                           "port a\n"
                           "port b\n"
                           "cloud down from a to b\n"
                           "cloud down loss random 0.1%\n"
                           "cloud down rate 10mbit queue 90kB\n"
                           "cloud down delay 40ms jitter 2ms distribution normal\n"
                           ".fi\n";

void manual_print(FILE *out)
{
	fputs(head, out);
	fputs(".SH COMMANDS\n", out);
	for (const struct language_form *form = language_forms; form->usage; form++)
		print_row(out, form->usage, form->help);
	fputs(".SH PORTS\nAfter the device of a port.\n", out);
	for (const struct field *field = port_setting_statement.fields; field->name; field++)
		print_field(out, field);
	fputs(".SH SELECTIONS\nAfter\n.BR cloud\\ NAME\\ from\\ PLACE\\ to\\ PORT :\n", out);
	for (const struct field *field = selection_statement.fields; field->name; field++)
		print_field(out, field);
	fputs(".PP\nAfter\n.BR clouds\\ NAME\\ from\\ PLACE\\ to\\ PORT\\ per :\n", out);
	for (const struct field *field = selection_per_statement.fields; field->name; field++)
		print_field(out, field);
	fputs(".PP\nPLACE is a port, or a cloud: its packets then continue into this one.\n", out);
	fputs(".SH VALUES\n", out);
	for (const struct value_manner *row = value_manners; row->kind; row++) {
		fputs(".TP\n\\fI", out);
		print_text(out, row->kind);
		fputs("\\fR\n", out);
		print_text(out, row->help);
		fputs(": ", out);
		print_text(out, row->written);
		fputc('\n', out);
	}
	fputs(".SH STATEMENTS\nIn the order in which a packet meets them.\n", out);
	for (const struct statement *const *row = statements; *row; row++)
		print_statement(out, *row);
	fputs(tail, out);
}
