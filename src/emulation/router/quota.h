/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The limit of a router on its messages per second (RFC 1812 4.3.2.8).
 *
 * Model: a token bucket in virtual time, exact, full at first. A nanosecond adds `limit` tokens,
 * and a message costs 10^9. With `limit` 0 nothing may be sent. Ranges: limit to 10^9 a second,
 * burst to 10^6, so that nothing overflows.
 * Thread: the worker's.
 */
#ifndef WEIR_QUOTA_H
#define WEIR_QUOTA_H

#include <rte_common.h>

#include "simtime.h"
#include "snapshot/snapshot.h"

#define QUOTA_LIMIT_MAX 1000000000u
#define QUOTA_BURST_MAX 1000000u

struct quota {
	uint64_t limit, full, tokens;
	simtime at;
};

static inline void quota_make(struct quota *quota, uint64_t limit, uint64_t burst)
{
	quota->limit = limit;
	quota->full = burst * SIMTIME_S;
	quota->tokens = quota->full;
	quota->at = 0;
}

/* Takes over the tokens of another quota, up to its own burst. */
static inline void quota_adopt(struct quota *quota, const struct quota *old)
{
	quota->tokens = RTE_MIN(quota->full, old->tokens);
	quota->at = old->at;
}

/* Writes or reads the tokens, and since when they count (snapshot.h). */
static inline void quota_snapshot(struct quota *quota, struct snapshot *snapshot)
{
	snapshot_value(snapshot, quota->tokens);
	snapshot_value(snapshot, quota->at);
	snapshot_holds(snapshot, quota->tokens <= quota->full);
}

/* Returns true if one more message may be sent now, and counts it. */
static inline bool quota_take(struct quota *quota, simtime now)
{
	uint64_t passed = now - quota->at;

	if (quota->limit == 0)
		return false;
	quota->at = now;
	if (passed > quota->full / quota->limit)
		quota->tokens = quota->full;
	else
		quota->tokens = RTE_MIN(quota->full, quota->tokens + passed * quota->limit);
	if (quota->tokens < SIMTIME_S)
		return false;
	quota->tokens -= SIMTIME_S;
	return true;
}

#endif
