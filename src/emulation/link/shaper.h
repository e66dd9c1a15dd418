/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes when the head of a queue may leave: a leaky bucket, or a token bucket of a given depth.
 *
 * Model: the virtual scheduling algorithm (ITU-T I.371, GCRA) in units of work: a packet of L bytes
 * is 8L x 10^9 units, and a rate of R bit/s does R units per nanosecond. `debt` is the work
 * promised and not yet done. A packet may leave when debt + its work is at most the depth. Depth 0
 * is the leaky bucket: a packet leaves when all its bits are sent. All numbers are integers, so the
 * rate is exact over a run of any length: if a departure is rounded up to a nanosecond, the excess
 * work is deducted from the next packet. A change of the rate in the middle of a packet is exact.
 *
 * Ranges: R 1 bit/s to 400 Gbit/s, L below 2^23, depth to 1 GB. No departure is later than the
 * horizon (simtime.h).
 * Thread: the owner's.
 */
#ifndef WEIR_SHAPER_H
#define WEIR_SHAPER_H

#include <stdbool.h>
#include <stdint.h>

#include "simtime.h"

#define SHAPER_WORK_PER_BYTE INT64_C(8000000000)
#define SHAPER_WORK_MAX      INT64_C(9000000000000000000)
/* Longer than any frame on any link: PACKET_BYTES_MAX in cells of 64 kB that grow 16 times
 * (rate.c). */
#define SHAPER_BYTES_MAX ((UINT32_C(1) << 23) - 1)

struct shaper {
	uint64_t rate_bps; /* 0: no limit */
	int64_t depth_work;
	int64_t debt_work; /* as of `at` */
	simtime at;
};

/* Subtracts the work done since `at` from the debt. Without a rate, all work is done at once. */
static inline void shaper_catch_up(struct shaper *shaper, simtime now)
{
	unsigned __int128 done = (unsigned __int128)(now - shaper->at) * shaper->rate_bps;

	if (__builtin_expect(shaper->rate_bps == 0, 0) && shaper->debt_work > 0)
		shaper->debt_work = 0;
	/* No debt is larger than this cap, so it changes no result. */
	if (done > SHAPER_WORK_MAX)
		done = SHAPER_WORK_MAX;
	shaper->debt_work -= (int64_t)done;
	shaper->at = now;
}

/* Advances a shaper whose queue was empty until `now`: unused work is not saved up. */
static inline void shaper_idle_until(struct shaper *shaper, simtime now)
{
	/* Packets of a burst that arrive at one instant skip this, but for the first. */
	if (now != shaper->at || shaper->rate_bps == 0)
		shaper_catch_up(shaper, now);
	if (shaper->debt_work < 0)
		shaper->debt_work = 0;
}

/* Returns the work of a packet. A capture may claim any length: one beyond that of any frame counts
 * as the longest. */
static inline int64_t shaper_work(uint32_t bytes)
{
	return (bytes < SHAPER_BYTES_MAX ? bytes : SHAPER_BYTES_MAX) * SHAPER_WORK_PER_BYTE;
}

/* Returns when a packet leaves that has been at the head since `at`. */
static inline simtime shaper_departure(const struct shaper *shaper, uint32_t bytes)
{
	int64_t wait = shaper->debt_work + shaper_work(bytes) - shaper->depth_work;

	if (wait <= 0 || shaper->rate_bps == 0)
		return shaper->at;
	return simtime_add(shaper->at, ((uint64_t)wait + shaper->rate_bps - 1) / shaper->rate_bps);
}

/* Takes the tokens of a packet that arrives at `at` and finds nothing waiting; it leaves at once.
 * Returns false, and takes none, if the bucket has too few. */
static inline bool shaper_passes(struct shaper *shaper, uint32_t bytes)
{
	int64_t debt = shaper->debt_work + shaper_work(bytes);

	if (debt > shaper->depth_work)
		return false;
	shaper->debt_work = debt;
	return true;
}

/* Charges the work of a packet that leaves at `now`. */
static inline void shaper_depart(struct shaper *shaper, simtime now, uint32_t bytes)
{
	shaper_catch_up(shaper, now);
	shaper->debt_work += shaper_work(bytes);
}

/* Writes or reads the debt (snapshot.h). */
struct snapshot;
void shaper_snapshot(struct shaper *shaper, struct snapshot *snapshot);

/* The time that packets of one length take, without a division for each: whole nanoseconds at the
 * rate, and the remaining work. Initialised to zeros; valid while the rate does not change. */
struct shaper_pace {
	uint32_t bytes;
	simtime ns;
	int64_t rest_work;
};

/* Does shaper_departure, and shaper_depart at that instant, for a packet that has been at the head
 * since `at`; returns the departure. The rate is not 0. */
static inline simtime shaper_serve(struct shaper *shaper, struct shaper_pace *pace, uint32_t bytes)
{
	const uint64_t rate_bps = shaper->rate_bps;
	int64_t ahead = shaper->debt_work - shaper->depth_work;
	simtime departure;

	/* The depth was reduced, or there are tokens. */
	if (__builtin_expect(ahead > 0 || ahead <= -(int64_t)rate_bps, 0)) {
		departure = shaper_departure(shaper, bytes);
		shaper_depart(shaper, departure, bytes);
		return departure;
	}
	if (__builtin_expect(pace->bytes != bytes, 0)) {
		const uint64_t work = (uint64_t)shaper_work(bytes);

		*pace = (struct shaper_pace){.bytes = bytes,
		                             .ns = work / rate_bps,
		                             .rest_work = (int64_t)(work % rate_bps)};
	}
	/* The excess work in the last nanosecond of the packet before counts for this packet. If it
	 * is less than the remaining work, one more nanosecond is needed. */
	ahead += pace->rest_work;
	shaper->at += pace->ns + (ahead > 0);
	shaper->debt_work += pace->rest_work - (ahead > 0 ? (int64_t)rate_bps : 0);
	return shaper->at;
}

#endif
