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
	PROBABILITY_TOO_FINE, /* not 0, and less than half of 2^-63; or more than 37 digits */
};
enum probability_result probability_parse(const char *text, probability_q63 *value);

/* The decimal number itself, for a FIELD_RATIO: too fine is what has more than RATIO_PLACES_MAX
 * places or more than 19 digits. */
enum probability_result ratio_parse(const char *text, struct ratio *ratio);

#define PROBABILITY_TEXT_BYTES 48
/* With as few digits as parse back to the same value; percent from 0.0001 % on, else 1e-9. */
void probability_print(probability_q63 value, char text[PROBABILITY_TEXT_BYTES]);
/* The same of a decimal number, exactly. */
void ratio_print(const struct ratio *ratio, char text[PROBABILITY_TEXT_BYTES]);

#endif
