/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trains: packets that leave a line together, in the order of their arrival, in one record of its
 * log (struct held).
 *
 * The packets of a poll arrive at one instant, and on a line with a constant delay they are due at
 * one instant. So a train stores their common fields once, and their frames one behind the other: a
 * packet costs its own bytes, and two loops of copies. A packet that differs begins another train;
 * a single packet is a train of one.
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

/* Returns when the oldest train is due, or SIMTIME_NEVER if there is none. */
static inline simtime train_next(const struct log *log)
{
	return log->records ? log_front(log)->t_ns : SIMTIME_NEVER;
}

/* Pushes n packets of a burst, from `from` on, each with its own due time; if `as_one`, all are due
 * at due_ns[0]. Returns how many found memory, from the first on; the others remain the
 * caller's. */
uint16_t train_push(struct log *log, struct holder *holder, const struct burst *burst,
                    uint16_t from, uint16_t n, const simtime *due_ns, bool as_one);
/* Describes the first packet of the oldest train, as its own record would be, in *head. Only if
 * there is one. */
void train_front(const struct log *log, struct held *head);
/* Moves up to `most` packets that are due by `now` into the outlet, as far as it has room; returns
 * the sum of their lengths. If the pool has no mbufs, the rest stays. */
uint64_t train_pop(struct log *log, struct holder *holder, simtime now, struct outlet *outlet,
                   uint32_t most);
/* Drops the first packet of the oldest train. */
void train_drop(struct log *log, struct holder *holder);

/*
 * A prefetcher runs ahead in a log of trains and fetches what leaves next.
 *
 * Why: a large frame stays in its mbuf, whose cache lines were not touched for the length of the
 * delay, and lie anywhere in the pool. If they are fetched a hundred packets ahead, many at a time,
 * they are in the cache when the packet leaves, and so are the lines of the log with their
 * addresses. A prefetcher that is not called, or is reset (`walk.at` NULL), does no harm.
 */
struct prefetch {
	struct log_walk walk; /* over the trains that were fetched; `at` NULL: none */
	uint32_t ahead;       /* packets between the next to leave and that train */
};

/* Called before up to `room` packets leave: fetches so many, and some more, as far as the log has
 * them. */
void prefetch_go(struct prefetch *prefetch, const struct log *log, uint32_t room);
/* Called after so many packets have left. */
void prefetch_follow(struct prefetch *prefetch, uint32_t left);

#endif
