/* SPDX-License-Identifier: BSD-3-Clause */
#include "offline/offline_pool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "capture/frame_copy.h"
#include "machine/pool.h"
#include "packet/burst.h"
#include "packet/outlet.h"

#define STACK_OPS "weir_stack"

/* ---- the stack of free mbufs ---- */

struct stack {
	uint32_t n, room;
	void *objects[];
};

static int stack_alloc(struct rte_mempool *pool)
{
	struct stack *stack = malloc(sizeof(*stack) + pool->size * sizeof(void *));

	if (!stack)
		return -ENOMEM;
	stack->n = 0;
	stack->room = pool->size;
	pool->pool_data = stack;
	return 0;
}

static void stack_free(struct rte_mempool *pool)
{
	free(pool->pool_data);
	pool->pool_data = NULL;
}

static int stack_enqueue(struct rte_mempool *pool, void *const *objects, unsigned n)
{
	struct stack *stack = pool->pool_data;

	if (unlikely(stack->room - stack->n < n))
		return -ENOBUFS;
	for (unsigned i = 0; i < n; i++)
		stack->objects[stack->n++] = objects[i];
	return 0;
}

/* At once: about 1 MB, so that the pages which the kernel clears are in the processor's cache when
 * frames are written to them. */
#define GROWN_MOST 2048u

/* Grows the pool until it has n free mbufs: doubles it, while it is small. */
static __attribute__((noinline)) bool stack_grows(struct rte_mempool *pool, unsigned n)
{
	const struct stack *stack = pool->pool_data;

	while (stack->n < n) {
		const uint32_t more = RTE_MIN(pool->populated_size, GROWN_MOST);

		if (offline_pool_grow(pool, RTE_MAX(more, n)) == 0)
			return false;
	}
	return true;
}

static int stack_dequeue(struct rte_mempool *pool, void **objects, unsigned n)
{
	struct stack *stack = pool->pool_data;

	if (unlikely(stack->n < n) && !stack_grows(pool, n))
		return -ENOENT;
	for (unsigned i = 0; i < n; i++)
		objects[i] = stack->objects[--stack->n];
	return 0;
}

static unsigned stack_count(const struct rte_mempool *pool)
{
	const struct stack *stack = pool->pool_data;

	return stack->n;
}

static const struct rte_mempool_ops stack_ops = {
        .name = STACK_OPS,
        .alloc = stack_alloc,
        .free = stack_free,
        .enqueue = stack_enqueue,
        .dequeue = stack_dequeue,
        .get_count = stack_count,
};

RTE_MEMPOOL_REGISTER_OPS(stack_ops);

/* ---- the pool ---- */

/* The header of a mapping. */
struct chunk {
	struct chunk *next __rte_cache_aligned;
	size_t bytes;
};

/* DPDK expects the private part of a pool right behind the pool. */
struct offline_pool {
	struct rte_mempool pool;
	struct rte_pktmbuf_pool_private private;
	struct chunk *chunks; /* the latest first */
	char *fresh, *end;    /* of the latest: where there are no mbufs yet */
};

#define CHUNK_MOST      8192u /* mbufs in a mapping, about 20 MB, unless more are wanted at once */
#define HUGE_PAGE_BYTES (UINT64_C(2) << 20)

_Static_assert(offsetof(struct offline_pool, private) == sizeof(struct rte_mempool), "no gap");

static void describe(struct offline_pool *offline_pool, const char *name, uint32_t mbufs_max)
{
	struct rte_mempool *pool = &offline_pool->pool;
	struct rte_mempool_objsz sizes;

	memset(offline_pool, 0, sizeof(*offline_pool));
	pool_element_sizes(&sizes);
	snprintf(pool->name, sizeof(pool->name), "%s", name);
	pool->size = mbufs_max;
	pool->socket_id = SOCKET_ID_ANY;
	pool->elt_size = sizes.elt_size;
	pool->header_size = sizes.header_size;
	pool->trailer_size = sizes.trailer_size;
	pool->private_data_size = sizeof(offline_pool->private);
	STAILQ_INIT(&pool->elt_list);
	STAILQ_INIT(&pool->mem_list);
	pool_private_init(pool);
}

struct rte_mempool *offline_pool_make(const char *name, uint32_t mbufs, uint32_t mbufs_max,
                                      const char *ops)
{
	struct offline_pool *offline_pool =
	        aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_CACHE_LINE_ROUNDUP(sizeof(*offline_pool)));

	rte_errno = ENOMEM;
	if (!offline_pool)
		return NULL;
	describe(offline_pool, name, mbufs_max);
	if (rte_mempool_set_ops_byname(&offline_pool->pool, ops ? ops : STACK_OPS, NULL) < 0) {
		rte_errno = EINVAL;
		goto err_free;
	}
	if (rte_mempool_get_ops(offline_pool->pool.ops_index)->alloc(&offline_pool->pool) < 0)
		goto err_free;
	offline_pool->pool.flags =
	        RTE_MEMPOOL_F_POOL_CREATED | RTE_MEMPOOL_F_NO_IOVA_CONTIG | RTE_MEMPOOL_F_NON_IO;
	if (offline_pool_grow(&offline_pool->pool, mbufs) > 0)
		return &offline_pool->pool;
	offline_pool_free(&offline_pool->pool);
	return NULL;

