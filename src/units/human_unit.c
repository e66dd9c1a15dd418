/* SPDX-License-Identifier: BSD-3-Clause */
#include "units/human_unit.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DECIMALS_MAX 9
#define INTEGER_MAX                                                                                \
	1e15 /* doubles up to here hold every integer, and the product below fits 64 bits after    \
	        the check */

static const double powers[DECIMALS_MAX + 1] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

static int decimal_exponent(double value)
{
	int exponent = 0;

	if (value < 1 || value >= powers[DECIMALS_MAX])
		return (int)floor(log10(value));
	while (value >= powers[exponent + 1])
		exponent++;
	return exponent;
}

/* Adds to the text that ends at `at`, as far as there is room up to `end`. Returns its end. With
 * snprintf, `weir ctl explain` takes an eighth more of a processor (tests/speed/explaining.py). */
static char *add_text(char *at, const char *end, const char *text)
{
	while (*text && at + 1 < end)
		*at++ = *text++;
	*at = '\0';
	return at;
}

/* Adds `value`, with at least `digits` digits. */
static char *add_digits(char *at, const char *end, unsigned long long value, unsigned digits)
{
	char text[24], *from = text + sizeof(text) - 1;

	*from = '\0';
	do {
		*--from = (char)('0' + value % 10);
		value /= 10;
		digits -= digits > 0;
	} while (value > 0 || digits > 0);
	return add_text(at, end, from);
}

static void trim_zeros(char *buf)
{
	if (strchr(buf, '.') == NULL)
		return;
	size_t len = strlen(buf);
	while (buf[len - 1] == '0')
		len--;
	if (buf[len - 1] == '.')
		len--;
	buf[len] = '\0';
}

void decimal_fixed(char *buf, size_t size, double value, unsigned decimals)
{
	if (!isfinite(value)) {
		snprintf(buf, size, "n/a");
		return;
	}
	double magnitude = fabs(value);
	if (magnitude >= INTEGER_MAX) {
		decimal_scientific(buf, size, value, 3);
		return;
	}
	if (decimals > DECIMALS_MAX)
		decimals = DECIMALS_MAX;
	for (; decimals > 0; decimals--)
		if (magnitude * powers[decimals] < INTEGER_MAX)
			break;
	unsigned long long scaled = (unsigned long long)llround(magnitude * powers[decimals]);
	unsigned long long unit = (unsigned long long)powers[decimals];
	const char *end = buf + size;
	char *at = add_text(buf, end, value < 0 && scaled > 0 ? "-" : "");
	at = add_digits(at, end, scaled / unit, 1);
	if (decimals > 0)
		add_digits(add_text(at, end, "."), end, scaled % unit, decimals);
}

void decimal_short(char *buf, size_t size, double value, unsigned digits)
{
	int decimals = 0;
	if (isfinite(value) && value != 0)
		decimals = (int)digits - 1 - decimal_exponent(fabs(value));
	if (decimals < 0)
		decimals = 0;
	decimal_fixed(buf, size, value, (unsigned)decimals);
	if (fabs(value) < INTEGER_MAX)
		trim_zeros(buf);
}

static void superscript(char *buf, size_t size, int exponent)
{
	static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
	char plain[16];
	snprintf(plain, sizeof(plain), "%d", exponent);
	size_t used = 0;
	for (const char *c = plain; *c != '\0'; c++) {
		const char *s = *c == '-' ? "⁻" : digit[*c - '0'];
		size_t len = strlen(s);
		if (used + len >= size)
			break;
		memcpy(buf + used, s, len);
		used += len;
	}
	buf[used] = '\0';
}

void decimal_scientific(char *buf, size_t size, double value, unsigned digits)
{
	if (!isfinite(value)) {
		snprintf(buf, size, "n/a");
		return;
	}
	if (value == 0) {
		snprintf(buf, size, "0");
		return;
	}
	int exponent = decimal_exponent(fabs(value));
	/* In two steps, because 10^-exponent of a subnormal would overflow. */
	int half = exponent / 2;
	double mantissa = value / pow(10, half) / pow(10, exponent - half);
	char factor[DECIMAL_SIZE], power[DECIMAL_SIZE];
	decimal_short(factor, sizeof(factor), mantissa, digits);
	if (strcmp(factor, "10") == 0 || strcmp(factor, "-10") == 0) { /* 9.999 rounds up */
		exponent++;
		decimal_short(factor, sizeof(factor), mantissa < 0 ? -1 : 1, digits);
	}
	superscript(power, sizeof(power), exponent);
	bool one = strcmp(factor, "1") == 0;
	snprintf(buf, size, "%.12s%s10%.30s", one ? "" : factor, one ? "" : "×", power);
}

