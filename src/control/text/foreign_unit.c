/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/foreign_word.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "simtime.h"

enum prefixes { NO_PREFIX, DECIMAL, BINARY, EITHER };

/* An `other` of 0: there is no second reading. */
struct spelling {
	const char *name; /* as it is written behind the prefix */
	enum prefixes prefixes;
	bool taken;
	uint64_t factor, other;
	const char *note;
};

#define TC "; tc counts bytes with it"

/* With the prefix k, M or G, or without one; BINARY and "" need a prefix. */
static const struct spelling rates[] = {
        {"bit/s", DECIMAL, true, 1, 0, NULL},    {"bit", DECIMAL, true, 1, 0, NULL},
        {"bits", DECIMAL, false, 1, 0, NULL},    {"bits/s", DECIMAL, false, 1, 0, NULL},
        {"bit/sec", DECIMAL, false, 1, 0, NULL}, {"b", DECIMAL, false, 1, 0, NULL},
        {"b/s", DECIMAL, false, 1, 0, NULL},     {"", DECIMAL, false, 1, 0, NULL},
        {"bps", DECIMAL, false, 1, 8, TC},       {"Bps", DECIMAL, false, 8, 0, NULL},
        {"BPS", DECIMAL, false, 1, 8, TC},       {"B", DECIMAL, false, 8, 0, NULL},
        {"B/s", DECIMAL, false, 8, 0, NULL},     {"iB/s", BINARY, false, 8, 0, NULL},
        {"ibit", BINARY, false, 1, 0, NULL},     {NULL, 0, false, 0, 0, NULL},
};

static const struct spelling sizes[] = {
        {"byte", EITHER, false, 1, 0, NULL}, {"bytes", EITHER, false, 1, 0, NULL},
        {"b", EITHER, false, 1, 0, NULL},    {"B", EITHER, false, 1, 0, NULL},
        {"", EITHER, false, 1, 0, NULL},     {"iB", BINARY, false, 1, 0, NULL},
        {"ib", BINARY, false, 1, 0, NULL},   {NULL, 0, false, 0, 0, NULL},
};

#define TIME(name, ns)                                                                             \
	{                                                                                          \
		name, NO_PREFIX, false, ns, 0, NULL                                                \
	}
#define TAKEN_TIME(name, ns)                                                                       \
	{                                                                                          \
		name, NO_PREFIX, true, ns, 0, NULL                                                 \
	}
static const struct spelling times[] = {
        TIME("nsec", 1),
        TIME("nsecs", 1),
        TIME("usec", SIMTIME_US),
        TIME("usecs", SIMTIME_US),
        TIME("\xc2\xb5s", SIMTIME_US), /* the micro sign */
        TIME("\xce\xbcs", SIMTIME_US), /* the Greek letter */
        TIME("msec", SIMTIME_MS),
        TIME("msecs", SIMTIME_MS),
        TIME("millis", SIMTIME_MS),
        TIME("sec", SIMTIME_S),
        TIME("secs", SIMTIME_S),
        TIME("seconds", SIMTIME_S),
        TAKEN_TIME("min", 60 * SIMTIME_S),
        TIME("mins", 60 * SIMTIME_S),
        TIME("minutes", 60 * SIMTIME_S),
        TAKEN_TIME("h", 3600 * SIMTIME_S),
        TIME("hours", 3600 * SIMTIME_S),
        {NULL, 0, false, 0, 0, NULL},
};

#define PACKETS(name)                                                                              \
	{                                                                                          \
		name, NO_PREFIX, false, 1, 0, NULL                                                 \
	}
static const struct spelling packets[] = {
        PACKETS("p"),       PACKETS("pkts"),   PACKETS("packet"),
        PACKETS("packets"), PACKETS("frames"), {NULL, 0, false, 0, 0, NULL},
};

static const struct {
	const struct unit *units;
	const struct spelling *spellings;
} kinds[] = {
        {units_rate, rates}, {units_bytes, sizes}, {units_time, times}, {units_packets, packets}};

/* Gets the decimal and the binary factor of k, M or G; 1 and 1 for any other prefix. */
static void prefix_factors(char prefix, uint64_t *decimal, uint64_t *binary)
{
	static const char letters[] = "kmg";
	const char *at = prefix ? strchr(letters, tolower((unsigned char)prefix)) : NULL;

	*decimal = *binary = 1;
	for (ptrdiff_t i = 0; at != NULL && i <= at - letters; i++) {
		*decimal *= 1000;
		*binary *= 1024;
	}
}

/* Reads a unit of this spelling behind the prefix; a `prefix` of 0: there is none. Returns false if
 * they do not go together. */
static bool read_as(const struct spelling *spelling, char prefix, struct foreign_unit *unit)
{
	uint64_t decimal, binary;

	prefix_factors(prefix, &decimal, &binary);
	if ((decimal == 1) != (prefix == 0) || (prefix && spelling->prefixes == NO_PREFIX) ||
	    (!prefix && (spelling->prefixes == BINARY || *spelling->name == 0)))
		return false;
	unit->taken = spelling->taken;
	unit->note = spelling->note ? spelling->note : "";
	unit->n = 0;
	unit->factor[unit->n++] =
	        spelling->factor * (spelling->prefixes == BINARY ? binary : decimal);
	if (prefix && spelling->prefixes == EITHER)
		unit->factor[unit->n++] = spelling->factor * binary;
	else if (spelling->other)
		unit->factor[unit->n++] = spelling->other * decimal;
	return true;
}

bool foreign_unit_find(const struct unit *units, const char *name, struct foreign_unit *unit)
{
	const struct spelling *spelling = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].units == units)
			spelling = kinds[i].spellings;
	}
	unit->units = units;
	for (; *name && spelling && spelling->name; spelling++) {
		if ((strcmp(name, spelling->name) == 0 && read_as(spelling, 0, unit)) ||
		    (strcmp(name + 1, spelling->name) == 0 && read_as(spelling, *name, unit)))
			return true;
	}
	return false;
}

uint32_t foreign_unit_readings(const struct foreign_unit *unit, const struct decimal *decimal,
                               char text[FOREIGN_READINGS_MAX][QUANTITY_TEXT_BYTES])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < unit->n; i++) {
		const struct unit reading = {.name = "", .factor = unit->factor[i]};
		uint64_t value;

		if (quantity_value(decimal, &reading, &value) == QUANTITY_OK)
			quantity_print(value, unit->units, text[n++]);
	}
	return n;
}
