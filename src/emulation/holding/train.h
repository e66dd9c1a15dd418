/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trains: packets that leave a line together, in the order of their arrival, in one record of its
 * log.
 *
 * The packets of a poll arrive at one instant, and on a line with a constant delay they are due at
 * one instant. So a train stores their common fields once, and their frames one behind the other: a
 * packet costs its own bytes, and two loops of copies. A packet that differs begins another train;
 * a single packet is a train of one, no larger than a `struct held`.
 *
 * Order: trains leave in the order in which they were pushed; if there is not room for a whole
 * train, its packets leave one by one.
 *
 * Ownership: the records belong to the log. Before a log is cleared, its trains must have been
 * taken (train_drop).
 * Thread: the worker that owns the engine.
 */
#ifndef WEIR_TRAIN_H
#define WEIR_TRAIN_H

#include <stdint.h>

#include "holding/hold.h"
#include "packet/burst.h"
#include "packet/outlet.h"

struct train {
	simtime due_ns;
	/* of each packet, as in struct held */
	uint32_t wire_bytes;
	uint16_t stored_bytes;
	uint16_t flags;
	uint32_t number;  /* low half, of the first packet; the others have the next ones */
	uint16_t n, gone; /* packets; how many of them, from the first on, have left */
	uint8_t data[];   /* for each, at a multiple of 8: its frame, or the address of its mbuf */
};

_Static_assert(sizeof(struct train) == sizeof(struct held), "a packet alone takes no more memory");

/* Returns the distance from one packet of the train to the next. */
static inline uint32_t train_stride(const struct train *train)
{
	return RTE_ALIGN_CEIL((uint32_t)train->stored_bytes, 8u);
}

static inline uint32_t train_bytes(const struct train *train)
{
	return (uint32_t)sizeof(*train) + train->n * train_stride(train);
}

/* Returns the oldest train of a log that has one. */
static inline struct train *train_front(const struct log *log)
{
	return (struct train *)(void *)log->read;
}

/* Returns when the oldest train is due, or SIMTIME_NEVER if there is none. */
static inline simtime train_next(const struct log *log)
{
	return log->records ? train_front(log)->due_ns : SIMTIME_NEVER;
}

/* Pushes n packets of a burst, from `from` on, each with its own due time; if `as_one`, all are due
 * at due_ns[0]. Returns how many found memory, from the first on; the others remain the
 * caller's. */
uint16_t train_push(struct log *log, struct holder *holder, const struct burst *burst,
                    uint16_t from, uint16_t n, const simtime *due_ns, bool as_one);
/* Pushes n packets from other records, each as a train of its own with its own due time. The
 * packets are moved: the caller then removes the records without dropping them. Returns how many
 * found memory, from the first on. */
uint16_t train_push_held(struct log *log, struct holder *holder, const struct held *const *from,
                         uint16_t n, const simtime *due_ns);

/* Moves the packets that are due by `now` into the outlet, as far as it has room; returns the sum
 * of their lengths. If the pool has no mbufs, the rest stays. */
uint64_t train_pop(struct log *log, struct holder *holder, simtime now, struct outlet *outlet);
/* The same for one packet; fills in *head as its own record would be. Returns NULL if none is due,
 * or there is no mbuf. */
struct rte_mbuf *train_pop_one(struct log *log, struct holder *holder, simtime now,
                               struct held *head);
/* Drops the first packet of the oldest train, whose frame was copied. */
void train_drop_one(struct log *log, struct holder *holder);
/* Drops the oldest train; returns how many packets it had. */
uint32_t train_drop(struct log *log, struct holder *holder);

/*
 * A prefetcher runs ahead in a log of trains and fetches what leaves next.
 *
 * Why: a large frame stays in its mbuf, whose cache lines were not touched for the length of the
 * delay, and lie anywhere in the pool. If they are fetched a hundred packets ahead, many at a time,
 * they are in the cache when the packet leaves, and so are the lines of the log with their
 * addresses. A prefetcher that is not called, or is reset (`at` NULL), does no harm.
 */
struct prefetch {
	/* the next train to fetch, or the end of `chunk`; NULL: it has not started */
	const uint8_t *at;
	const struct chunk *chunk;
	uint32_t ahead; /* packets between the next to leave and `at` */
};

/* Called before up to `room` packets leave: fetches so many, and some more, as far as the log has
 * them. */
void prefetch_go(struct prefetch *prefetch, const struct log *log, uint32_t room);
/* Called after so many packets have left. */
void prefetch_follow(struct prefetch *prefetch, uint32_t left);

#endif
