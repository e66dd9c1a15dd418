/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/language_json.h"

#include <errno.h>
#include <stdlib.h>

#include <jansson.h>

#include "account/reason.h"
#include "language/explain.h"
#include "language/language.h"
#include "match/selection.h"
#include "scenario/port_setting.h"
#include "statements.h"
#include "text/alloc_failure.h"
#include "text/statement_text.h"
#include "text/value.h"

static const char *const type_names[] = {
        [FIELD_TIME] = "time",
        [FIELD_RATE] = "rate",
        [FIELD_BYTES] = "bytes",
        [FIELD_LIMIT] = "limit",
        [FIELD_PROBABILITY] = "probability",
        [FIELD_COUNT] = "count",
        [FIELD_FACTOR] = "factor",
        [FIELD_WORD] = "word",
        [FIELD_SWITCH] = "switch",
        [FIELD_FLAG] = "flag",
        [FIELD_IPV4] = "ipv4",
        [FIELD_IPV6] = "ipv6",
        [FIELD_TEXT] = "text",
        [FIELD_RATIO] = "ratio",
        [FIELD_RANGE] = "range",
        [FIELD_NUMBERS] = "numbers",
        [FIELD_WORDS] = "words",
        [FIELD_FILE] = "file",
        [FIELD_RATES] = "rates",
        [FIELD_TIMES] = "times",
        [FIELD_PROBABILITIES] = "probabilities",
        [FIELD_ORDERS] = "orders",
        [FIELD_STATES] = "states",
};
_Static_assert(sizeof(type_names) / sizeof(type_names[0]) == FIELD_STATES + 1,
               "a name for each type of a field");

static const char *const role_names[] = {
        [ROLE_STAGE] = "stage", [ROLE_LINK] = "link",
        [ROLE_AQM] = "aqm",     [ROLE_AQM_MODIFIER] = "aqm-modifier",
        [ROLE_CLASS] = "class", [ROLE_LINE] = "line",
        [ROLE_CLOUD] = "cloud", [ROLE_SCHEDULE] = "schedule",
};

const char *field_type_name(enum field_type type)
{
	return type_names[type];
}

/* Limits go up to 2^64 - 1; JSON readers expect 63 bits. */
static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* Returns what the synopsis has: TIME, or the words. */
static json_t *kind_of(const struct field *field)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = field->form ? NULL : alloc_failure_stream(&text, &bytes);
	json_t *kind = NULL;

	if (field->form)
		return json_string(field->form);
	if (!out)
		return NULL;
	value_print_kind(out, field);
	if (alloc_failure_close(out) == 0)
		kind = json_string(text);
	free(text);
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
	                 field->name, "type", field_type_name(field->type), "kind", kind_of(field),
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
	return json_pack("{s:s, s:s?, s:s, s:s, s:s, s:i, s:i, s:b, s:b, s:s?, s:o}", "name",
	                 row->name, "variant", row->variant, "help", row->help, "example",
	                 row->example, "role", role_names[row->role], "number_max",
	                 (int)row->number_max, "many_max", (int)row->many_max, "scoped",
	                 (int)row->scoped, "by_percent", (int)row->by_percent, "clears",
	                 row->clears, "fields", fields_array(row->fields));
}

static json_t *tables(void)
{
	static const char *const kinds[] = {[REASON_EMULATED] = "emulated",
	                                    [REASON_CONGESTION] = "congestion",
	                                    [REASON_REAL] = "real"};
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
		json_array_append_new(reasons, json_pack("{s:s, s:s, s:s}", "name",
		                                         reason_name((enum reason)reason), "kind",
		                                         kinds[reason_kind((enum reason)reason)],
		                                         "help", reason_help((enum reason)reason)));
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "weir", WEIR_VERSION,
	                 "statements", rows, "port", fields_array(port_setting_statement.fields),
	                 "selection", fields_array(selection_statement.fields), "template",
	                 fields_array(selection_per_statement.fields), "forms", forms, "values",
	                 values, "reasons", reasons);
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
