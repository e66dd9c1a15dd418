/* SPDX-License-Identifier: BSD-3-Clause */
#include "netem/netem_unit.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "simtime.h"
#include "text/quantity.h"

struct scale {
	const char *name;
	double factor;
};

/* Parses a number that is not negative. Returns the text behind it; NULL if there is none. */
static const char *number(const char *text, double *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return NULL;
	*value = strtod(text, &end);
	return end > text && isfinite(*value) ? end : NULL;
}

/* Parses a number with one of the units; "" is the unit of a bare number. */
static bool scaled(const char *text, const struct scale *scales, double most, uint64_t *result)
{
	double value;
	const char *unit = number(text, &value);

	for (; unit && scales->name; scales++) {
		if (strcasecmp(unit, scales->name) != 0)
			continue;
		value = rint(value * scales->factor);
		if (value > most)
			return false;
		*result = (uint64_t)value;
		return true;
	}
	return false;
}

bool netem_unit_time(const char *text, uint64_t bare_ns, uint64_t *ns)
{
	const struct scale scales[] = {
	        {"", (double)bare_ns}, {"s", 1e9},     {"sec", 1e9},   {"secs", 1e9},
	        {"ms", 1e6},           {"msec", 1e6},  {"msecs", 1e6}, {"us", 1e3},
	        {"usec", 1e3},         {"usecs", 1e3}, {"ns", 1},      {"nsec", 1},
	        {"nsecs", 1},          {NULL, 0},
	};

	return scaled(text, scales, (double)DELAY_MAX_NS, ns);
}

bool netem_unit_percent(const char *text, probability_q63 *value)
{
	char percent[64];
	double number_value;
	const char *end = number(text, &number_value);

	if (!end || (strcmp(end, "%") != 0 && *end != 0) || (size_t)(end - text) > 40)
		return false;
	snprintf(percent, sizeof(percent), "%s%.*s%%", *text == '.' ? "0" : "", (int)(end - text),
	         text);
	return probability_parse(percent, value) == PROBABILITY_OK;
}

bool netem_unit_rate(const char *text, uint64_t *bps)
{
	static const struct scale scales[] = {
	        {"", 1},           {"bit", 1},
	        {"kibit", 0x1p10}, {"kbit", 1e3},
	        {"mibit", 0x1p20}, {"mbit", 1e6},
	        {"gibit", 0x1p30}, {"gbit", 1e9},
	        {"tibit", 0x1p40}, {"tbit", 1e12},
	        {"bps", 8},        {"kibps", 8 * 0x1p10},
	        {"kbps", 8e3},     {"mibps", 8 * 0x1p20},
	        {"mbps", 8e6},     {"gibps", 8 * 0x1p30},
	        {"gbps", 8e9},     {"tibps", 8 * 0x1p40},
	        {"tbps", 8e12},    {NULL, 0},
	};

	return scaled(text, scales, 0x1p63, bps);
}

bool netem_unit_size(const char *text, uint64_t *bytes)
{
	static const struct scale scales[] = {
	        {"", 1},         {"b", 1},         {"k", 0x1p10},    {"kb", 0x1p10},
	        {"m", 0x1p20},   {"mb", 0x1p20},   {"g", 0x1p30},    {"gb", 0x1p30},
	        {"kbit", 0x1p7}, {"mbit", 0x1p17}, {"gbit", 0x1p27}, {NULL, 0},
	};

	return scaled(text, scales, UINT32_MAX, bytes);
}

bool netem_unit_whole(const char *text, int64_t min, int64_t max, int64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) && text[0] != '-')
		return false;
	errno = 0;
	*value = strtoll(text, &end, 0);
	return errno == 0 && end > text && *end == 0 && *value >= min && *value <= max;
}
