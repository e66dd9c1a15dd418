/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_RATIO_H
#define WEIR_RATIO_H

#include <stdint.h>

/* A fraction from 0 to 1 as written: digits / 10^places, without trailing zeros. */
#define RATIO_PLACES_MAX 38
struct ratio {
	uint64_t digits; /* less than 10^19 */
	uint32_t places; /* 0 to RATIO_PLACES_MAX; 0 if digits is 0 */
};

#endif
