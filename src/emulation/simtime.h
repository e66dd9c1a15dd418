/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual time.
 *
 * An instant is a count of nanoseconds from an origin that only the driver of the engine knows
 * (the start of a live run, the epoch of a capture). Nothing in the engine asks what time it is:
 * every call brings its instant with it, and instants never go backwards within a source.
 */
#ifndef WEIR_SIMTIME_H
#define WEIR_SIMTIME_H

#include <stdint.h>

typedef uint64_t simtime; /* ns */

#define SIMTIME_NEVER UINT64_MAX
#define SIMTIME_US    UINT64_C(1000)
#define SIMTIME_MS    UINT64_C(1000000)
#define SIMTIME_S     UINT64_C(1000000000)

/* The longest delay that may be configured: a day. Sums of instants cannot overflow before the
 * year 2554 with it. */
#define DELAY_MAX_NS (86400 * SIMTIME_S)

static inline simtime simtime_min(simtime a, simtime b)
{
	return a < b ? a : b;
}

static inline simtime simtime_max(simtime a, simtime b)
{
	return a > b ? a : b;
}

#endif
