/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures how long something has been waited for. Between two looks at most PATIENCE_STEP_NS
 * count, so a time in which the whole machine, or this process, stood still does not count. The
 * waiting code looks at least every PATIENCE_STEP_NS.
 *
 * Thread: its owner's.
 */
#ifndef WEIR_PATIENCE_H
#define WEIR_PATIENCE_H

#include <stdint.h>

#include "simtime.h"

struct patience {
	uint64_t last_ns, waited_ns;
};
#define PATIENCE_STEP_NS (100 * SIMTIME_MS) /* the most that counts between two looks */

static inline uint64_t patience_look(struct patience *patience, uint64_t now_ns)
{
	uint64_t step = now_ns > patience->last_ns ? now_ns - patience->last_ns : 0;

	patience->last_ns = now_ns;
	patience->waited_ns += step < PATIENCE_STEP_NS ? step : PATIENCE_STEP_NS;
	return patience->waited_ns;
}

#endif
