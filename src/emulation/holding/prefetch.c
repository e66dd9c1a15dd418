/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/prefetch.h"

#include <rte_prefetch.h>

#include "holding/train.h"

/* How many packets it goes further than it has to: those of many trains are on their way at the
 * same time. */
#define FURTHER 64u

/* Goes on to the next chunk, where it has come to the end of one. False: it is at the end of the
 * log. */
static bool has_next(struct prefetch *prefetch, const struct log *log)
{
	if (prefetch->chunk == log->tail)
		return prefetch->at != log->write;
	if (prefetch->at == prefetch->chunk->end) {
		prefetch->chunk = prefetch->chunk->next;
		prefetch->at = prefetch->chunk->records;
	}
	return prefetch->chunk != log->tail || prefetch->at != log->write;
}

/* What lies in the next chunk where this train lies in its own: the processor's own fetching ends
 * at the chunk. */
static void log_fetch(const struct chunk *chunk, const struct train *train)
{
	uintptr_t next = (uintptr_t)train + ((uintptr_t)chunk->next - (uintptr_t)chunk);

	for (uint32_t at = 0; at < train_bytes(train); at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0((const void *)(next + at));
}

static void mbufs_fetch(const struct train *train)
{
	for (uint32_t i = train->gone; i < train->n; i++) {
		const uint8_t *mbuf;

		memcpy(&mbuf, train->data + i * sizeof(mbuf), sizeof(mbuf));
		rte_prefetch0(mbuf);
		rte_prefetch0(mbuf + RTE_CACHE_LINE_SIZE);
	}
}

void prefetch_go(struct prefetch *prefetch, const struct log *log, uint32_t room)
{
	if (!prefetch->at)
		*prefetch = (struct prefetch){.at = log->read, .chunk = log->head};
	if (log->records == 0 || prefetch->ahead >= room)
		return;
	while (prefetch->ahead < room + FURTHER && has_next(prefetch, log)) {
		const struct train *train = (const struct train *)(const void *)prefetch->at;

		if (prefetch->chunk->next)
			log_fetch(prefetch->chunk, train);
		if (train->flags & HELD_MBUF)
			mbufs_fetch(train);
		prefetch->ahead += (uint32_t)train->n - train->gone;
		prefetch->at += train_bytes(train);
	}
}
