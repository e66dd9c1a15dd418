/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trains: packets that leave a line together, as they came, in one record of its log.
 *
 * What a poll receives comes at one instant, and on a line with a constant delay it is due at one
 * instant. So what is the same of all of them is written once, and their frames lie one behind the
 * other: a packet costs its own bytes, and two loops of copies. A packet that differs begins
 * another train; one that is alone is a train of one, no larger than a `struct held`.
 *
 * Order: trains leave in the order of their pushing, their packets one by one if there is no room
 * for more.
 *
 * Ownership: the records are the log's; whoever clears a log has taken its trains before
 * (train_drop). Thread: the worker that owns the engine.
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
	uint32_t number;  /* low half, of the first; those behind it have the next ones */
	uint16_t n, gone; /* packets; how many of them, the first ones, have left */
	uint8_t data[];   /* of each, at a multiple of 8: its frame, or the address of its mbuf */
};

_Static_assert(sizeof(struct train) == sizeof(struct held), "a packet alone takes no more memory");

/* How far it is from one of its packets to the next. */
static inline uint32_t train_stride(const struct train *train)
{
	return RTE_ALIGN_CEIL((uint32_t)train->stored_bytes, 8u);
}

static inline uint32_t train_bytes(const struct train *train)
{
	return (uint32_t)sizeof(*train) + train->n * train_stride(train);
}

/* The oldest train of a log that has one. */
static inline struct train *train_front(const struct log *log)
{
	return (struct train *)(void *)log_front(log);
}

/* When it is due; SIMTIME_NEVER: there is none. */
static inline simtime train_next(const struct log *log)
{
	return log->records ? train_front(log)->due_ns : SIMTIME_NEVER;
}

/* n packets of a burst, from `from` on, each due at its instant, all at due_ns[0] if `as_one`.
 * Returns how many there was memory for: the first ones; the others are still the caller's. */
uint16_t train_push(struct log *log, struct holder *holder, const struct burst *burst,
                    uint16_t from, uint16_t n, const simtime *due_ns, bool as_one);
/* n that lie in other records, which may be passed over then: each on a train of its own, and due
 * at its instant. Returns how many there was memory for: the first ones. */
uint16_t train_push_held(struct log *log, struct holder *holder, const struct held *const *from,
                         uint16_t n, const simtime *due_ns);

/* Packets that are due at `now` or before, into the outlet, as far as it has room; returns their
 * lengths together. Fewer when the pool has no mbufs: the rest stays. */
uint64_t train_pop(struct log *log, struct holder *holder, simtime now, struct outlet *outlet);
/* The same of one, and what a record of its own would say of it. NULL: none is due, or there is no
 * mbuf. */
struct rte_mbuf *train_pop_one(struct log *log, struct holder *holder, simtime now,
                               struct held *head);
/* Drops the oldest train; returns how many packets were on it. */
uint32_t train_drop(struct log *log, struct holder *holder);

/*
 * A prefetcher goes ahead in a log of trains and fetches what leaves next.
 *
 * Why: a large frame stays in its mbuf, whose lines nobody has touched for the length of the delay,
 * and which lie anywhere in the pool. Fetched a hundred packets before, many at a time, they are
 * there when the packet leaves, and so are the lines of the log that say which they are. A
 * prefetcher that is not sent, or forgotten (`at` NULL), does no harm.
 */
struct prefetch {
	/* the train that it has not come to yet, or the end of `chunk`; NULL: it has not set out */
	const uint8_t *at;
	const struct chunk *chunk;
	uint32_t ahead; /* packets between what leaves next and `at` */
};

/* Before up to `room` packets leave: so many are fetched, and some more, as far as the log has
 * them. */
void prefetch_go(struct prefetch *prefetch, const struct log *log, uint32_t room);
/* So many packets have left since. */
void prefetch_follow(struct prefetch *prefetch, uint32_t left);

#endif