err_free:
	free(offline_pool);
	return NULL;
}

/* Adds an mbuf, with its header ahead of it, as in every mempool. */
static void add_mbuf(struct rte_mempool *pool, char *element)
{
	struct rte_mempool_objhdr *header =
	        (struct rte_mempool_objhdr *)(element + pool->header_size) - 1;
	void *mbuf = element + pool->header_size;

	header->mp = pool;
	header->iova = RTE_BAD_IOVA;
	STAILQ_INSERT_TAIL(&pool->elt_list, header, next);
	rte_pktmbuf_init(pool, NULL, mbuf, pool->populated_size++);
	rte_mempool_put(pool, mbuf);
}

/* Maps room for `mbufs` at least; for as many as there are, while these are few. Its pages come
 * when mbufs are made there. Returns false if there is no memory. */
static bool map_chunk(struct offline_pool *offline_pool, uint32_t mbufs)
{
	const struct rte_mempool *pool = &offline_pool->pool;
	const uint32_t like = RTE_MIN(RTE_MIN(pool->populated_size, CHUNK_MOST),
	                              pool->size - pool->populated_size);
	size_t bytes = sizeof(struct chunk) + RTE_MAX(mbufs, like) * (size_t)pool_mbuf_bytes();
	struct chunk *chunk;

	/* The kernel takes huge pages for what begins and ends with one. */
	if (bytes > HUGE_PAGE_BYTES)
		bytes = RTE_ALIGN_CEIL(bytes, HUGE_PAGE_BYTES);
	chunk = memory_reserve(bytes);
	if (!chunk)
		return false;
	*chunk = (struct chunk){offline_pool->chunks, bytes};
	offline_pool->chunks = chunk;
	offline_pool->pool.nb_mem_chunks++;
	offline_pool->fresh = (char *)(chunk + 1);
	offline_pool->end = (char *)chunk + bytes;
	return true;
}

uint32_t offline_pool_grow(struct rte_mempool *pool, uint32_t mbufs)
{
	struct offline_pool *offline_pool = (struct offline_pool *)pool;
	const size_t bytes = pool_mbuf_bytes();
	uint32_t made = 0;

	mbufs = RTE_MIN(mbufs, pool->size - pool->populated_size);
	while (made < mbufs) {
		size_t n = (size_t)(offline_pool->end - offline_pool->fresh) / bytes;

		if (n == 0 && !map_chunk(offline_pool, mbufs - made))
			break;
		n = RTE_MIN(n, mbufs - made);
		/* The last one is taken out first, so in the order of addresses. */
		for (size_t i = n; i > 0; i--)
			add_mbuf(pool, offline_pool->fresh + (i - 1) * bytes);
		offline_pool->fresh += n * bytes;
		made += (uint32_t)n;
	}
	return made;
}

void offline_pool_free(struct rte_mempool *pool)
{
	struct offline_pool *offline_pool = (struct offline_pool *)pool;

	if (!offline_pool)
		return;
	rte_mempool_get_ops(pool->ops_index)->free(pool);
	for (struct chunk *chunk = offline_pool->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		memory_free(chunk, chunk->bytes);
	}
	free(offline_pool);
}

uint32_t offline_pool_room(const struct rte_mempool *pool)
{
	const bool grows = rte_mempool_get_ops(pool->ops_index)->dequeue == stack_dequeue;

	return pool_available(pool) + (grows ? pool->size - pool->populated_size : 0);
}

#define SEGMENT_BYTES (RTE_MBUF_DEFAULT_BUF_SIZE - RTE_PKTMBUF_HEADROOM)
#define MBUFS_FIRST   4096u /* about 10 MB */
#define MBUFS_RESERVE 2048u

int mbuf_supply_open(struct mbuf_supply *supply, const struct mbuf_supply_plan *plan,
                     struct problem *problem)
{
	uint64_t most = plan->memory_bytes / pool_mbuf_bytes();
	char name[32];

	supply->keep = MBUFS_RESERVE + plan->outlets * OUTLET_ROOM;
	if (most < MBUFS_FIRST + supply->keep)
		most = MBUFS_FIRST + supply->keep;
	if (most > INT32_MAX)
		most = INT32_MAX;
	snprintf(name, sizeof(name), "replay-%p", (void *)supply);
	supply->pool =
	        offline_pool_make(name, plan->mbufs ? plan->mbufs : MBUFS_FIRST + supply->keep,
	                          (uint32_t)most, plan->ops);
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

/* Checks that n mbufs may be taken and `keep` are left for the engine; those count that the mempool
 * can still make. Other ops than its own cannot: then they are made here, by doubling. */
static int count_pool(struct mbuf_supply *supply, uint32_t n, struct problem *problem)
{
	struct rte_mempool *pool = supply->pool;
	uint32_t available = offline_pool_room(pool);

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
		available = offline_pool_room(pool);
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
