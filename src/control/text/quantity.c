/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/quantity.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "scenario/field.h"
#include "simtime.h"

#define PLACES_MAX 20 /* a byte is 2^-20 MiB, which has 20 digits behind the point */

typedef unsigned __int128 wide;

const struct unit units_time[] = {
        {"ns", 1}, {"us", SIMTIME_US}, {"ms", SIMTIME_MS}, {"s", SIMTIME_S}, {NULL, 0},
};
const struct unit units_rate[] = {
        {"bit", 1}, {"kbit", 1000}, {"mbit", 1000000}, {"gbit", 1000000000}, {NULL, 0},
};
const struct unit units_bytes[] = {
        {"B", 1}, {"kB", 1000}, {"KiB", 1024}, {"MB", 1000000}, {"MiB", 1048576}, {NULL, 0},
};
const struct unit units_packets[] = {
        {"pkt", 1},
        {NULL, 0},
};
const struct unit units_factor[] = {
        {"", FACTOR_ONE},
        {NULL, 0},
};

bool decimal_scan(const char *text, struct decimal *decimal)
{
	const char *at = text;
	uint32_t zeros = 0;

	memset(decimal, 0, sizeof(*decimal));
	if (!isdigit((unsigned char)*at))
		return false;
	for (; isdigit((unsigned char)*at); at++) {
		wide next = (wide)decimal->whole * 10 + (wide)(*at - '0');

		decimal->huge |= next > UINT64_MAX;
		decimal->whole = (uint64_t)next;
	}
	decimal->rest = at;
	if (*at != '.')
		return true;
	if (!isdigit((unsigned char)at[1]))
		return false;
	for (at++; isdigit((unsigned char)*at); at++) {
		if (*at == '0') {
			zeros++;
			continue;
		}
		if (decimal->places + zeros + 1 > PLACES_MAX) {
			decimal->long_fraction = true;
			continue;
		}
		decimal->places += zeros + 1;
		for (; zeros > 0; zeros--)
			decimal->fraction *= 10;
		decimal->fraction = decimal->fraction * 10 + (wide)(*at - '0');
	}
	decimal->rest = at;
	return true;
}

const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++) {
		if (strcmp(units->name, name) == 0)
			return units;
	}
	return NULL;
}

static wide power_of_ten(uint32_t exponent)
{
	wide power = 1;

	while (exponent-- > 0)
		power *= 10;
	return power;
}

enum quantity_result quantity_value(const struct decimal *decimal, const struct unit *unit,
                                    uint64_t *value)
{
	wide scaled = decimal->fraction * unit->factor, ten = power_of_ten(decimal->places);
	wide sum;

	if (decimal->huge)
		return QUANTITY_HUGE;
	if (decimal->long_fraction || scaled % ten != 0)
		return QUANTITY_TOO_FINE;
	sum = (wide)decimal->whole * unit->factor + scaled / ten;
	if (sum > UINT64_MAX)
		return QUANTITY_HUGE;
	*value = (uint64_t)sum;
	return QUANTITY_OK;
}

/* Prints value / factor exactly, with the unit. Returns the number of digits in the fraction. The
 * fraction is finite because a factor divides 10^PLACES_MAX. */
static uint32_t print_in(uint64_t value, const struct unit *unit, char text[QUANTITY_TEXT_BYTES])
{
	char digits[PLACES_MAX];
	uint64_t rest = value % unit->factor;
	uint32_t n = 0;

	for (; rest != 0; n++) {
		wide ten_times = (wide)rest * 10;

		digits[n] = (char)('0' + (int)(ten_times / unit->factor));
		rest = (uint64_t)(ten_times % unit->factor);
	}
	snprintf(text, QUANTITY_TEXT_BYTES, "%" PRIu64 "%s%.*s%s", value / unit->factor,
	         n > 0 ? "." : "", (int)n, digits, unit->name);
	return n;
}

void quantity_print(uint64_t value, const struct unit *units, char text[QUANTITY_TEXT_BYTES])
{
	uint32_t places = print_in(value, units, text);

	for (units++; units->name && (value == 0 || value >= units->factor); units++) {
		char other[QUANTITY_TEXT_BYTES];
		uint32_t other_places = print_in(value, units, other);
		size_t length = strlen(text), other_length = strlen(other);

		if (other_length < length ||
		    (other_length == length && (other_places == 0 || places > 0))) {
			memcpy(text, other, sizeof(other));
			places = other_places;
		}
	}
}

/* ---- probabilities ---- */

#define DIGITS_MIN_FULL  UINT64_C(1000000000000000000) /* from here on, the number has 19 digits */
#define SHARE_PLACES_MAX 19                            /* 10^-19 is finer than 2^-63 */
#define EXPONENT_MAX     1000
#define ZEROS_MAX        4096 /* a line has no more digits */

/* number = digits * 10^exponent */
struct scientific {
	uint64_t digits; /* less than 10^19 */
	int exponent;
	bool too_many; /* digits other than 0 were left out */
};

static const char *scan_digits(const char *at, struct scientific *number, bool fraction)
{
	for (; isdigit((unsigned char)*at); at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (number->digits >= DIGITS_MIN_FULL) {
			number->too_many |= digit != 0;
			number->exponent += !fraction && number->exponent < ZEROS_MAX;
			continue;
		}
		number->digits = number->digits * 10 + digit;
		number->exponent -= fraction && number->exponent > -ZEROS_MAX;
	}
	return at;
}

