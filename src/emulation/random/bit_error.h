/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bit errors: each bit is wrong with the same probability, independently of all others.
 *
 * Model: n bits contain an error with probability F(n) = 1 - (1 - ber)^n. F is stored for the
 * powers of two and combined by F(m + n) = F(m) + F(n) - F(m) F(n), in fixed point of 127 bits
 * throughout: at 1e-18, which multiples of 2^-63 would miss by 2.4 %, F is within 1e-15 of its
 * value. A draw decides exactly, to the last of the 127 bits. The same draw gives the position of
 * the first error in a packet: after g good bits, if F(g) <= draw < F(g + 1).
 *
 * Ranges: ber 0 to 1, n to 2^35.
 * Thread: pure functions, any, unless stated otherwise.
 */
#ifndef WEIR_BIT_ERROR_H
#define WEIR_BIT_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include "random/draw.h"
#include "random/ratio.h"

/* A fraction with 127 bits behind the point. */
typedef unsigned __int128 probability_q127;
#define PROBABILITY_Q127_ONE ((probability_q127)1 << 127)

#define BIT_ERROR_POWERS 36

/* F of the latest packet whose length has these low bits: traffic has few lengths. */
#define BIT_ERROR_KNOWN 8

struct bit_error {
	probability_q127 within[BIT_ERROR_POWERS]; /* F(2^i) */
	struct {
		probability_q127 within;
		uint32_t bytes; /* 0 in a cleared entry, which is valid: 0 bytes have no error */
	} known[BIT_ERROR_KNOWN];
};

void bit_error_prepare(struct bit_error *error, const struct ratio *ber);

/* Returns F(bits); bits < 2^36. */
probability_q127 bit_error_within(const struct bit_error *error, uint64_t bits);

/* Returns F of a packet's bits. Thread: the owner's. */
static inline probability_q127 bit_error_in_packet(struct bit_error *error, uint32_t bytes)
{
	uint32_t i = bytes % BIT_ERROR_KNOWN;

	if (__builtin_expect(error->known[i].bytes != bytes, 0)) {
		error->known[i].bytes = bytes;
		error->known[i].within = bit_error_within(error, (uint64_t)bytes * 8);
	}
	return error->known[i].within;
}

/* Returns true if draw number `index` of the key, on `lane` and, very rarely, on lane + 1, is below
 * F. */
static inline bool bit_error_strikes(struct draw_key key, uint64_t index, uint32_t lane,
                                     probability_q127 within)
{
	uint64_t high = draw_u64(key, index, lane) >> 1, limit = (uint64_t)(within >> 64);

	if (__builtin_expect(high != limit, 1))
		return high < limit;
	return draw_u64(key, index, lane + 1) < (uint64_t)within;
}

/* Returns the number of good bits before the first wrong one, from the same draw. */
uint64_t bit_error_gap(const struct bit_error *error, struct draw_key key, uint64_t index,
                       uint32_t lane);

#endif
