/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole numbers of a base unit, written as a decimal number with a unit: 1.5us is 1500 ns.
 *
 * Exact: a text is refused if it is not a whole number of the base unit, or does not fit 64 bits.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_QUANTITY_H
#define WEIR_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random/draw.h"
#include "scenario/field.h"

/* The number at the beginning of a text: digits, optionally a point and digits. */
struct decimal {
	uint64_t whole;
	unsigned __int128 fraction; /* fraction / 10^places */
	uint32_t places;            /* 0 to 20; more set `long_fraction`; no trailing zeros */
	bool huge;                  /* the whole part does not fit 64 bits */
	bool long_fraction;
	const char *rest; /* the text behind the number */
};

/* Parses the number at the beginning of a text. Returns false if there is none. */
bool decimal_scan(const char *text, struct decimal *decimal);

struct unit {
	const char *name;
	uint64_t factor; /* in base units; it divides 10^20 */
};
extern const struct unit units_time[];  /* ns; from small to large, ended by NULL */
extern const struct unit units_rate[];  /* bit/s */
extern const struct unit units_bytes[]; /* B */
extern const struct unit units_packets[];
extern const struct unit units_factor[]; /* millionths, written as a number without a unit */

/* Returns the unit called `name`, or NULL. */
const struct unit *unit_find(const struct unit *units, const char *name);

enum quantity_result { QUANTITY_OK, QUANTITY_HUGE, QUANTITY_TOO_FINE };
enum quantity_result quantity_value(const struct decimal *decimal, const struct unit *unit,
                                    uint64_t *value);

/* Enough for any: 20 digits, a point, 20 digits, the unit, the final 0. */
#define QUANTITY_TEXT_BYTES 48
/* Prints the shortest text that gives the value and does not begin with `0.`. Among texts of equal
 * length, one without a fraction wins, then the one in the larger unit. */
void quantity_print(uint64_t value, const struct unit *units, char text[QUANTITY_TEXT_BYTES]);

/*
 * Probabilities as text: `0.1%`, `0.001`, `1e-9`. The value is the multiple of 2^-63 that is
 * nearest to the decimal number, by integer arithmetic.
 */

enum probability_result {
	PROBABILITY_OK,
	PROBABILITY_NO_NUMBER,
	PROBABILITY_OVER_ONE,
	PROBABILITY_TOO_FINE, /* not 0 but rounds to 0; or more than 19 digits */
};
enum probability_result probability_parse(const char *text, probability_q63 *value);

/* Parses the decimal number itself, for a FIELD_RATIO. A number is too fine if it has more than
 * RATIO_PLACES_MAX places or more than 19 digits. */
enum probability_result ratio_parse(const char *text, struct ratio *ratio);

#define PROBABILITY_TEXT_BYTES 48
/* Prints as few digits as parse back to the same value: in percent from 0.0001 % on, below that
 * like 1e-9. */
void probability_print(probability_q63 value, char text[PROBABILITY_TEXT_BYTES]);
/* Prints a decimal number likewise, exactly. */
void ratio_print(const struct ratio *ratio, char text[PROBABILITY_TEXT_BYTES]);

#endif
