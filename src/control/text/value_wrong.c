/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/value_wrong.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "text/nearest.h"
#include "text/probability.h"
#include "text/value.h"
#include "text/value_kind.h"

#define SHOWN(text) language_error_shown(text), text

uint64_t value_max(const struct field *field)
{
	if (field->max == 0 && field->min == 0)
		return field->type == FIELD_PROBABILITY ? PROBABILITY_ONE : UINT64_MAX;
	return field->max != 0 ? field->max : UINT64_MAX;
}

int value_is_out_of_range(const struct field *field, const char *text, const struct unit *units,
                          struct language_error *error)
{
	char min[QUANTITY_TEXT_BYTES], max[QUANTITY_TEXT_BYTES];
	uint64_t most = value_max(field);

	if (units != NULL) {
		quantity_print(field->min, units, min);
		quantity_print(most, units, max);
	} else {
		value_print_number(field->type, field->min, min, sizeof(min));
		value_print_number(field->type, most, max, sizeof(max));
	}
	if (most == UINT64_MAX && field->min > 0)
		return language_error_set(error, ERROR_OUT_OF_RANGE,
		                          "%s `%.*s` is out of range; it is at least %s",
		                          field->name, SHOWN(text), min);
	return language_error_set(error, ERROR_OUT_OF_RANGE,
	                          "%s `%.*s` is out of range; it goes from %s to %s", field->name,
	                          SHOWN(text), min, max);
}

int value_of_no_kind(const struct field *field, const char *text, const char *right,
                     struct language_error *error)
{
	return language_error_set(error, ERROR_BAD_VALUE, "%s `%.*s` is not %s; write %s",
	                          field->name, SHOWN(text), value_kind(field->type)->a, right);
}

/* Returns true for the words that people write in place of no value. */
static bool means_none(const char *text)
{
	static const char *const words[] = {"off",  "none",      "no",       "never",
	                                    "null", "unlimited", "infinite", "disabled"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(text, words[i]) == 0)
			return true;
	}
	return false;
}

int value_is_no_quantity(const struct field *field, const char *text, struct language_error *error)
{
	if (means_none(text) && field->flags == 0)
		return language_error_set(
		        error, ERROR_BAD_VALUE, "%s `%.*s` is not %s; without it, leave `%s` out",
		        field->name, SHOWN(text), value_kind(field->type)->a, field->name);
	if (text[0] == '-')
		return language_error_set(error, ERROR_OUT_OF_RANGE,
		                          "%s `%.*s` is negative; it is a number from 0 on",
		                          field->name, SHOWN(text));
	return language_error_set(
	        error, ERROR_BAD_VALUE,
	        "%s `%.*s` is not %s; write a decimal number and one of the units %s, like 10%s",
	        field->name, SHOWN(text), value_kind(field->type)->a, value_units(field).written,
	        value_units(field).example);
}

/* Sets the error for another tool's unit, with what to write instead. */
static int foreign_unit(const struct field *field, const char *text, const struct decimal *decimal,
                        const struct foreign_unit *unit, struct language_error *error)
{
	char reading[FOREIGN_READINGS_MAX][QUANTITY_TEXT_BYTES];
	uint32_t n = foreign_unit_readings(unit, decimal, reading);

	if (n == 0)
		return language_error_set(
		        error, ERROR_UNKNOWN_UNIT,
		        "%s `%.*s` has the unknown unit `%.*s`; %s is written with %s", field->name,
		        SHOWN(text), SHOWN(decimal->rest), value_kind(field->type)->a,
		        value_units(field).written);
	return language_error_set(
	        error, ERROR_UNKNOWN_UNIT, "%s `%.*s` has the unknown unit `%.*s`; write %s%s%s%s",
	        field->name, SHOWN(text), SHOWN(decimal->rest), reading[0], n > 1 ? " or " : "",
	        n > 1 ? reading[1] : "", n > 1 ? unit->note : "");
}

int value_has_unknown_unit(const struct field *field, const char *text,
                           const struct decimal *decimal, struct language_error *error)
{
	const struct value_kind *kind = value_kind(field->type);
	struct foreign_unit foreign;
	const char *name = decimal->rest;
	struct nearest nearest;

	if (*name == 0)
		return language_error_set(
		        error, ERROR_MISSING_UNIT,
		        "%s `%.*s` has no unit; %s is written with %s, like %.*s%s", field->name,
		        SHOWN(text), value_kind(field->type)->a, value_units(field).written,
		        SHOWN(text), value_units(field).example);
	if (*name == ',' && isdigit((unsigned char)name[1]))
		return language_error_set(
		        error, ERROR_BAD_VALUE,
		        "%s `%.*s` has a comma; a decimal point is written as in %.*s.%.*s",
		        field->name, SHOWN(text), (int)(name - text), text, SHOWN(name + 1));
	for (int i = 0; kind->units[i] != NULL; i++) {
		if (foreign_unit_find(kind->units[i], name, &foreign))
			return foreign_unit(field, text, decimal, &foreign, error);
	}
	nearest_start(&nearest, name);
	for (int i = 0; kind->units[i] != NULL; i++)
		for (const struct unit *unit = kind->units[i]; unit->name; unit++)
			nearest_try(&nearest, unit->name);
	if (nearest.best != NULL)
		return language_error_set(
		        error, ERROR_UNKNOWN_UNIT,
		        "%s `%.*s` has the unknown unit `%.*s`; did you mean `%s`?", field->name,
		        SHOWN(text), SHOWN(name), nearest.best);
	return language_error_set(error, ERROR_UNKNOWN_UNIT,
	                          "%s `%.*s` has the unknown unit `%.*s`; %s is written with %s",
	                          field->name, SHOWN(text), SHOWN(name), value_kind(field->type)->a,
	                          value_units(field).written);
}

int value_needs_percent(const struct field *field, const char *text, bool one,
                        struct language_error *error)
{
	if (one)
		return language_error_set(error, ERROR_BAD_VALUE,
		                          "%s `%.*s` has two readings: as a fraction it is 100%%, "
		                          "in netem 1%%; write 100%% or 1%%",
		                          field->name, SHOWN(text));
	return language_error_set(
	        error, ERROR_OUT_OF_RANGE,
	        "%s `%.*s` is out of range; it goes from 0%% to 100%%, and percent "
	        "are written %.*s%%",
	        field->name, SHOWN(text), SHOWN(text));
}
