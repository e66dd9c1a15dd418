/* SPDX-License-Identifier: BSD-3-Clause */
#include "netem/netem_value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "simtime.h"
#include "text/quantity.h"
#include "text/word.h"

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

static int words_of(const char *path, char *words, size_t room, struct language_error *error)
{
	FILE *out = fmemopen(words, room, "w");

	if (!out)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for a statement");
	fputs(" distribution table ", out);
	word_print(out, path, false);
	if (fclose(out) == 0)
		return 0;
	return language_error_set(error, ERROR_TOO_LONG, "the table's name is too long");
}

int netem_table_words(const char *name, char *words, size_t room, struct language_error *error)
{
	const char *const folders[] = {
	        getenv("TC_LIB_DIR"),
	        "/usr/lib/tc",
	        "/usr/lib/x86_64-linux-gnu/tc",
	        "/usr/lib/aarch64-linux-gnu/tc",
	        "/usr/lib64/tc",
	        "/usr/share/tc",
	};
	size_t length = strlen(name);
	char path[400];

	if (length > 256)
		return language_error_set(error, ERROR_TOO_LONG,
		                          "the name of a table has at most 256 bytes");
	if (strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".dist") == 0))
		return words_of(name, words, room, error);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (!folders[i])
			continue;
		snprintf(path, sizeof(path), "%s/%s.dist", folders[i], name);
		if (access(path, R_OK) == 0)
			return words_of(path, words, room, error);
	}
	return language_error_set(
	        error, ERROR_BAD_VALUE,
	        "there is no table `%.*s` where tc keeps its tables; `uniform`, `normal`, `pareto` "
	        "and `paretonormal` need none; write a file as ./%.*s.dist",
	        SHOWN(name), SHOWN(name));
}

#define NODES      6000
#define NORMAL     0.98 /* from this correlation on, F is taken as normal */
#define LEAST      1e-15
#define ROUNDS_MAX 400
#define CHANGE     1e-8

/* The lower half of F: node i is at LEAST * ratio^i, the last at 1/2. */
struct solution {
	double at[NODES], f[NODES], integral[NODES]; /* of F from 0 */
	double log_ratio;
};

/* Returns the integral of F from 0 to z. */
static double area(const struct solution *s, double z)
{
	double along;
	int i;

	if (z <= LEAST)
		return 0;
	if (z >= 1)
		return z - 0.5;
	if (z > 0.5)
		return z - 0.5 + area(s, 1 - z);
	i = (int)(log(z / LEAST) / s->log_ratio);
	if (i >= NODES - 1)
		return s->integral[NODES - 1];
	along = z - s->at[i];
	return s->integral[i] +
	       along * (s->f[i] + (s->f[i + 1] - s->f[i]) * along / (s->at[i + 1] - s->at[i]) / 2);
}

/* Does one iteration. Returns true if F has changed. */
static bool improve(struct solution *s, double correlation, double *next)
{
	double rest = 1 - correlation, change = 0;

	for (int i = 0; i < NODES; i++) {
		double p = s->at[i];

		next[i] = correlation / rest *
		          (area(s, p / correlation) - area(s, (p - rest) / correlation));
		change = fmax(change, fabs(next[i] - s->f[i]) / fmax(s->f[i], LEAST));
	}
	for (int i = 0; i < NODES; i++)
		s->f[i] = next[i];
	return change > CHANGE;
}

static double value(const struct solution *s, double p)
{
	double place;
	int i;

	if (p > 0.5)
		return 1 - value(s, 1 - p);
	if (p <= LEAST)
		return 0;
	place = log(p / LEAST) / s->log_ratio;
	i = (int)place;
	if (i >= NODES - 1)
		return s->f[NODES - 1];
	return s->f[i] + (s->f[i + 1] - s->f[i]) * (p - s->at[i]) / (s->at[i + 1] - s->at[i]);
}

static double visible(double rate)
{
	return rate < 1e-12 ? 0 : rate;
}

double netem_rate(double p, double correlation)
{
	struct solution *s;
	double deviation = sqrt((1 - correlation) / (1 + correlation) / 12);
	double next[NODES], rate;

	if (p <= 0 || p >= 1 || correlation <= 0 || correlation >= 1)
		return p;
	/* x is then a sum of so many terms that it is almost normal, and the grid is too coarse for
	 * it. */
	if (correlation > NORMAL)
		return visible(erfc((0.5 - p) / deviation / M_SQRT2) / 2);
	s = malloc(sizeof(*s));
	if (!s)
		return p;
	s->log_ratio = log(0.5 / LEAST) / (NODES - 1);
	for (int i = 0; i < NODES; i++)
		s->f[i] = s->at[i] = LEAST * exp(i * s->log_ratio);
	for (int round = 0; round < ROUNDS_MAX; round++) {
		s->integral[0] = s->f[0] * s->at[0] / 2;
		for (int i = 1; i < NODES; i++)
			s->integral[i] = s->integral[i - 1] +
			                 (s->f[i] + s->f[i - 1]) / 2 * (s->at[i] - s->at[i - 1]);
		if (!improve(s, correlation, next))
			break;
	}
	rate = value(s, p);
	free(s);
	return visible(rate);
}
