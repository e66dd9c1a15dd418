/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An outlet: packets that leave the engine at a port, in the order of their due times, and what is
 * known of each, in parallel arrays. The engine fills it, the driver empties it.
 *
 * Ownership: mbufs in it belong to the worker until the driver takes them.
 * Thread: the worker that owns the engine.
 */
#ifndef WEIR_OUTLET_H
#define WEIR_OUTLET_H

#include <string.h>

#include "packet/packet.h"

/* Twice a burst: a worker that has fallen behind sends twice what it receives, and so catches up. A
 * larger outlet would put more buffers on the way to the device than the first-level cache of a
 * processor holds. */
#define OUTLET_ROOM (2 * BURST_MAX)

struct outlet {
	uint32_t n;
	uint64_t named; /* bit i: packet i's struct packet holds its name (engine/cloud_tell.h) */
	simtime due_ns[OUTLET_ROOM];
	struct rte_mbuf *mbufs[OUTLET_ROOM];
	uint32_t wire_bytes[OUTLET_ROOM]; /* as in packet.h */
};

_Static_assert(OUTLET_ROOM <= 64, "`named` has a bit for each");

/* Appends a packet; there is room. */
static __rte_always_inline void outlet_put(struct outlet *outlet, struct rte_mbuf *mbuf,
                                           simtime due, uint32_t wire_bytes)
{
	const uint32_t n = outlet->n++;

	outlet->mbufs[n] = mbuf;
	outlet->due_ns[n] = due;
	outlet->wire_bytes[n] = wire_bytes;
}

/* Notes that the struct packet of the packet appended last has its name. */
static inline void outlet_name(struct outlet *outlet)
{
	outlet->named |= UINT64_C(1) << (outlet->n - 1);
}

static inline bool outlet_is_named(const struct outlet *outlet, uint32_t i)
{
	return outlet->named >> i & 1;
}

/* Empties the outlet after all packets have been taken. */
static inline void outlet_clear(struct outlet *outlet)
{
	outlet->n = 0;
	outlet->named = 0;
}

/* Removes the first n packets, which have been taken. */
static inline void outlet_pass(struct outlet *outlet, uint32_t n)
{
	const uint32_t rest = outlet->n - n;

	memmove(outlet->mbufs, outlet->mbufs + n, rest * sizeof(outlet->mbufs[0]));
	memmove(outlet->due_ns, outlet->due_ns + n, rest * sizeof(outlet->due_ns[0]));
	memmove(outlet->wire_bytes, outlet->wire_bytes + n, rest * sizeof(outlet->wire_bytes[0]));
	outlet->n = rest;
	outlet->named = n < OUTLET_ROOM ? outlet->named >> n : 0;
}

#endif
