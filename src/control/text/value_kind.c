/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/value_kind.h"

#include <stdio.h>
#include <string.h>

static const struct value_kind kinds[] = {
        [FIELD_TIME] = {"a time", "TIME", "ns, us, ms or s", "ms", {units_time}},
        [FIELD_RATE] = {"a rate", "RATE", "bit, kbit, mbit or gbit", "mbit", {units_rate}},
        [FIELD_BYTES] = {"a size", "SIZE", "B, kB, MB, KiB or MiB", "kB", {units_bytes}},
        [FIELD_LIMIT] = {"a limit",
                         "LIMIT",
                         "B, kB, MB, KiB or MiB, pkt, or ns, us, ms or s",
                         "kB",
                         {units_bytes, units_packets, units_time}},
        [FIELD_PROBABILITY] = {"a probability", "PROBABILITY", "", "", {0}},
        [FIELD_COUNT] = {"a count", "N", "", "", {0}},
        [FIELD_WORD] = {"a word", "", "", "", {0}},
        [FIELD_SWITCH] = {"a switch", "on|off", "", "", {0}},
        [FIELD_FLAG] = {"a flag", "", "", "", {0}},
        [FIELD_IPV4] = {"an IPv4 address", "IPV4", "", "", {0}},
        [FIELD_IPV6] = {"an IPv6 address", "IPV6", "", "", {0}},
        [FIELD_TEXT] = {"a text", "TEXT", "", "", {0}},
        [FIELD_RATIO] = {"a probability", "PROBABILITY", "", "", {0}},
        [FIELD_RANGE] = {"a range", "N..N", "", "", {0}},
        [FIELD_NUMBERS] = {"a list of numbers", "N,N...", "", "", {0}},
        [FIELD_WORDS] = {"a list of words", "", "", "", {0}},
        [FIELD_FILE] = {"a file", "FILE", "", "", {0}},
        [FIELD_RATES] =
                {"two rates", "RATE..RATE", "bit, kbit, mbit or gbit", "mbit", {units_rate}},
        [FIELD_TIMES] = {"two times", "TIME..TIME", "ns, us, ms or s", "ms", {units_time}},
        [FIELD_PROBABILITIES] = {"two probabilities", "PROBABILITY..PROBABILITY", "", "", {0}},
        [FIELD_ORDERS] = {"statements", "STATEMENT [and STATEMENT...]", "", "", {0}},
        [FIELD_STATES] = {"states",
                          "NAME TIME [to NAME PROBABILITY...] [STATEMENT [and STATEMENT...]] then "
                          "NAME TIME...",
                          "",
                          "",
                          {0}},
        [FIELD_FACTOR] = {"a number", "NUMBER", "", "", {0}},
};

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
	if (type == FIELD_RATES)
		return FIELD_RATE;
	return type == FIELD_TIMES ? FIELD_TIME : FIELD_PROBABILITY;
}

enum limit_unit value_limit_unit(int index)
{
	static const enum limit_unit units[] = {LIMIT_BYTES, LIMIT_PACKETS, LIMIT_TIME};

	return units[index];
}
