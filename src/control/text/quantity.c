/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/quantity.h"

#include <ctype.h>
#include <inttypes.h>
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
