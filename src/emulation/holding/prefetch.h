/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A prefetcher goes ahead in a log of trains (train.h) and fetches what leaves next.
 *
 * Why: a large frame stays in its mbuf, whose lines nobody has touched for the length of the delay,
 * and which lie anywhere in the pool. Whoever sends it waits for each of them. Fetched a hundred
 * packets before, many at a time, they are there when the packet leaves, and so are the lines of
 * the log that say which they are.
 *
 * It changes nothing but the time that things take: a prefetcher that is not sent, or forgotten,
 * does no harm.
 *
 * Thread: the worker that owns the engine.
 */
#ifndef WEIR_PREFETCH_H
#define WEIR_PREFETCH_H

#include "holding/log.h"

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
static inline void prefetch_follow(struct prefetch *prefetch, uint32_t left)
{
	prefetch->ahead -= RTE_MIN(prefetch->ahead, left);
	/* Its chunk may be another's now. */
	if (prefetch->ahead == 0)
		prefetch->at = NULL;
}

/* Packets leave that it is not told of, or the log is cleared. */
static inline void prefetch_forget(struct prefetch *prefetch)
{
	prefetch->at = NULL;
}

#endif
