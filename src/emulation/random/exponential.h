/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exponentially distributed times from 64 random bits, in integers: -ln(u) x mean with u = (draw +
 * 1) / 2^64. The logarithm comes from a table of EXPONENTIAL_STEPS, made by control, with linear
 * interpolation: its error is below 2e-7.
 */
#ifndef WEIR_EXPONENTIAL_H
#define WEIR_EXPONENTIAL_H

#include <math.h>
#include <stdint.h>

#include "simtime.h"

#define EXPONENTIAL_STEPS 1024u

struct exponential {
	uint64_t ln_q32[EXPONENTIAL_STEPS + 1]; /* ln(1 + i / EXPONENTIAL_STEPS) */
};

/* Thread: control. */
static inline void exponential_make(struct exponential *table)
{
	for (uint32_t i = 0; i <= EXPONENTIAL_STEPS; i++)
		table->ln_q32[i] = (uint64_t)(log1p((double)i / EXPONENTIAL_STEPS) * 0x1p32 + 0.5);
}

/* Returns at least 1. Thread: worker. */
static inline simtime exponential_draw(const struct exponential *table, uint64_t draw,
                                       simtime mean_ns)
{
	const uint64_t ln2_q32 = UINT64_C(2977044472);
	uint32_t zeros = draw ? (uint32_t)__builtin_clzll(draw) : 63;
	uint64_t mantissa = (draw ? draw : 1) << zeros; /* its first bit is the 1 of 1.xxx */
	uint32_t i = (uint32_t)(mantissa >> 53) & (EXPONENTIAL_STEPS - 1);
	uint64_t rest_q32 = mantissa >> 21 & UINT32_MAX;
	uint64_t step = table->ln_q32[i + 1] - table->ln_q32[i];
	uint64_t ln_q32 = table->ln_q32[i] + (step * rest_q32 >> 32);
	uint64_t minus_q32 = (zeros + 1) * ln2_q32 - ln_q32;
	simtime time_ns = (simtime)(((unsigned __int128)mean_ns * minus_q32) >> 32);

	return time_ns ? time_ns : 1;
}

#endif
