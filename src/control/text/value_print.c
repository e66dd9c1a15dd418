/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints values; value.c parses them. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "scenario/file.h"
#include "text/orders_text.h"
#include "text/quantity.h"
#include "text/value.h"
#include "text/word.h"

static const struct value_kind kinds[] = {
        [FIELD_TIME] = {"time", "a time", "TIME", "ns, us, ms or s", "ms", {units_time}},
        [FIELD_RATE] = {"rate", "a rate", "RATE", "bit, kbit, mbit or gbit", "mbit", {units_rate}},
        [FIELD_BYTES] = {"bytes", "a size", "SIZE", "B, kB, MB, KiB or MiB", "kB", {units_bytes}},
        [FIELD_LIMIT] = {"limit",
                         "a limit",
                         "LIMIT",
                         "B, kB, MB, KiB or MiB, pkt, or ns, us, ms or s",
                         "kB",
                         {units_bytes, units_packets, units_time}},
        [FIELD_PROBABILITY] = {"probability", "a probability", "PROBABILITY", "", "", {0}},
        [FIELD_COUNT] = {"count", "a count", "N", "", "", {0}},
        [FIELD_WORD] = {"word", "a word", "", "", "", {0}},
        [FIELD_SWITCH] = {"switch", "a switch", "on|off", "", "", {0}},
        [FIELD_FLAG] = {"flag", "a flag", "", "", "", {0}},
        [FIELD_IPV4] = {"ipv4", "an IPv4 address", "IPV4", "", "", {0}},
        [FIELD_IPV6] = {"ipv6", "an IPv6 address", "IPV6", "", "", {0}},
        [FIELD_TEXT] = {"text", "a text", "TEXT", "", "", {0}},
        [FIELD_RATIO] = {"ratio", "a probability", "PROBABILITY", "", "", {0}},
        [FIELD_RANGE] = {"range", "a range", "N..N", "", "", {0}},
        [FIELD_NUMBERS] = {"numbers", "a list of numbers", "N,N...", "", "", {0}},
        [FIELD_WORDS] = {"words", "a list of words", "", "", "", {0}},
        [FIELD_FILE] = {"file", "a file", "FILE", "", "", {0}},
        [FIELD_RATES] = {"rates",
                         "two rates",
                         "RATE..RATE",
                         "bit, kbit, mbit or gbit",
                         "mbit",
                         {units_rate}},
        [FIELD_TIMES] = {"times", "two times", "TIME..TIME", "ns, us, ms or s", "ms", {units_time}},
        [FIELD_PROBABILITIES] =
                {"probabilities", "two probabilities", "PROBABILITY..PROBABILITY", "", "", {0}},
        [FIELD_ORDERS] = {"orders", "statements", "STATEMENT [and STATEMENT...]", "", "", {0}},
        [FIELD_STATES] = {"states",
                          "states",
                          "NAME TIME [to NAME PROBABILITY...] [STATEMENT [and STATEMENT...]] then "
                          "NAME TIME...",
                          "",
                          "",
                          {0}},
        [FIELD_FACTOR] = {"factor", "a number", "NUMBER", "", "", {0}},
};

_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == FIELD_STATES + 1,
               "a kind for each type of a field");

const struct value_kind *value_kind(enum field_type type)
{
	return &kinds[type];
}

struct value_units value_units(const struct field *field)
{
	static const struct {
		const char *form, *written, *example;
	} parts[] = {{"SIZE", "B, kB, MB, KiB or MiB", "kB"},
	             {"Npkt", "pkt", "pkt"},
	             {"TIME", "ns, us, ms or s", "s"}};
	const struct value_kind *kind = value_kind(field->type);
	struct value_units units = {.example = NULL};

	for (const char *form = field->form; form && field->type == FIELD_LIMIT;) {
		const size_t n = strcspn(form, "|"), at = strlen(units.written);

		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
			if (strlen(parts[i].form) != n || memcmp(parts[i].form, form, n) != 0)
				continue;
			snprintf(units.written + at, sizeof(units.written) - at, "%s%s",
			         units.example ? ", or " : "", parts[i].written);
			if (!units.example)
				units.example = parts[i].example;
		}
		form = form[n] ? form + n + 1 : NULL;
	}
	if (!units.example) {
		snprintf(units.written, sizeof(units.written), "%s", kind->written);
		units.example = kind->example;
	}
	return units;
}

enum field_type value_span_of(enum field_type type)
{
	if (type == FIELD_RANGE)
		return FIELD_COUNT;
	if (type == FIELD_RATES)
		return FIELD_RATE;
	return type == FIELD_TIMES ? FIELD_TIME : FIELD_PROBABILITY;
}

enum limit_unit value_limit_unit(int index)
{
	static const enum limit_unit units[] = {LIMIT_BYTES, LIMIT_PACKETS, LIMIT_TIME};

	return units[index];
}

_Static_assert(PROBABILITY_TEXT_BYTES <= 48 && QUANTITY_TEXT_BYTES <= 48, "value.h promises 48");

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
	const void *at = (const char *)conf + field->offset;
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
	if (field->form != NULL || (field->type != FIELD_WORD && field->type != FIELD_WORDS)) {
		fputs(field->form != NULL ? field->form : value_kind(field->type)->kind, out);
		return;
	}
	for (uint32_t i = 0; field->words[i] != NULL; i++)
		fprintf(out, "%s%s", i == 0 ? "" : "|", field->words[i]);
	if (field->type == FIELD_WORDS)
		fputs(",...", out);
}
