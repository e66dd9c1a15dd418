/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/pool.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "packet/packet.h"

/* The mbufs in an lcore's cache: so many that a burst seldom needs the common part of the pool, so
 * few that these mbufs stay in the processor's cache. */
#define POOL_CACHE   256u
#define ELEMENT_SIZE (sizeof(struct rte_mbuf) + PACKET_PRIVATE_BYTES + RTE_MBUF_DEFAULT_BUF_SIZE)

/* Returns the size of an lcore's cache. DPDK allows two thirds of the pool at most. With special
 * ops (the tests') there is no cache, because mbufs that go into a cache bypass the ops. */
static uint32_t cache_size(uint32_t mbufs, const char *ops)
{
	uint32_t most = mbufs / 2;

	if (ops)
		return 0;
	return most < POOL_CACHE ? most : POOL_CACHE;
}

/* Returns the ops of the common part of the pool, which takes the mbufs that do not fit into an
 * lcore's cache. A stack, if this DPDK has it: its next mbuf was used a moment ago and lies in the
 * processor's cache; the next mbuf of a ring is the one that has waited longest. */
static const char *common_ops(void)
{
	for (uint32_t i = 0; i < rte_mempool_ops_table.num_ops; i++) {
		if (strcmp(rte_mempool_ops_table.ops[i].name, "stack") == 0)
			return "stack";
	}
	return "ring_mp_mc";
}

struct rte_mempool *pool_make(const char *name, uint32_t mbufs, const char *ops)
{
	return rte_pktmbuf_pool_create_by_ops(name, mbufs, cache_size(mbufs, ops),
	                                      PACKET_PRIVATE_BYTES, RTE_MBUF_DEFAULT_BUF_SIZE,
	                                      (int)rte_socket_id(), ops ? ops : common_ops());
}

void pool_private_init(struct rte_mempool *pool)
{
	struct rte_pktmbuf_pool_private private = {
	        .mbuf_data_room_size = RTE_MBUF_DEFAULT_BUF_SIZE,
	        .mbuf_priv_size = PACKET_PRIVATE_BYTES,
	};

	rte_pktmbuf_pool_init(pool, &private);
}

static void free_outside(struct rte_mempool_memhdr *chunk, void *bytes)
{
	memory_free(chunk->addr, (size_t)(uintptr_t)bytes);
}

size_t pool_outside_bytes(uint32_t mbufs)
{
	return (size_t)mbufs * pool_mbuf_bytes() + RTE_CACHE_LINE_SIZE;
}

struct rte_mempool *pool_make_outside(const char *name, uint32_t mbufs)
{
	struct rte_mempool *pool =
	        rte_mempool_create_empty(name, mbufs, ELEMENT_SIZE, cache_size(mbufs, NULL),
	                                 sizeof(struct rte_pktmbuf_pool_private),
	                                 (int)rte_socket_id(), RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	size_t bytes = pool_outside_bytes(mbufs);
	void *chunk;

	if (!pool)
		return NULL;
	pool_private_init(pool);
	chunk = memory_make(bytes);
	if (!chunk || rte_mempool_set_ops_byname(pool, common_ops(), NULL) < 0)
		goto err_free;
	if (rte_mempool_populate_iova(pool, chunk, RTE_BAD_IOVA, bytes, free_outside,
	                              (void *)(uintptr_t)bytes) != (int)mbufs)
		goto err_free;
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;

err_free:
	/* If the pool has taken the chunk, the pool frees it. */
	if (pool->nb_mem_chunks == 0)
		memory_free(chunk, bytes);
	rte_mempool_free(pool);
	rte_errno = ENOMEM;
	return NULL;
}

void pool_free(struct rte_mempool *pool)
{
	rte_mempool_free(pool);
}

void pool_element_sizes(struct rte_mempool_objsz *sizes)
{
	(void)rte_mempool_calc_obj_size(ELEMENT_SIZE, 0, sizes);
}

uint32_t pool_mbuf_bytes(void)
{
	struct rte_mempool_objsz sizes;

	pool_element_sizes(&sizes);
	return sizes.total_size;
}

uint32_t pool_available(const struct rte_mempool *pool)
{
	return rte_mempool_avail_count(pool);
}

uint32_t pool_size(const struct rte_mempool *pool)
{
	return pool->populated_size;
}

void *memory_reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	/* Optional: without huge pages the memory works as well, a little slower. */
	(void)madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

static void *make(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = memory_reserve(bytes);

	for (size_t at = 0; memory && at < bytes; at += page)
		memory[at] = 0;
	return (void *)(uintptr_t)memory;
}

/* What is made ahead; `bytes` 0: nothing. */
static struct piece {
	size_t bytes;
	void *memory;
	pthread_t thread;
} ahead[2];

static void *make_piece(void *argument)
{
	struct piece *piece = argument;

	piece->memory = make(piece->bytes);
	return NULL;
}

void memory_ahead(size_t bytes)
{
	for (size_t i = 0; i < RTE_DIM(ahead); i++) {
		if (ahead[i].bytes > 0)
			continue;
		ahead[i] = (struct piece){.bytes = bytes};
		if (pthread_create(&ahead[i].thread, NULL, make_piece, &ahead[i]) != 0)
			ahead[i].bytes = 0;
		return;
	}
}

static void *take(struct piece *piece)
{
	pthread_join(piece->thread, NULL);
	piece->bytes = 0;
	return piece->memory;
}

void memory_ahead_end(void)
{
	for (size_t i = 0; i < RTE_DIM(ahead); i++) {
		const size_t bytes = ahead[i].bytes;

		if (bytes > 0)
			memory_free(take(&ahead[i]), bytes);
	}
}

void *memory_make(size_t bytes)
{
	for (size_t i = 0; bytes > 0 && i < RTE_DIM(ahead); i++) {
		if (ahead[i].bytes == bytes)
			return take(&ahead[i]);
	}
	return make(bytes);
}

void memory_free(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}

void pool_spread(void *memory, size_t bytes)
{
	madvise(memory, bytes, MADV_HUGEPAGE);
}
