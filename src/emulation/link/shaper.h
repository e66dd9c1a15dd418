/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the head of a queue may leave: a leaky bucket, or a token bucket of a depth.
 *
 * Model: the virtual scheduling algorithm (ITU-T I.371, GCRA) in units of work: a packet of L bytes
 * is 8L x 10^9 units, the rate does R units a nanosecond, R in bit/s. `debt` is the work promised
 * and not yet done. A packet may leave when debt + its work is at most the depth. Depth 0 is the
 * leaky bucket: it leaves when all its bits are sent. Everything is an integer, so the rate is
 * exact over any length of run: what an instant rounded up to a nanosecond has done too much
 * is taken off the next packet's work. A change of rate in the middle of a packet is exact.
 *
 * Ranges: R 1 bit/s to 400 Gbit/s, L to 2^18, depth to 1 GB. A departure is the horizon at the
 * latest (simtime.h). Thread: the owner's.
 */
#ifndef WEIR_SHAPER_H
#define WEIR_SHAPER_H

#include <stdbool.h>
#include <stdint.h>

#include "simtime.h"

#define SHAPER_WORK_PER_BYTE INT64_C(8000000000)
#define SHAPER_WORK_MAX      INT64_C(9000000000000000000)
#define SHAPER_BYTES_MAX     (UINT32_C(1) << 18)

struct shaper {
	uint64_t rate_bps; /* 0: no limit */
	int64_t depth_work;
	int64_t debt_work; /* at `at` */
	simtime at;
};

/* The work the shaper has done since `at` goes off the debt; without a limit that is all of it. */
static inline void shaper_catch_up(struct shaper *shaper, simtime now)
{
	unsigned __int128 done = (unsigned __int128)(now - shaper->at) * shaper->rate_bps;

	if (__builtin_expect(shaper->rate_bps == 0, 0) && shaper->debt_work > 0)
		shaper->debt_work = 0;
	/* No debt is larger: what goes beyond it is as good as it. */
	if (done > SHAPER_WORK_MAX)
		done = SHAPER_WORK_MAX;
	shaper->debt_work -= (int64_t)done;
	shaper->at = now;
}

/* The queue was empty until now: work that was not asked for is not saved up. */
static inline void shaper_idle_until(struct shaper *shaper, simtime now)
{
	/* Those of a burst come at one instant. */
	if (now != shaper->at || shaper->rate_bps == 0)
		shaper_catch_up(shaper, now);
	if (shaper->debt_work < 0)
		shaper->debt_work = 0;
}

/* The work of a packet. A capture may claim any length; what no frame has is served as the longest.
 */
static inline int64_t shaper_work(uint32_t bytes)
{
	if (__builtin_expect(bytes > SHAPER_BYTES_MAX, 0))
		bytes = SHAPER_BYTES_MAX;
	return bytes * SHAPER_WORK_PER_BYTE;
}

/* When a packet that is at the head since `at` leaves. */
static inline simtime shaper_departure(const struct shaper *shaper, uint32_t bytes)
{
	int64_t wait = shaper->debt_work + shaper_work(bytes) - shaper->depth_work;

	if (wait <= 0 || shaper->rate_bps == 0)
		return shaper->at;
	return simtime_add(shaper->at, ((uint64_t)wait + shaper->rate_bps - 1) / shaper->rate_bps);
}

/* A packet that finds nothing waiting, at `at`: true if the bucket has the tokens for it. It leaves
 * at once then, and they are taken. */
static inline bool shaper_passes(struct shaper *shaper, uint32_t bytes)
{
	int64_t debt = shaper->debt_work + shaper_work(bytes);

	if (debt > shaper->depth_work)
		return false;
	shaper->debt_work = debt;
	return true;
}

/* It leaves. */
static inline void shaper_depart(struct shaper *shaper, simtime now, uint32_t bytes)
{
	shaper_catch_up(shaper, now);
	shaper->debt_work += shaper_work(bytes);
}

/* Its debt (snapshot.h). */
struct snapshot;
void shaper_snapshot(struct shaper *shaper, struct snapshot *snapshot);

/* How long packets of a length take, without a division for each: so many whole nanoseconds at the
 * rate, and the work that is left of them. Begins as zeros; goes on as long as the rate does. */
struct shaper_pace {
	uint32_t bytes;
	simtime ns;
	int64_t rest_work;
};

static inline void shaper_pace_take(struct shaper_pace *pace, const struct shaper *shaper,
                                    uint32_t bytes)
{
	uint64_t work = (uint64_t)shaper_work(bytes);

	pace->bytes = bytes;
	pace->ns = work / shaper->rate_bps;
	pace->rest_work = (int64_t)(work % shaper->rate_bps);
}

/* shaper_departure, and shaper_depart at that instant, of a packet that is at the head since `at`.
 * The rate is not 0. */
static inline simtime shaper_serve(struct shaper *shaper, struct shaper_pace *pace, uint32_t bytes)
{
	int64_t ahead = shaper->debt_work - shaper->depth_work;
	simtime departure;

	/* There are tokens, or the bucket was made smaller. */
	if (__builtin_expect(ahead > 0 || ahead <= -(int64_t)shaper->rate_bps, 0)) {
		departure = shaper_departure(shaper, bytes);
		shaper_depart(shaper, departure, bytes);
		return departure;
	}
	if (__builtin_expect(pace->bytes != bytes, 0))
		shaper_pace_take(pace, shaper, bytes);
	/* What the nanosecond of the one before has done too much serves for this one; is it not
	 * enough for the rest, another has to. */
	ahead += pace->rest_work;
	shaper->at += pace->ns + (ahead > 0);
	shaper->debt_work += pace->rest_work - (ahead > 0 ? (int64_t)shaper->rate_bps : 0);
	return shaper->at;
}

#endif
