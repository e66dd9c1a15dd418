/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scenario/file.h"
#include "text/file_read.h"
#include "text/foreign_word.h"
#include "text/word.h"

/* A value to parse: the text for a field, and the error that there is with it. */
struct reading {
	const struct field *field;
	const char *text;
	struct language_error *error;
};

/* Sets the error, except its column: the field, the text, and what is wrong with it. Returns
 * -EINVAL. */
static int wrong(const struct reading *reading, const char *name, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static int wrong(const struct reading *reading, const char *name, const char *format, ...)
{
	char text[sizeof(reading->error->text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return language_error_set(reading->error, name, "%s `%.*s` %s", reading->field->name,
	                          SHOWN(reading->text), text);
}

/* ---- values of several parts ---- */

/* Parses one part of a value, of another type than the field's. */
static int parse_part(const struct reading *reading, enum field_type type, const char *text,
                      size_t bytes, void *value)
{
	struct field part = *reading->field;
	char copy[LINE_BYTES_MAX + 1];

	part.type = type;
	part.offset = 0;
	if (bytes > LINE_BYTES_MAX)
		return language_error_set(reading->error, ERROR_TOO_LONG,
		                          "%s is longer than a line", part.name);
	memcpy(copy, text, bytes);
	copy[bytes] = 0;
	return value_parse(&part, copy, value, reading->error);
}

/* Parses two values with two dots between, or one for both ends of a FIELD_RANGE. */
static int parse_ends(const struct reading *reading, struct range *range)
{
	const char *text = reading->text, *dots = strstr(text, "..");
	bool is_range = reading->field->type == FIELD_RANGE;
	enum field_type type = value_span_of(reading->field->type);
	struct range parsed;
	int result;

	if (dots == NULL && !is_range)
		return wrong(reading, ERROR_BAD_VALUE,
		             "is a single value; write the first and the last, with two dots "
		             "between");
	result = parse_part(reading, type, text, dots ? (size_t)(dots - text) : strlen(text),
	                    &parsed.from);
	parsed.to = parsed.from;
	if (result == 0 && dots)
		result = parse_part(reading, type, dots + 2, strlen(dots + 2), &parsed.to);
	if (result != 0)
		return result;
	if (is_range && parsed.from > parsed.to)
		return wrong(reading, ERROR_OUT_OF_RANGE,
		             "goes down; write the smaller number first");
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
static int parse_numbers(const struct reading *reading, struct numbers *numbers)
{
	struct numbers parsed = {0};
	uint32_t room = 1;

	for (const char *at = reading->text; *at; at++)
		room += *at == ',';
	parsed.value = malloc(room * sizeof(*parsed.value));
	if (!parsed.value)
		return language_error_set(reading->error, ERROR_NO_MEMORY, "no memory for a list");
	for (const char *at = reading->text, *next; at; at = next) {
		size_t bytes;
		int result;

		next = next_part(&at, &bytes);
		result = parse_part(reading, FIELD_COUNT, at, bytes, &parsed.value[parsed.n++]);
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
static int parse_words(const struct reading *reading, uint32_t *given)
{
	const struct field *field = reading->field;
	uint32_t parsed = 0;

	for (const char *at = reading->text, *next; at; at = next) {
		uint32_t index;
		size_t bytes;
		int result;

		next = next_part(&at, &bytes);
		result = parse_part(reading, FIELD_WORD, at, bytes, &index);
		if (result != 0)
			return result;
		if (parsed >> index & 1)
			return language_error_set(reading->error, ERROR_DUPLICATE_WORD,
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

/* ---- what is wrong with a value, and what would be right ---- */

/* Returns the largest value that the field may have. */
static uint64_t value_max(const struct field *field)
{
	if (field->max == 0 && field->min == 0)
		return field->type == FIELD_PROBABILITY ? PROBABILITY_ONE : UINT64_MAX;
	return field->max != 0 ? field->max : UINT64_MAX;
}

/* `units`: the list in which to print the limits; NULL: as the type prints them. */
static int out_of_range(const struct reading *reading, const struct unit *units)
{
	const struct field *field = reading->field;
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
		return wrong(reading, ERROR_OUT_OF_RANGE, "is out of range; it is at least %s",
		             min);
	return wrong(reading, ERROR_OUT_OF_RANGE, "is out of range; it goes from %s to %s", min,
	             max);
}

/* The text is not of the field's type; `right` says how such a value is written. */
static int of_no_kind(const struct reading *reading, const char *right)
{
	return wrong(reading, ERROR_BAD_VALUE, "is not %s; write %s",
	             value_kind(reading->field->type)->a, right);
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

/* The number is not followed by a unit of the field's type. */
static int unknown_unit(const struct reading *reading, const struct decimal *decimal)
{
	const struct value_kind *kind = value_kind(reading->field->type);
	const struct value_units units = value_units(reading->field);
	char written[FOREIGN_READINGS_MAX][QUANTITY_TEXT_BYTES];
	struct foreign_unit foreign = {0};
	const char *name = decimal->rest;
	struct nearest nearest;
	bool is_foreign = false;
	uint32_t n = 0;

	if (*name == 0)
		return wrong(reading, ERROR_MISSING_UNIT,
		             "has no unit; %s is written with %s, like %.*s%s", kind->a,
		             units.written, SHOWN(reading->text), units.example);
	if (*name == ',' && isdigit((unsigned char)name[1]))
		return wrong(reading, ERROR_BAD_VALUE,
		             "has a comma; a decimal point is written as in %.*s.%.*s",
		             (int)(name - reading->text), reading->text, SHOWN(name + 1));
	for (int i = 0; kind->units[i] != NULL && !is_foreign; i++)
		is_foreign = foreign_unit_find(kind->units[i], name, &foreign);
	if (is_foreign)
		n = foreign_unit_readings(&foreign, decimal, written);
	if (n > 0)
		return wrong(reading, ERROR_UNKNOWN_UNIT,
		             "has the unknown unit `%.*s`; write %s%s%s%s", SHOWN(name), written[0],
		             n > 1 ? " or " : "", n > 1 ? written[1] : "",
		             n > 1 ? foreign.note : "");
	nearest_start(&nearest, name);
	for (int i = 0; kind->units[i] != NULL; i++)
		for (const struct unit *unit = kind->units[i]; unit->name; unit++)
			nearest_try(&nearest, unit->name);
	if (nearest.best != NULL && !is_foreign)
		return wrong(reading, ERROR_UNKNOWN_UNIT,
		             "has the unknown unit `%.*s`; did you mean `%s`?", SHOWN(name),
		             nearest.best);
	return wrong(reading, ERROR_UNKNOWN_UNIT,
	             "has the unknown unit `%.*s`; %s is written with %s", SHOWN(name), kind->a,
	             units.written);
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
static int parse_quantity(const struct reading *reading, uint64_t *value, int *which)
{
	const struct field *field = reading->field;
	const struct value_kind *kind = value_kind(field->type);
	const struct unit *units = kind->units[0];
	struct decimal decimal;
	struct unit unit;

	if (!decimal_scan(reading->text, &decimal)) {
		const struct value_units written = value_units(field);

		if (means_none(reading->text) && field->flags == 0)
			return wrong(reading, ERROR_BAD_VALUE,
			             "is not %s; without it, leave `%s` out", kind->a, field->name);
		if (reading->text[0] == '-')
			return wrong(reading, ERROR_OUT_OF_RANGE,
			             "is negative; it is a number from 0 on");
		return wrong(reading, ERROR_BAD_VALUE,
		             "is not %s; write a decimal number and one of the units %s, like 10%s",
		             kind->a, written.written, written.example);
	}
	for (*which = 0; !find_unit(units, decimal.rest, &unit);) {
		units = kind->units[++*which];
		if (units == NULL)
			return unknown_unit(reading, &decimal);
	}
	switch (quantity_value(&decimal, &unit, value)) {
	case QUANTITY_HUGE:
		return out_of_range(reading, units);
	case QUANTITY_TOO_FINE:
		return wrong(reading, ERROR_TOO_FINE,
		             "is finer than 1%s; it is a whole number of %s", units[0].name,
		             units[0].name);
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

/*
 * Parses a probability, as the multiple of 2^-63 or as the decimal number (FIELD_RATIO).
 *
 * It is percent, or a fraction up to 1. `1` is refused, in any spelling without `%`: it is 100 % as
 * a fraction, and 1 % for people who know netem. Numbers above 1 are refused, too; if they can be
 * percent, the message says how to write that. Fractions below 1 are accepted, as models and papers
 * use them, and 0.01 is what the person wrote down; `show config` prints the percent. 0 is 0 in
 * both readings. Weights and factors are not probabilities (FIELD_SHARE): their 1 is 1.
 */
static int parse_probability(const struct reading *reading, uint64_t *value, struct ratio *ratio)
{
	const char *text = reading->text;

	switch (ratio ? ratio_parse(text, ratio) : probability_parse(text, value)) {
	case PROBABILITY_NO_NUMBER:
		if (text[0] != '-')
			return of_no_kind(reading,
			                  ratio ? "a fraction like 1e-9 or percent like 0.1%"
			                        : "percent like 0.1% or a fraction like 0.001");
		/* fall through */
	case PROBABILITY_OVER_ONE:
		if (may_be_percent(text))
			return wrong(reading, ERROR_OUT_OF_RANGE,
			             "is out of range; it goes from 0%% to 100%%, and percent are "
			             "written %.*s%%",
			             SHOWN(text));
		return ratio ? wrong(reading, ERROR_OUT_OF_RANGE,
		                     "is out of range; it goes from 0%% to 100%%")
		             : out_of_range(reading, NULL);
	case PROBABILITY_TOO_FINE:
		return ratio ? wrong(reading, ERROR_TOO_FINE,
		                     "is too fine: at most 19 digits, none beyond decimal place %d",
		                     RATIO_PLACES_MAX)
		             : wrong(reading, ERROR_TOO_FINE,
		                     "is finer than weir's probabilities: they are multiples of "
		                     "2^-63 (about 1e-19), of at most 19 digits");
	case PROBABILITY_OK:
		break;
	}
	if (is_bare_one(text) && !(reading->field->flags & FIELD_SHARE))
		return wrong(reading, ERROR_BAD_VALUE,
		             "has two readings: as a fraction it is 100%%, in netem 1%%; write "
		             "100%% or 1%%");
	return 0;
}

/* Parses a number without a unit: a FIELD_COUNT, or a FIELD_FACTOR in millionths. */
static int parse_number(const struct reading *reading, uint64_t *value)
{
	const char *text = reading->text;
	bool count = reading->field->type == FIELD_COUNT;
	struct decimal decimal;

	if (text[0] == '-')
		return out_of_range(reading, NULL);
	if (!decimal_scan(text, &decimal) || *decimal.rest != 0 ||
	    (count && !decimal.huge && strchr(text, '.') != NULL))
		return of_no_kind(reading, count ? "a whole number without a unit, like 1000"
		                                 : "a decimal number without a unit, like 0.125");
	switch (quantity_value(&decimal, count ? units_packets : units_factor, value)) {
	case QUANTITY_HUGE:
		return out_of_range(reading, NULL);
	case QUANTITY_TOO_FINE:
		return wrong(reading, ERROR_TOO_FINE,
		             "is finer than a millionth; it has at most 6 digits after the decimal "
		             "point");
	case QUANTITY_OK:
		break;
	}
	return 0;
}

static int parse_word(const struct reading *reading, const char *const *words, uint32_t *value)
{
	const struct foreign_word *row = foreign_word_find(FOREIGN_VALUE, reading->text);
	const char *foreign = NULL;
	struct nearest nearest;
	struct listing known;

	nearest_start(&nearest, reading->text);
	listing_start(&known, "or");
	for (uint32_t i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], reading->text) == 0) {
			*value = i;
			return 0;
		}
		if (row != NULL && strcmp(row->write, words[i]) == 0)
			foreign = words[i];
		nearest_try(&nearest, words[i]);
		listing_add(&known, words[i]);
	}
	if (foreign != NULL || nearest.best != NULL)
		return wrong(reading, ERROR_UNKNOWN_WORD, "is unknown; did you mean `%s`?",
		             foreign != NULL ? foreign : nearest.best);
	return wrong(reading, ERROR_UNKNOWN_WORD, "is unknown; it is %s", listing_end(&known));
}

static int parse_address(const struct reading *reading, void *value)
{
	bool v4 = reading->field->type == FIELD_IPV4;
	uint8_t address[16];

	if (inet_pton(v4 ? AF_INET : AF_INET6, reading->text, address) != 1)
		return of_no_kind(reading, v4 ? "four numbers from 0 to 255, like 192.0.2.1"
		                              : "it as RFC 4291 says, like 2001:db8::1");
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
	const struct reading reading = {.field = field, .text = text, .error = error};
	void *at = (char *)conf + field->offset;
	struct ratio ratio;
	uint64_t value = 0;
	uint32_t index = 0;
	int which = 0, result = 0;

	switch (field->type) {
	case FIELD_TIME:
	case FIELD_RATE:
	case FIELD_BYTES:
	case FIELD_LIMIT:
		result = parse_quantity(&reading, &value, &which);
		break;
	case FIELD_PROBABILITY:
		result = parse_probability(&reading, &value, NULL);
		break;
	case FIELD_COUNT:
	case FIELD_FACTOR:
		result = parse_number(&reading, &value);
		break;
	case FIELD_WORD:
		return parse_word(&reading, field->words, at);
	case FIELD_SWITCH:
		result = parse_word(&reading, switch_words, &index);
		if (result == 0)
			*(bool *)at = index != 0;
		return result;
	case FIELD_IPV4:
	case FIELD_IPV6:
		return parse_address(&reading, at);
	case FIELD_TEXT:
		return parse_text(text, at, error);
	case FIELD_RATIO:
		result = parse_probability(&reading, NULL, &ratio);
		if (result == 0)
			*(struct ratio *)at = ratio;
		return result;
	case FIELD_NUMBERS:
		return parse_numbers(&reading, at);
	case FIELD_WORDS:
		return parse_words(&reading, at);
	case FIELD_FILE:
		return parse_file(text, at, error);
	case FIELD_RANGE:
	case FIELD_RATES:
	case FIELD_TIMES:
	case FIELD_PROBABILITIES:
		return parse_ends(&reading, at);
	case FIELD_ORDERS:
	case FIELD_STATES:
	case FIELD_FLAG:
		break;
	}
	if (result != 0)
		return result;
	if (value < field->min || value > value_max(field))
		return out_of_range(&reading, value_kind(field->type)->units[which]);
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
