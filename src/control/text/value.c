/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scenario/file.h"
#include "text/file_read.h"
#include "text/foreign_word.h"
#include "text/word.h"

/* Parses one part of a value, of another type than the field's. */
static int parse_part(const struct field *field, enum field_type type, const char *text,
                      size_t bytes, void *value, struct language_error *error)
{
	struct field part = *field;
	char copy[LINE_BYTES_MAX + 1];

	part.type = type;
	part.offset = 0;

	if (bytes > LINE_BYTES_MAX)
		return language_error_set(error, ERROR_TOO_LONG, "%s is longer than a line",
		                          field->name);
	memcpy(copy, text, bytes);
	copy[bytes] = 0;
	return value_parse(&part, copy, value, error);
}

/* Parses two values with two dots between, or one for both ends of a FIELD_RANGE. */
static int parse_ends(const struct field *field, const char *text, struct range *range,
                      struct language_error *error)
{
	enum field_type type = value_span_of(field->type);
	const char *dots = strstr(text, "..");
	struct range parsed;
	int result;

	if (dots == NULL && field->type != FIELD_RANGE)
		return language_error_set(error, ERROR_BAD_VALUE,
		                          "%s `%.*s` is a single value; write the first and the "
		                          "last, with two dots between",
		                          field->name, SHOWN(text));
	result = parse_part(field, type, text, dots ? (size_t)(dots - text) : strlen(text),
	                    &parsed.from, error);
	parsed.to = parsed.from;
	if (result == 0 && dots)
		result = parse_part(field, type, dots + 2, strlen(dots + 2), &parsed.to, error);
	if (result != 0)
		return result;
	if (field->type == FIELD_RANGE && parsed.from > parsed.to)
		return language_error_set(error, ERROR_OUT_OF_RANGE,
		                          "%s `%.*s` goes down; write the smaller number first",
		                          field->name, SHOWN(text));
	*range = parsed;
	return 0;
}

/* Finds the part of a list at `at`, without the blanks before it. Returns the next part, or
 * NULL. */
static const char *next_part(const char **at, size_t *bytes)
{
	const char *comma;

	*at += strspn(*at, " ");
	comma = strchr(*at, ',');
	*bytes = comma ? (size_t)(comma - *at) : strlen(*at);
	return comma ? comma + 1 : NULL;
}

/* Frees the old list of `numbers`. */
static int value_parse_numbers(const struct field *field, const char *text, struct numbers *numbers,
                               struct language_error *error)
{
	struct numbers parsed = {0};
	uint32_t room = 1;

	for (const char *at = text; *at; at++)
		room += *at == ',';
	parsed.value = malloc(room * sizeof(*parsed.value));
	if (!parsed.value)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for a list");
	for (const char *at = text, *next; at; at = next) {
		size_t bytes;
		int result;

		next = next_part(&at, &bytes);
		result =
		        parse_part(field, FIELD_COUNT, at, bytes, &parsed.value[parsed.n++], error);
		if (result != 0) {
			free(parsed.value);
			return result;
		}
	}
	free(numbers->value);
	*numbers = parsed;
	return 0;
}

/* Refuses a word that is given twice. */
static int value_parse_words(const struct field *field, const char *text, uint32_t *given,
                             struct language_error *error)
{
	uint32_t parsed = 0;

	for (const char *at = text, *next; at; at = next) {
		uint32_t index;
		size_t bytes;
		int result;

		next = next_part(&at, &bytes);
		result = parse_part(field, FIELD_WORD, at, bytes, &index, error);
		if (result != 0)
			return result;
		if (parsed >> index & 1)
			return language_error_set(error, ERROR_DUPLICATE_WORD,
			                          "%s has `%s` twice; give it once", field->name,
			                          field->words[index]);
		parsed |= UINT32_C(1) << index;
	}
	*given = parsed;
	return 0;
}

bool value_list_goes_on(const struct field *field, const char *text)
{
	size_t length = strlen(text);

	return (field->type == FIELD_NUMBERS || field->type == FIELD_WORDS) && length > 0 &&
	       text[length - 1] == ',';
}

