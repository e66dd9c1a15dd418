/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/decimal.h"

#include <math.h>
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
	return (int)floor(log10(value));
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
	const char *sign = value < 0 && scaled > 0 ? "-" : "";
	if (decimals == 0)
		snprintf(buf, size, "%s%llu", sign, scaled);
	else
		snprintf(buf, size, "%s%llu.%0*llu", sign, scaled / unit, (int)decimals,
		         scaled % unit);
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
