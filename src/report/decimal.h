/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes numbers as decimal text, with a point in every locale (printf's %f follows LC_NUMERIC,
 * which would make a report depend on its user's locale). Rounds half away from zero; never writes
 * "-0"; NaN and the infinities are "n/a".
 *
 * All functions write a terminated string of at most size - 1 bytes, and DECIMAL_SIZE bytes always
 * suffice.
 */
#ifndef WEIR_DECIMAL_H
#define WEIR_DECIMAL_H

#include <stddef.h>

#define DECIMAL_SIZE 48

/* Writes exactly `decimals` (0..9) digits after the point: 1.50. From 1e15 on it falls back to
 * decimal_scientific. */
void decimal_fixed(char *buf, size_t size, double value, unsigned decimals);

/* Writes up to `digits` (1..9) significant digits without trailing zeros, never an exponent below
 * 1e15: 1.5, 0.002, 120000. */
void decimal_short(char *buf, size_t size, double value, unsigned digits);

/* Writes up to `digits` significant digits times a power of ten: 2.5×10⁶; without a factor of 1:
 * 10⁶. */
void decimal_scientific(char *buf, size_t size, double value, unsigned digits);

#endif