/*
 * Explains what is wrong with a value, and what would be right. Each function sets the error,
 * except its column, and returns -EINVAL.
 *
 * A probability is percent, or a fraction up to 1. `1` is refused, in any spelling without `%`: it
 * is 100 % as a fraction, and 1 % for people who know netem. Numbers above 1 are refused, too; if
 * they can be percent, the message says how to write that. Fractions below 1 are accepted, as
 * models and papers use them, and 0.01 is what the person wrote down; `show config` prints the
 * percent. 0 is 0 in both readings. Weights and factors are not probabilities (FIELD_SHARE): their
 * 1 is 1.
 */

/* Returns the largest value that the field may have. */
static uint64_t value_max(const struct field *field)
{
	if (field->max == 0 && field->min == 0)
		return field->type == FIELD_PROBABILITY ? PROBABILITY_ONE : UINT64_MAX;
	return field->max != 0 ? field->max : UINT64_MAX;
}

/* `units`: the list in which to print the limits; NULL: as the type prints them. */
static int value_is_out_of_range(const struct field *field, const char *text,
                                 const struct unit *units, struct language_error *error)
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

/* The text is not of the field's type; `right` says how such a value is written. */
static int value_of_no_kind(const struct field *field, const char *text, const char *right,
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

/* The number is not followed by a unit of the field's type. */
static int value_has_unknown_unit(const struct field *field, const char *text,
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

/* A probability of 1 or more without `%`; `one`: it is 1. */
static int value_needs_percent(const struct field *field, const char *text, bool one,
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

/* ---- parsing, type by type ---- */

/* Finds the unit of this name in the list, or an accepted other spelling of one. */
static bool find_unit(const struct unit *units, const char *name, struct unit *unit)
{
	const struct unit *own = unit_find(units, name);
	struct foreign_unit foreign;

	if (own != NULL) {
		*unit = *own;
		return true;
	}
	if (!foreign_unit_find(units, name, &foreign) || !foreign.taken)
		return false;
	*unit = (struct unit){.name = name, .factor = foreign.factor[0]};
	return true;
}

/* Parses a value with a unit. `which` gets the index of the list of units that has its unit. */
static int parse_quantity(const struct field *field, const char *text, uint64_t *value, int *which,
                          struct language_error *error)
{
	const struct value_kind *kind = value_kind(field->type);
	const struct unit *units = kind->units[0];
	struct decimal decimal;
	struct unit unit;

	if (!decimal_scan(text, &decimal)) {
		/* The text has no number where a number and a unit are expected. */
		if (means_none(text) && field->flags == 0)
			return language_error_set(error, ERROR_BAD_VALUE,
			                          "%s `%.*s` is not %s; without it, leave `%s` out",
			                          field->name, SHOWN(text),
			                          value_kind(field->type)->a, field->name);
		if (text[0] == '-')
			return language_error_set(error, ERROR_OUT_OF_RANGE,
			                          "%s `%.*s` is negative; it is a number from 0 on",
			                          field->name, SHOWN(text));
		return language_error_set(error, ERROR_BAD_VALUE,
		                          "%s `%.*s` is not %s; write a decimal number and one of "
		                          "the units %s, like 10%s",
		                          field->name, SHOWN(text), value_kind(field->type)->a,
		                          value_units(field).written, value_units(field).example);
	}
	for (*which = 0; !find_unit(units, decimal.rest, &unit);) {
		units = kind->units[++*which];
		if (units == NULL)
			return value_has_unknown_unit(field, text, &decimal, error);
	}
	switch (quantity_value(&decimal, &unit, value)) {
	case QUANTITY_HUGE:
		return value_is_out_of_range(field, text, units, error);
	case QUANTITY_TOO_FINE:
		return language_error_set(error, ERROR_TOO_FINE,
		                          "%s `%.*s` is finer than 1%s; it is a whole number of %s",
		                          field->name, SHOWN(text), units[0].name, units[0].name);
	case QUANTITY_OK:
		break;
	}
	return 0;
}

/* Returns true for 1 written as a fraction, in any form. */
static bool is_bare_one(const char *text)
{
	struct ratio ratio;

	return strchr(text, '%') == NULL && ratio_parse(text, &ratio) == PROBABILITY_OK &&
	       ratio.digits == 1 && ratio.places == 0;
}

/* Returns true if a number that is over 1 can be percent: up to 100, without a unit. */
static bool may_be_percent(const char *text)
{
	struct decimal decimal;

	return decimal_scan(text, &decimal) && *decimal.rest == 0 && !decimal.huge &&
	       (decimal.whole < 100 || (decimal.whole == 100 && decimal.fraction == 0));
}

static int parse_probability(const struct field *field, const char *text, uint64_t *value,
                             struct language_error *error)
{
	switch (probability_parse(text, value)) {
	case PROBABILITY_NO_NUMBER:
		if (text[0] == '-')
			return value_is_out_of_range(field, text, NULL, error);
		return value_of_no_kind(field, text, "percent like 0.1% or a fraction like 0.001",
		                        error);
	case PROBABILITY_TOO_FINE:
		return language_error_set(error, ERROR_TOO_FINE,
		                          "%s `%.*s` is finer than weir's probabilities: they are "
		                          "multiples of 2^-63 (about 1e-19), of at most 19 digits",
		                          field->name, SHOWN(text));
	case PROBABILITY_OVER_ONE:
		if (may_be_percent(text))
			return value_needs_percent(field, text, false, error);
		return value_is_out_of_range(field, text, NULL, error);
	case PROBABILITY_OK:
		break;
	}
	if (is_bare_one(text) && !(field->flags & FIELD_SHARE))
		return value_needs_percent(field, text, true, error);
	return 0;
}

static int parse_ratio(const struct field *field, const char *text, struct ratio *value,
                       struct language_error *error)
{
	struct ratio parsed;

	switch (ratio_parse(text, &parsed)) {
	case PROBABILITY_NO_NUMBER:
		if (text[0] != '-')
			return value_of_no_kind(field, text,
			                        "a fraction like 1e-9 or percent like 0.1%", error);
		/* fall through */
	case PROBABILITY_OVER_ONE:
		if (may_be_percent(text))
			return value_needs_percent(field, text, false, error);
		return language_error_set(error, ERROR_OUT_OF_RANGE,
		                          "%s `%.*s` is out of range; it goes from 0%% to 100%%",
		                          field->name, SHOWN(text));
	case PROBABILITY_TOO_FINE:
		return language_error_set(
		        error, ERROR_TOO_FINE,
		        "%s `%.*s` is too fine: at most 19 digits, none beyond decimal place %d",
		        field->name, SHOWN(text), RATIO_PLACES_MAX);
	case PROBABILITY_OK:
		break;
	}
	if (is_bare_one(text) && !(field->flags & FIELD_SHARE))
		return value_needs_percent(field, text, true, error);
	*value = parsed;
	return 0;
}

static int parse_count(const struct field *field, const char *text, uint64_t *value,
                       struct language_error *error)
{
	struct decimal decimal;

	if (text[0] == '-' || (decimal_scan(text, &decimal) && *decimal.rest == 0 && decimal.huge))
		return value_is_out_of_range(field, text, NULL, error);
	if (!decimal_scan(text, &decimal) || *decimal.rest != 0 || decimal.rest[-1] == '.' ||
	    strchr(text, '.') != NULL)
		return value_of_no_kind(field, text, "a whole number without a unit, like 1000",
		                        error);
	*value = decimal.whole;
	return 0;
}

static int parse_factor(const struct field *field, const char *text, uint64_t *value,
                        struct language_error *error)
{
	struct decimal decimal;

	if (text[0] == '-')
		return value_is_out_of_range(field, text, NULL, error);
	if (!decimal_scan(text, &decimal) || *decimal.rest != 0)
		return value_of_no_kind(field, text, "a decimal number without a unit, like 0.125",
		                        error);
	switch (quantity_value(&decimal, units_factor, value)) {
	case QUANTITY_HUGE:
		return value_is_out_of_range(field, text, NULL, error);
	case QUANTITY_TOO_FINE:
		return language_error_set(error, ERROR_TOO_FINE,
		                          "%s `%.*s` is finer than a millionth; it has at most 6 "
		                          "digits after the decimal point",
		                          field->name, SHOWN(text));
	case QUANTITY_OK:
		break;
	}
	return 0;
}

static int parse_word(const struct field *field, const char *text, const char *const *words,
                      uint32_t *value, struct language_error *error)
{
	const struct foreign_word *row = foreign_word_find(FOREIGN_VALUE, text);
	const char *foreign = NULL;
	struct nearest nearest;
	struct listing known;

	nearest_start(&nearest, text);
	listing_start(&known, "or");
	for (uint32_t i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], text) == 0) {
			*value = i;
			return 0;
		}
		if (row != NULL && strcmp(row->write, words[i]) == 0)
			foreign = words[i];
		nearest_try(&nearest, words[i]);
		listing_add(&known, words[i]);
	}
	if (foreign != NULL || nearest.best != NULL)
		return language_error_set(error, ERROR_UNKNOWN_WORD,
		                          "%s `%.*s` is unknown; did you mean `%s`?", field->name,
		                          SHOWN(text), foreign != NULL ? foreign : nearest.best);
	return language_error_set(error, ERROR_UNKNOWN_WORD, "%s `%.*s` is unknown; it is %s",
	                          field->name, SHOWN(text), listing_end(&known));
}

