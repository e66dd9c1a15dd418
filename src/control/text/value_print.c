/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints values; value.c parses them. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "text/orders_text.h"
#include "text/probability.h"
#include "text/quantity.h"
#include "text/value.h"
#include "text/value_kind.h"
#include "text/word.h"
#include "scenario/file.h"

_Static_assert(PROBABILITY_TEXT_BYTES <= 48 && QUANTITY_TEXT_BYTES <= 48, "value.h promises 48");

static const void *member(const struct field *field, const void *conf)
{
	return (const char *)conf + field->offset;
}

void value_print_number(enum field_type type, uint64_t value, char *out, size_t room)
{
	char text[QUANTITY_TEXT_BYTES];

	switch (type) {
	case FIELD_TIME:
	case FIELD_RATE:
	case FIELD_BYTES:
	case FIELD_LIMIT:
		quantity_print(value, value_kind(type)->units[0], text);
		break;
	case FIELD_PROBABILITY:
		probability_print(value, text);
		break;
	case FIELD_FACTOR:
		quantity_print(value, units_factor, text);
		break;
	default:
		snprintf(text, sizeof(text), "%" PRIu64, value);
		break;
	}
	snprintf(out, room, "%s", text);
}

static void print_limit(FILE *out, const struct limit *limit)
{
	const struct unit *const *units = value_kind(FIELD_LIMIT)->units;

	for (int i = 0; units[i] != NULL; i++) {
		char text[QUANTITY_TEXT_BYTES];

		if (value_limit_unit(i) != limit->unit)
			continue;
		quantity_print(limit->value, units[i], text);
		fputs(text, out);
	}
}

static void print_range(FILE *out, const struct range *range)
{
	fprintf(out, "%" PRIu64, range->from);
	if (range->to != range->from)
		fprintf(out, "..%" PRIu64, range->to);
}

/* Prints two numbers, both with their unit. */
static void print_span(FILE *out, enum field_type type, const struct range *range)
{
	char text[48];

	value_print_number(value_span_of(type), range->from, text, sizeof(text));
	fprintf(out, "%s..", text);
	value_print_number(value_span_of(type), range->to, text, sizeof(text));
	fputs(text, out);
}

static void print_numbers(FILE *out, const struct numbers *numbers)
{
	for (uint32_t i = 0; i < numbers->n; i++)
		fprintf(out, "%s%" PRIu64, i == 0 ? "" : ",", numbers->value[i]);
}

static void print_words(FILE *out, const char *const *words, uint32_t given)
{
	const char *between = "";

	for (uint32_t i = 0; words[i] != NULL; i++) {
		if (given >> i & 1) {
			fprintf(out, "%s%s", between, words[i]);
			between = ",";
		}
	}
}

void value_print(FILE *out, const struct field *field, const void *conf)
{
	const void *at = member(field, conf);
	char text[INET6_ADDRSTRLEN > 48 ? INET6_ADDRSTRLEN : 48];

	switch (field->type) {
	case FIELD_TIME:
	case FIELD_RATE:
	case FIELD_BYTES:
	case FIELD_PROBABILITY:
	case FIELD_COUNT:
	case FIELD_FACTOR:
		value_print_number(field->type, *(const uint64_t *)at, text, sizeof(text));
		fputs(text, out);
		break;
	case FIELD_LIMIT:
		print_limit(out, at);
		break;
	case FIELD_WORD:
		fputs(field->words[*(const uint32_t *)at], out);
		break;
	case FIELD_SWITCH:
		fputs(*(const bool *)at ? "on" : "off", out);
		break;
	case FIELD_FLAG:
		break;
	case FIELD_IPV4:
	case FIELD_IPV6:
		fputs(inet_ntop(field->type == FIELD_IPV4 ? AF_INET : AF_INET6, at, text,
		                sizeof(text)),
		      out);
		break;
	case FIELD_TEXT:
		word_print(out, *(char *const *)at, false);
		break;
	case FIELD_RATIO:
		ratio_print(at, text);
		fputs(text, out);
		break;
	case FIELD_RANGE:
		print_range(out, at);
		break;
	case FIELD_NUMBERS:
		print_numbers(out, at);
		break;
	case FIELD_WORDS:
		print_words(out, field->words, *(const uint32_t *)at);
		break;
	case FIELD_FILE:
		word_print(out, (*(struct file *const *)at)->name, false);
		break;
	case FIELD_RATES:
	case FIELD_TIMES:
	case FIELD_PROBABILITIES:
		print_span(out, field->type, at);
		break;
	case FIELD_ORDERS:
		orders_print(out, at);
		break;
	case FIELD_STATES:
		states_print(out, at);
		break;
	}
}

void value_print_kind(FILE *out, const struct field *field)
{
	if (field->type != FIELD_WORD && field->type != FIELD_WORDS) {
		fputs(value_kind(field->type)->kind, out);
		return;
	}
	for (uint32_t i = 0; field->words[i] != NULL; i++)
		fprintf(out, "%s%s", i == 0 ? "" : "|", field->words[i]);
	if (field->type == FIELD_WORDS)
		fputs(",...", out);
}
