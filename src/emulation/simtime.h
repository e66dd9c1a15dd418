/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual time.
 *
 * An instant is a count of nanoseconds from an origin that only the driver of the engine knows (the
 * start of a live run, the epoch of a capture). Nothing in the engine reads a clock: every call
 * passes its instant, and instants never decrease within a source.
 */
#ifndef WEIR_SIMTIME_H
#define WEIR_SIMTIME_H

#include <stdint.h>

typedef uint64_t simtime; /* ns */

#define SIMTIME_NEVER UINT64_MAX
#define SIMTIME_US    UINT64_C(1000)
#define SIMTIME_MS    UINT64_C(1000000)
#define SIMTIME_S     UINT64_C(1000000000)

/*
 * The end of virtual time: 2^63 ns after the origin, 292 years. No driver executes an event there
 * or later: a replay ends with an error that names the packet; the lab's runs are shorter; a live
 * process would have to run for 292 years. So any instant to which the engine adds something is
 * before the horizon, and a sum with less than 2^63 cannot wrap: delays, jitters, slots, windows
 * and schedules need no check. Values without such a bound are added by simtime_add: the work of a
 * bucket at 1 bit/s, and the rounds of a trace.
 */
#define SIMTIME_HORIZON (UINT64_C(1) << 63)

/* The longest delay that may be configured: a day. */
#define DELAY_MAX_NS (86400 * SIMTIME_S)

/* Returns the sum, or the horizon if the sum is beyond it. */
static inline simtime simtime_add(simtime t, uint64_t ns)
{
	simtime sum;

	if (__builtin_expect(__builtin_add_overflow(t, ns, &sum) || sum > SIMTIME_HORIZON, 0))
		return SIMTIME_HORIZON;
	return sum;
}

static inline simtime simtime_min(simtime a, simtime b)
{
	return a < b ? a : b;
}

static inline simtime simtime_max(simtime a, simtime b)
{
	return a > b ? a : b;
}

#endif
