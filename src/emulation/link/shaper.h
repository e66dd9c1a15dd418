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
 * Ranges: R 1 bit/s to 400 Gbit/s, L to 2^18, depth to 1 GB. Thread: the owner's.
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
	return shaper->at + ((uint64_t)wait + shaper->rate_bps - 1) / shaper->rate_bps;
}

/* A packet that finds nothing waiting, at `at`: true if the bucket has the tokens for it. It leaves at
 * once then, and they are taken. */
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

/* The same of a packet that is at the head since `at`: when it leaves, and it has left then. The rate is not 0. */
static inline simtime shaper_serve(struct shaper *shaper, uint32_t bytes)
{
	int64_t work = shaper_work(bytes), wait = shaper->debt_work + work - shaper->depth_work;
	uint64_t rest;

	if (wait <= 0) {
		shaper->debt_work += work;
		return shaper->at;
	}
	rest = (uint64_t)wait % shaper->rate_bps;
	shaper->at += (uint64_t)wait / shaper->rate_bps + (rest > 0);
	shaper->debt_work = shaper->depth_work;
	if (rest > 0)
		shaper->debt_work -= (int64_t)(shaper->rate_bps - rest);
	return shaper->at;
}

#endif
