/* SPDX-License-Identifier: BSD-3-Clause */
#include "random/bit_error.h"

#include <string.h>

/* Returns a b, rounded down; a, b <= 1. */
static probability_q127 product(probability_q127 a, probability_q127 b)
{
	uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a;
	uint64_t b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
	/* The upper halves are at most 2^63, so the sum does not overflow. */
	probability_q127 middle = (probability_q127)a1 * b0 + (probability_q127)a0 * b1 +
	                          (((probability_q127)a0 * b0) >> 64);

	return (((probability_q127)a1 * b1) << 1) + (middle >> 63);
}

/* Returns the probability of at least one of two independent events. */
static probability_q127 either(probability_q127 a, probability_q127 b)
{
	return a + (b - product(a, b));
}

/* Computes digits / 10^places by long division, one bit a step. */
static probability_q127 from_ratio(const struct ratio *ratio)
{
	unsigned __int128 ten = 1, rest = ratio->digits;
	probability_q127 value = 0;

	for (uint32_t i = 0; i < ratio->places; i++)
		ten *= 10;
	if (rest >= ten)
		return PROBABILITY_Q127_ONE;
	for (int i = 0; i < 127; i++) {
		rest *= 2; /* below 2 x 10^38, which is less than 2^128 */
		value = value * 2 + (rest >= ten);
		rest -= rest >= ten ? ten : 0;
	}
	return value;
}

void bit_error_prepare(struct bit_error *error, const struct ratio *ber)
{
	memset(error, 0, sizeof(*error));
	error->within[0] = from_ratio(ber);
	for (int i = 1; i < BIT_ERROR_POWERS; i++)
		error->within[i] = either(error->within[i - 1], error->within[i - 1]);
}

probability_q127 bit_error_within(const struct bit_error *error, uint64_t bits)
{
	probability_q127 within = 0;

	for (; bits; bits &= bits - 1)
		within = either(within, error->within[__builtin_ctzll(bits)]);
	return within;
}

uint64_t bit_error_gap(const struct bit_error *error, struct draw_key key, uint64_t index,
                       uint32_t lane)
{
	probability_q127 draw = (probability_q127)(draw_u64(key, index, lane) >> 1) << 64 |
	                        draw_u64(key, index, lane + 1);
	probability_q127 within = 0;
	uint64_t gap = 0;
	int i = BIT_ERROR_POWERS - 1;

	/* While `within` is 0, either() returns its argument, so that a comparison suffices. */
	while (i >= 0 && error->within[i] > draw)
		i--;
	for (; i >= 0; i--) {
		probability_q127 further = either(within, error->within[i]);

		if (further <= draw) {
			within = further;
			gap += UINT64_C(1) << i;
		}
	}
	return gap;
}
