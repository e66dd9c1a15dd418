/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The marking function for ECN-mod flows:
 *
 *   p_mod = 1 / (1 + (c2/c1) sqrt(2 (1 - p) / p))
 *
 * where p is RED's probability at the current average. A host adds c1 to its window for an unmarked
 * acknowledgement, and subtracts the share c2 of it for a marked one. With p_mod, hosts of both
 * kinds have the same average window at the same queue. p = 0 gives 0, p = 1 gives 1. Source: A.
 * Misra, T. Ott, "Performance Sensitivity and Fairness of ECN-Aware 'Modified TCP'", equation 7.
 *
 * c1 and c2 are above 0. The packet path uses integers only; p_mod is exact to a relative error of
 * 1e-9.
 * Thread: pure functions, any.
 */
#ifndef WEIR_P_MOD_H
#define WEIR_P_MOD_H

#include <stdbool.h>
#include <stdint.h>

#include "random/draw.h"

/* 2 (c2/c1)^2 as mantissa / 2^exponent; 2^31 <= mantissa < 2^32. */
struct p_mod {
	uint32_t mantissa;
	int32_t exponent;
};

/* Control: floating point. */
struct p_mod p_mod_make(double c1, double c2);

/* Returns true if the draw selects the packet, which it does with the probability p_mod(p). Needs
 * no root and no division: U < p_mod is equivalent to 2 (c2/c1)^2 (1 - p) U^2 < p (1 - U)^2. */
bool p_mod_selects(struct p_mod mod, probability_q63 p, uint64_t draw);

/* Returns p_mod(p) for display; p from 0 to 1. Control: floating point. */
double p_mod_of(struct p_mod mod, double p);

#endif