/* Parses what follows e or E. Returns false if that is no exponent. */
static bool scan_exponent(const char *at, struct scientific *number, const char **rest)
{
	bool negative = *at == '-';
	int exponent = 0;

	at += *at == '-' || *at == '+';
	if (!isdigit((unsigned char)*at))
		return false;
	for (; isdigit((unsigned char)*at); at++) {
		if (exponent < EXPONENT_MAX)
			exponent = exponent * 10 + (*at - '0');
	}
	number->exponent += negative ? -exponent : exponent;
	*rest = at;
	return true;
}

static bool scan(const char *text, struct scientific *number)
{
	const char *at = text;

	memset(number, 0, sizeof(*number));
	if (!isdigit((unsigned char)*at))
		return false;
	at = scan_digits(at, number, false);
	if (*at == '.') {
		if (!isdigit((unsigned char)at[1]))
			return false;
		at = scan_digits(at + 1, number, true);
	}
	if ((*at == 'e' || *at == 'E') && !scan_exponent(at + 1, number, &at))
		return false;
	if (*at == '%') {
		number->exponent -= 2;
		at++;
	}
	while (number->digits != 0 && number->digits % 10 == 0) {
		number->digits /= 10;
		number->exponent++;
	}
	return *at == 0;
}

/* Returns digits / 10^places, rounded to a multiple of 2^-63; digits < 10^19, places <= 38. */
static uint64_t nearest_q63(uint64_t digits, uint32_t places)
{
	wide one = power_of_ten(places);

	return (uint64_t)((((wide)digits << 63) + one / 2) / one);
}

/* Scans a number from 0 to 1, and counts its decimal places. */
static enum probability_result scan_share(const char *text, struct scientific *number,
                                          uint32_t *places)
{
	if (!scan(text, number))
		return PROBABILITY_NO_NUMBER;
	*places = number->digits == 0 ? 0 : (uint32_t)-number->exponent;
	if (number->digits == 0)
		return PROBABILITY_OK;
	if (number->exponent > 0 ||
	    (number->exponent == 0 && (number->digits > 1 || number->too_many)) ||
	    (*places <= SHARE_PLACES_MAX && number->digits > power_of_ten(*places)))
		return PROBABILITY_OVER_ONE;
	return PROBABILITY_OK;
}

enum probability_result probability_parse(const char *text, probability_q63 *value)
{
	struct scientific number;
	uint32_t places;
	enum probability_result result = scan_share(text, &number, &places);

	if (result != PROBABILITY_OK)
		return result;
	if (number.digits == 0) {
		*value = 0;
		return PROBABILITY_OK;
	}
	/* With 19 digits and more than 38 places it is below 10^-20, which rounds to 0 as well. */
	if (number.too_many || places > 38 || nearest_q63(number.digits, places) == 0)
		return PROBABILITY_TOO_FINE;
	*value = nearest_q63(number.digits, places);
	return PROBABILITY_OK;
}

/* Prints digits * 10^exponent in percent, without a power of ten. */
static void print_plain(uint64_t digits, int exponent, char *text)
{
	char all[24];
	int n = snprintf(all, sizeof(all), "%" PRIu64, digits), whole = n + exponent;

	if (exponent >= 0)
		snprintf(text, PROBABILITY_TEXT_BYTES, "%s%.*s%%", all, digits ? exponent : 0,
		         "00");
	else if (whole > 0)
		snprintf(text, PROBABILITY_TEXT_BYTES, "%.*s.%s%%", whole, all, all + whole);
	else
		snprintf(text, PROBABILITY_TEXT_BYTES, "0.%.*s%s%%", -whole, "000000", all);
}

/* Prints digits / 10^places in percent, or as a power of ten if it is below 0.0001 %. */
static void print_decimal(uint64_t digits, uint32_t places, char *text)
{
	char all[24];
	int n;

	if (digits == 0 || (wide)digits * 1000000 >= power_of_ten(places)) {
		print_plain(digits, 2 - (int)places, text);
		return;
	}
	n = snprintf(all, sizeof(all), "%" PRIu64, digits);
	snprintf(text, PROBABILITY_TEXT_BYTES, "%c%s%se-%d", all[0], n > 1 ? "." : "", all + 1,
	         (int)places - (n - 1));
}

void probability_print(probability_q63 value, char text[PROBABILITY_TEXT_BYTES])
{
	uint32_t places = 0;
	uint64_t digits;

	for (;; places++) {
		digits = (uint64_t)(((wide)value * power_of_ten(places) + (PROBABILITY_ONE >> 1)) >>
		                    63);
		if (places == SHARE_PLACES_MAX || nearest_q63(digits, places) == value)
			break;
	}
	print_decimal(digits, places, text);
}

enum probability_result ratio_parse(const char *text, struct ratio *ratio)
{
	struct scientific number;
	uint32_t places;
	enum probability_result result = scan_share(text, &number, &places);

	if (result != PROBABILITY_OK)
		return result;
	if (number.too_many || places > RATIO_PLACES_MAX)
		return PROBABILITY_TOO_FINE;
	*ratio = (struct ratio){.digits = number.digits, .places = places};
	return PROBABILITY_OK;
}

void ratio_print(const struct ratio *ratio, char text[PROBABILITY_TEXT_BYTES])
{
	print_decimal(ratio->digits, ratio->places, text);
}
