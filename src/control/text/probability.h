/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probabilities as text: `0.1%`, `0.001`, `1e-9`. The value is the multiple of 2^-63 that is
 * nearest to the decimal number, by integer arithmetic.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_PROBABILITY_H
#define WEIR_PROBABILITY_H

#include "random/draw.h"
#include "scenario/field.h"

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
