/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/p_mod.h"

#include <math.h>

struct p_mod p_mod_make(double c1, double c2)
{
	double ratio = c2 / c1;
	struct p_mod mod;
	int exponent;
	double mantissa = frexp(2 * ratio * ratio, &exponent); /* [0.5, 1) */

	mod.mantissa = (uint32_t)(mantissa * 0x1p32);
	mod.exponent = 32 - exponent;
	return mod;
}

static uint64_t square_q64(uint64_t x_q64)
{
	return (uint64_t)(((unsigned __int128)x_q64 * x_q64) >> 64);
}

bool p_mod_selects(struct p_mod mod, probability_q63 p, uint64_t draw)
{
	unsigned __int128 left = (unsigned __int128)(PROBABILITY_ONE - p) * square_q64(draw);
	unsigned __int128 right = (unsigned __int128)p * square_q64(~draw);
	int32_t shift = mod.exponent - 32;

	if (p == PROBABILITY_ONE)
		return true;
	/* Both products have 127 bits: dropping 32 of them makes room for the mantissa. */
	left = (left >> 32) * mod.mantissa;
	right = right >> 32 << 32;
	if (shift >= 0)
		return (shift < 128 ? left >> shift : 0) < right;
	return left < (shift > -128 ? right >> -shift : 0);
}

double p_mod_of(struct p_mod mod, double p)
{
	if (p <= 0)
		return 0;
	return 1 / (1 + sqrt(ldexp(mod.mantissa, -mod.exponent) * (1 - p) / p));
}