#define PREFIXES_MAX 6

/* Ascending; the first is also used for anything smaller. A row ends at its first nameless entry.
 */
static const struct human_prefix prefixes[][PREFIXES_MAX] = {
        [HUMAN_PLAIN] = {{1, "", ""}},
        [HUMAN_NS] = {{1, "ns", " "}, {1e3, "µs", " "}, {1e6, "ms", " "}, {1e9, "s", " "}},
        [HUMAN_BPS] = {{1, "bit/s", " "},
                       {1e3, "kbit/s", " "},
                       {1e6, "Mbit/s", " "},
                       {1e9, "Gbit/s", " "},
                       {1e12, "Tbit/s", " "}},
        [HUMAN_PPS] = {{1, "pps", " "}, {1e3, "kpps", " "}, {1e6, "Mpps", " "}, {1e9, "Gpps", " "}},
        [HUMAN_BYTES] = {{1, "B", " "},
                         {1e3, "kB", " "},
                         {1e6, "MB", " "},
                         {1e9, "GB", " "},
                         {1e12, "TB", " "}},
        [HUMAN_COUNT] =
                {{1, "", ""}, {1e3, "k", ""}, {1e6, "M", ""}, {1e9, "G", ""}, {1e12, "T", ""}},
        [HUMAN_PERCENT] = {{0.01, "%", ""}},
        [HUMAN_NS_AS_US] = {{1e3, "µs", " "}},
        [HUMAN_NS_AS_MS] = {{1e6, "ms", " "}},
        [HUMAN_NS_AS_S] = {{1e9, "s", " "}},
        [HUMAN_BPS_AS_KBPS] = {{1e3, "kbit/s", " "}},
        [HUMAN_BPS_AS_MBPS] = {{1e6, "Mbit/s", " "}},
        [HUMAN_BPS_AS_GBPS] = {{1e9, "Gbit/s", " "}},
        [HUMAN_BYTES_AS_KB] = {{1e3, "kB", " "}},
        [HUMAN_BYTES_AS_MB] = {{1e6, "MB", " "}},
};

/* Ascending for each unit; `one` is used from the value `from` on. */
static const struct {
	enum human_unit unit, one;
	double from;
} ones[] = {
        {HUMAN_NS, HUMAN_NS_AS_US, 1e3},       {HUMAN_NS, HUMAN_NS_AS_MS, 1e6},
        {HUMAN_NS, HUMAN_NS_AS_S, 1e10},       {HUMAN_BPS, HUMAN_BPS_AS_KBPS, 1e3},
        {HUMAN_BPS, HUMAN_BPS_AS_MBPS, 1e6},   {HUMAN_BPS, HUMAN_BPS_AS_GBPS, 1e9},
        {HUMAN_BYTES, HUMAN_BYTES_AS_KB, 1e3}, {HUMAN_BYTES, HUMAN_BYTES_AS_MB, 1e6},
};

const struct human_prefix *human_unit_prefix(enum human_unit unit, double magnitude,
                                             unsigned digits)
{
	const struct human_prefix *row = prefixes[unit], *best = row;
	/* 999.96 rounded to three digits is 1000, which belongs to the next prefix. */
	double rounded =
	        fabs(magnitude) * (1 + 0.5 / powers[digits < DECIMALS_MAX ? digits : DECIMALS_MAX]);
	for (size_t i = 1; i < PREFIXES_MAX && row[i].name != NULL; i++)
		if (rounded >= row[i].factor)
			best = &row[i];
	return best;
}

enum human_unit human_unit_one(enum human_unit unit, double most)
{
	enum human_unit one = unit;

	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++) {
		if (ones[i].unit == unit && most >= ones[i].from)
			one = ones[i].one;
	}
	return one;
}

void human_unit_format(char *buf, size_t size, enum human_unit unit, double value, unsigned digits)
{
	const struct human_prefix *prefix = human_unit_prefix(unit, value, digits);
	double magnitude = fabs(value);
	if (unit == HUMAN_PLAIN && magnitude != 0 && (magnitude >= 1e6 || magnitude < 1e-4))
		decimal_scientific(buf, size, value, digits);
	else
		decimal_short(buf, size, value / prefix->factor, digits);
	if (!isfinite(value))
		return;
	add_text(add_text(buf + strlen(buf), buf + size, prefix->gap), buf + size, prefix->name);
}

struct human_of human_of(enum human_unit unit, double value, unsigned digits)
{
	struct human_of of;

	human_unit_format(of.text, sizeof(of.text), unit, value, digits);
	return of;
}

void text_add(char *text, size_t room, const char *format, ...)
{
	const size_t at = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + at, room - at, format, arguments);
	va_end(arguments);
}
