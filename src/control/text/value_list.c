/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/value.h"

#include <stdlib.h>
#include <string.h>

#include "text/word.h"

/* Returns a field for one part of a value. */
static struct field part_of(const struct field *field, enum field_type type)
{
	struct field part = *field;

	part.type = type;
	part.offset = 0;
	return part;
}

static int parse_part(const struct field *field, enum field_type type, const char *text,
                      size_t bytes, void *value, struct language_error *error)
{
	const struct field part = part_of(field, type);
	char copy[LINE_BYTES_MAX + 1];

	if (bytes > LINE_BYTES_MAX)
		return language_error_set(error, ERROR_TOO_LONG, "%s is longer than a line",
		                          field->name);
	memcpy(copy, text, bytes);
	copy[bytes] = 0;
	return value_parse(&part, copy, value, error);
}

int value_parse_span(const struct field *field, const char *text, struct range *range,
                     struct language_error *error)
{
	enum field_type type = value_span_of(field->type);
	const char *dots = strstr(text, "..");
	struct range parsed;
	int result;

	if (dots == NULL)
		return language_error_set(error, ERROR_BAD_VALUE,
		                          "%s `%.*s` is a single value; write the first and the "
		                          "last, with two dots between",
		                          field->name, SHOWN(text));
	result = parse_part(field, type, text, (size_t)(dots - text), &parsed.from, error);
	if (result == 0)
		result = parse_part(field, type, dots + 2, strlen(dots + 2), &parsed.to, error);
	if (result != 0)
		return result;
	*range = parsed;
	return 0;
}

int value_parse_range(const struct field *field, const char *text, struct range *range,
                      struct language_error *error)
{
	const char *dots = strstr(text, "..");
	struct range parsed;
	int result;

	result = parse_part(field, FIELD_COUNT, text, dots ? (size_t)(dots - text) : strlen(text),
	                    &parsed.from, error);
	parsed.to = parsed.from;
	if (result == 0 && dots)
		result = parse_part(field, FIELD_COUNT, dots + 2, strlen(dots + 2), &parsed.to,
		                    error);
	if (result != 0)
		return result;
	if (parsed.from > parsed.to)
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

int value_parse_numbers(const struct field *field, const char *text, struct numbers *numbers,
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

int value_parse_words(const struct field *field, const char *text, uint32_t *given,
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
