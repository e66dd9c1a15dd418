/* SPDX-License-Identifier: BSD-3-Clause */
#include "offline/mbuf_supply.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "capture/frame_copy.h"
#include "machine/pool.h"
#include "offline/offline_pool.h"
#include "packet/burst.h"
#include "packet/outlet.h"

#define SEGMENT_BYTES (RTE_MBUF_DEFAULT_BUF_SIZE - RTE_PKTMBUF_HEADROOM)
#define MBUFS_FIRST   4096u /* about 10 MB */
#define MBUFS_RESERVE 2048u

int mbuf_supply_open(struct mbuf_supply *supply, uint64_t memory_bytes, uint32_t outlets,
                     const char *ops, struct problem *problem)
{
	uint64_t most = memory_bytes / pool_mbuf_bytes();
	char name[32];

	supply->keep = MBUFS_RESERVE + outlets * OUTLET_ROOM;
	if (most < MBUFS_FIRST + supply->keep)
		most = MBUFS_FIRST + supply->keep;
	if (most > INT32_MAX)
		most = INT32_MAX;
	snprintf(name, sizeof(name), "replay-%p", (void *)supply);
	supply->pool = offline_pool_make(name, MBUFS_FIRST + supply->keep, (uint32_t)most, ops);
	if (supply->pool)
		return 0;
	problem_set(problem, -1, "no memory for %" PRIu64 " packet buffers", most);
	return -ENOMEM;
}

void mbuf_supply_return(struct mbuf_supply *supply)
{
	rte_pktmbuf_free_bulk(supply->spare, supply->n_spare);
	supply->n_spare = 0;
}

void mbuf_supply_close(struct mbuf_supply *supply)
{
	mbuf_supply_return(supply);
	offline_pool_free(supply->pool);
	supply->pool = NULL;
}

/* Counts the free mbufs of the mempool and grows it, by doubling up to its limit, until n mbufs may
 * be taken and `keep` are left for the engine. */
static int count_pool(struct mbuf_supply *supply, uint32_t n, struct problem *problem)
{
	struct rte_mempool *pool = supply->pool;
	uint32_t available = pool_available(pool);

	while (available < n + supply->keep) {
		if (offline_pool_grow(pool, pool_size(pool)) == 0) {
			problem_set(problem, -1,
			            "the clouds hold %" PRIu32
			            " packet buffers, all the memory that they may take (%" PRIu64
			            " MiB); allow more with --memory",
			            pool_size(pool) - available,
			            (uint64_t)pool_size(pool) * pool_mbuf_bytes() >> 20);
			return -ENOMEM;
		}
		available = pool_available(pool);
	}
	/* Counting reads the cache of every lcore, so it is repeated only when this many mbufs have
	 * been taken. Only half of the free mbufs count, because a cloud may copy each packet. */
	supply->uncounted = RTE_MAX((available - supply->keep) / 2, n);
	return 0;
}

/* Allocates mbufs, so that n are spare. */
static int supply_up(struct mbuf_supply *supply, uint32_t n, struct problem *problem)
{
	uint32_t wanted = n - supply->n_spare;

	if (supply->uncounted < wanted) {
		int error = count_pool(supply, wanted, problem);

		if (error)
			return error;
	}
	supply->uncounted -= wanted;
	if (rte_pktmbuf_alloc_bulk(supply->pool, supply->spare + supply->n_spare, wanted) < 0) {
		problem_set(problem, -1, "the mempool is empty although it counts %u buffers",
		            pool_available(supply->pool));
		return -ENOMEM;
	}
	supply->n_spare = n;
	return 0;
}

static struct rte_mbuf *segment_fill(struct mbuf_supply *supply, const uint8_t *data,
                                     uint32_t bytes)
{
	struct rte_mbuf *mbuf = supply->spare[--supply->n_spare];

	frame_copy(rte_pktmbuf_mtod(mbuf, uint8_t *), data, bytes);
	mbuf->data_len = (uint16_t)bytes;
	mbuf->pkt_len = bytes;
	return mbuf;
}

static void chain_fill(struct mbuf_supply *supply, struct rte_mbuf *head, const uint8_t *data,
                       uint32_t bytes)
{
	struct rte_mbuf *last = head;

	for (uint32_t at = SEGMENT_BYTES; at < bytes; at += SEGMENT_BYTES) {
		uint32_t part = RTE_MIN(bytes - at, (uint32_t)SEGMENT_BYTES);

		last->next = segment_fill(supply, data + at, part);
		last = last->next;
		head->nb_segs++;
	}
	head->pkt_len = bytes;
}

struct rte_mbuf *mbuf_supply_frame(struct mbuf_supply *supply, const uint8_t *data, uint32_t bytes,
                                   struct problem *problem)
{
	const uint32_t segments = bytes / SEGMENT_BYTES + 1;
	struct rte_mbuf *mbuf;

	if (unlikely(supply->n_spare < segments) &&
	    supply_up(supply, RTE_MAX(segments, 2u * BURST_MAX), problem))
		return NULL;
	mbuf = segment_fill(supply, data, RTE_MIN(bytes, (uint32_t)SEGMENT_BYTES));
	if (unlikely(bytes > SEGMENT_BYTES))
		chain_fill(supply, mbuf, data, bytes);
	return mbuf;
}
