/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The marking function for ECN-mod flows:
 *
 *   p_mod = 1 / (1 + (c2/c1) sqrt(2 (1 - p) / p))
 *
 * where p is RED's probability at that average, and c1, c2 are what a host adds to its window for
 * an unmarked acknowledgement and takes off it for a marked one. With it a host of either kind has
 * the same average window at the same queue. p = 0 gives 0, p = 1 gives 1. Source: A. Misra, T.
 * Ott, "Performance Sensitivity and Fairness of ECN-Aware 'Modified TCP'", equation 7.
 *
 * c1 and c2 are above 0; the packet path is integers, and p_mod exact to 1e-9 of itself.
 * Thread: pure functions, any.
 */
#ifndef WEIR_P_MOD_H
#define WEIR_P_MOD_H

#include <stdbool.h>
#include <stdint.h>

#include "random/draw.h"

/* 2 (c2/c1)^2 is mantissa / 2^exponent; 2^31 <= mantissa < 2^32. */
struct p_mod {
	uint32_t mantissa;
	int32_t exponent;
};

/* Control. */
struct p_mod p_mod_make(double c1, double c2);

/* Whether a draw selects the packet, which it does with p_mod of p. No root and no division:
 * U < p_mod is the same as 2 (c2/c1)^2 (1 - p) U^2 < p (1 - U)^2. */
bool p_mod_selects(struct p_mod mod, probability_q63 p, uint64_t draw);

/* p_mod itself, for display; p from 0 to 1. Control: in floating point. */
double p_mod_of(struct p_mod mod, double p);

#endif
