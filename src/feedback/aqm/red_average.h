/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RED's average of the queue: an exponentially weighted moving average, updated at each arrival,
 *
 *   average += weight (queue - average)
 *
 * and after an idle time as if the packets that the link could have sent meanwhile had arrived at
 * an empty queue: average *= (1 - weight)^m. Source: S. Floyd, V. Jacobson, "Random early detection
 * gateways for congestion avoidance", IEEE/ACM Transactions on Networking 1(4), 1993; ns-2.35 does
 * the same in double precision.
 *
 * Fixed point: 64 bits before the point and 64 behind it, in the unit of the queue (bytes or
 * packets); the weight is a fraction with 63 bits, so it is exact to 2^-63. One arrival rounds by
 * less than 2^-64, and an error fades with the same weight. So after any number of arrivals the
 * average is within 2^-64 / weight of the exact one: at a weight of 0.002 within 3e-17 bytes. (A
 * double that holds 45 kB is rounded by 4e-12 at each step.) An idle time of m packets adds a
 * relative error below m 2^-61; beyond 45 / weight, m has no further effect.
 *
 * Queues up to 2^63 units.
 * Thread: pure functions, any.
 */
#ifndef WEIR_RED_AVERAGE_H
#define WEIR_RED_AVERAGE_H

#include <stdint.h>

#include "random/draw.h"

typedef unsigned __int128 quantity_q64;

#define QUANTITY_ONE ((quantity_q64)1 << 64)

/* Returns this share of x, rounded down; x below 2^63 units. */
static inline quantity_q64 quantity_share(quantity_q64 x, probability_q63 share)
{
	uint64_t whole = (uint64_t)(x >> 64), fraction = (uint64_t)x, q64 = share << 1;

	if (__builtin_expect(share == PROBABILITY_ONE, 0))
		return x;
	return (quantity_q64)whole * q64 + ((quantity_q64)fraction * q64 >> 64);
}

static inline quantity_q64 red_average_next(quantity_q64 average, uint64_t queue,
                                            probability_q63 weight)
{
	quantity_q64 target = (quantity_q64)queue << 64;

	if (target >= average)
		return average + quantity_share(target - average, weight);
	return average - quantity_share(average - target, weight);
}

/* Returns the average after m arrivals at an empty queue, in at most 64 rounds. */
quantity_q64 red_average_idle(quantity_q64 average, uint64_t m, probability_q63 weight);

/* Returns how many packets of `mean_bytes` the rate sends in that time; at most UINT64_MAX. */
uint64_t red_average_packets(uint64_t idle_ns, uint64_t rate_bps, uint32_t mean_bytes);

#endif