static int parse_address(const struct field *field, const char *text, void *value,
                         struct language_error *error)
{
	bool v4 = field->type == FIELD_IPV4;
	uint8_t address[16];

	if (inet_pton(v4 ? AF_INET : AF_INET6, text, address) != 1)
		return value_of_no_kind(field, text,
		                        v4 ? "four numbers from 0 to 255, like 192.0.2.1"
		                           : "it as RFC 4291 says, like 2001:db8::1",
		                        error);
	memcpy(value, address, v4 ? 4 : 16);
	return 0;
}

static int parse_text(const char *text, char **value, struct language_error *error)
{
	char *copy = strdup(text);

	if (copy == NULL)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for a text");
	free(*value);
	*value = copy;
	return 0;
}

static int parse_file(const char *name, struct file **value, struct language_error *error)
{
	struct file *file;
	int result = file_read(name, &file, error);

	if (result == 0) {
		file_release(*value);
		*value = file;
	}
	return result;
}

int value_parse(const struct field *field, const char *text, void *conf,
                struct language_error *error)
{
	static const char *const switch_words[] = {"off", "on", NULL};
	void *at = (char *)conf + field->offset;
	uint64_t value = 0;
	uint32_t index = 0;
	int which = 0, result = 0;

	switch (field->type) {
	case FIELD_TIME:
	case FIELD_RATE:
	case FIELD_BYTES:
	case FIELD_LIMIT:
		result = parse_quantity(field, text, &value, &which, error);
		break;
	case FIELD_PROBABILITY:
		result = parse_probability(field, text, &value, error);
		break;
	case FIELD_COUNT:
		result = parse_count(field, text, &value, error);
		break;
	case FIELD_FACTOR:
		result = parse_factor(field, text, &value, error);
		break;
	case FIELD_WORD:
		return parse_word(field, text, field->words, at, error);
	case FIELD_SWITCH:
		result = parse_word(field, text, switch_words, &index, error);
		if (result == 0)
			*(bool *)at = index != 0;
		return result;
	case FIELD_IPV4:
	case FIELD_IPV6:
		return parse_address(field, text, at, error);
	case FIELD_TEXT:
		return parse_text(text, at, error);
	case FIELD_RATIO:
		return parse_ratio(field, text, at, error);
	case FIELD_NUMBERS:
		return value_parse_numbers(field, text, at, error);
	case FIELD_WORDS:
		return value_parse_words(field, text, at, error);
	case FIELD_FILE:
		return parse_file(text, at, error);
	case FIELD_RANGE:
	case FIELD_RATES:
	case FIELD_TIMES:
	case FIELD_PROBABILITIES:
		return parse_ends(field, text, at, error);
	case FIELD_ORDERS:
	case FIELD_STATES:
	case FIELD_FLAG:
		break;
	}
	if (result != 0)
		return result;
	if (value < field->min || value > value_max(field))
		return value_is_out_of_range(field, text, value_kind(field->type)->units[which],
		                             error);
	if (field->type == FIELD_LIMIT)
		*(struct limit *)at =
		        (struct limit){.value = value, .unit = value_limit_unit(which)};
	else
		*(uint64_t *)at = value;
	return 0;
}

int value_parse_count(const char *text, uint64_t min, uint64_t max, const char *what,
                      uint64_t *value, struct language_error *error)
{
	const struct field field = {.name = what, .type = FIELD_COUNT, .min = min, .max = max};

	return value_parse(&field, text, value, error);
}
