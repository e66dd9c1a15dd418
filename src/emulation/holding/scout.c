/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/scout.h"

#include <rte_prefetch.h>

#include "holding/train.h"

/* How many packets it goes further than it has to: those of many trains are on their way at the same time. */
#define FURTHER 64u

/* Goes on to the next chunk, where it has come to the end of one. False: it is at the end of the log. */
static bool has_next(struct scout *scout, const struct log *log)
{
	if (scout->chunk == log->tail)
		return scout->at != log->write;
	if (scout->at == scout->chunk->end) {
		scout->chunk = scout->chunk->next;
		scout->at = scout->chunk->records;
	}
	return scout->chunk != log->tail || scout->at != log->write;
}

/* What lies in the next chunk where this train lies in its own: the processor's own fetching ends at the chunk. */
static void log_fetch(const struct chunk *chunk, const struct train *train)
{
	uintptr_t next = (uintptr_t)train + ((uintptr_t)chunk->next - (uintptr_t)chunk);

	for (uint32_t at = 0; at < train_bytes(train); at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0((const void *)(next + at));
}

static void mbufs_fetch(const struct train *train, bool bare)
{
	for (uint32_t i = train->gone; i < train->n; i++) {
		const uint8_t *mbuf;

		memcpy(&mbuf, train->data + i * sizeof(mbuf), sizeof(mbuf));
		rte_prefetch0(mbuf);
		rte_prefetch0(mbuf + RTE_CACHE_LINE_SIZE);
		if (!bare)
			rte_prefetch0_write(mbuf + sizeof(struct rte_mbuf));
	}
}

void scout_go(struct scout *scout, const struct log *log, uint32_t room, bool bare)
{
	if (!scout->at)
		*scout = (struct scout){.at = log->read, .chunk = log->head};
	if (log->records == 0 || scout->ahead >= room)
		return;
	while (scout->ahead < room + FURTHER && has_next(scout, log)) {
		const struct train *train = (const struct train *)(const void *)scout->at;

		if (scout->chunk->next)
			log_fetch(scout->chunk, train);
		if (train->flags & HELD_MBUF)
			mbufs_fetch(train, bare);
		scout->ahead += (uint32_t)train->n - train->gone;
		scout->at += train_bytes(train);
	}
}
