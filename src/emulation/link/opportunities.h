/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link whose packets leave at given instants: the opportunities of a mahimahi trace.
 *
 * Model: mahimahi's LinkShell (R. Netravali et al., "Mahimahi: Accurate Record-and-Replay for
 * HTTP", USENIX ATC 2015; the traces came with K. Winstein et al., "Stochastic Forecasts Achieve
 * High Throughput and Low Delay over Cellular Networks", NSDI 2013). At each opportunity 1504 bytes
 * of the queue are sent: the rest of the packet that was begun, then further packets. A packet
 * leaves at the opportunity that takes its last byte. If the queue becomes empty, the rest of the
 * opportunity is lost; an opportunity that finds no packet is lost whole. A packet that arrives at
 * the instant of an opportunity is too late for it. The length of a packet is counted as in
 * mahimahi, which reads from a tun device: without the 14 bytes of Ethernet, with 4 more; so a
 * packet of 1500 bytes takes one opportunity. If an overhead is given, even of 0, it gives the
 * length (link.h).
 *
 * The trace gives the opportunities in ms, in order. At its last number it begins again: the
 * opportunities of that number coincide with those at 0 of the next round. All numbers are
 * integers.
 *
 * Lengths: any that a capture claims; one of 2^32 - 1 bytes takes 2.9 million opportunities,
 * computed at once. Cost: while there is a queue, the next departure is found in O(1); after an
 * idle time of many opportunities, by bisection.
 * Ownership: the numbers belong to the owner of the struct, control; links only read them.
 */
#ifndef WEIR_OPPORTUNITIES_H
#define WEIR_OPPORTUNITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "simtime.h"

#define OPPORTUNITY_BYTES UINT32_C(1504)
#define OPPORTUNITY_LESS  UINT32_C(10) /* a packet counts so much less than its Ethernet frame */

struct opportunities {
	uint32_t n; /* at least 1 */
	bool loop;
	simtime period_ns; /* the instant of the last opportunity */
	uint32_t *at_ms;   /* not decreasing; the last is not 0 */
};

/* The position of a link in the trace. */
struct opportunity_cursor {
	uint64_t next;   /* the first that has not been used */
	simtime at;      /* the instant of the one before */
	uint32_t left;   /* bytes left of the one before */
	uint32_t taken;  /* how many more the head needs */
	uint32_t served; /* bytes of the head that were sent at a rate, or by another trace */
};

static inline uint32_t opportunity_bytes(uint32_t wire_bytes)
{
	return wire_bytes > OPPORTUNITY_LESS ? wire_bytes - OPPORTUNITY_LESS : 1;
}

/* Returns the instant of opportunity k of a trace that began at `from`, at most the horizon;
 * SIMTIME_NEVER if there is none. */
static inline simtime opportunity_at(const struct opportunities *list, simtime from, uint64_t k)
{
	uint64_t rounds_ns;

	if (k < list->n)
		return from + list->at_ms[k] * SIMTIME_MS;
	if (!list->loop)
		return SIMTIME_NEVER;
	if (__builtin_mul_overflow(k / list->n, list->period_ns, &rounds_ns))
		return SIMTIME_HORIZON;
	return simtime_add(simtime_add(from, rounds_ns), list->at_ms[k % list->n] * SIMTIME_MS);
}

/* Returns the number of the first opportunity after `now`. */
uint64_t opportunity_after(const struct opportunities *list, simtime from, simtime now);

#endif
