/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mempool that feeds ports and engine, and the memory where the engine holds small packets.
 *
 * Thread: control. Getting from and putting into the mempool: any lcore.
 */
#ifndef WEIR_POOL_H
#define WEIR_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <rte_mempool.h>

/* mbufs of RTE_MBUF_DEFAULT_BUF_SIZE with PACKET_PRIVATE_BYTES of private area. `ops` names other
 * mempool ops (the tests' poisoning ones); NULL: DPDK's default. NULL and rte_errno on failure. */
struct rte_mempool *pool_make(const char *name, uint32_t mbufs, const char *ops);
/* The same, in memory of its own and not the EAL's: huge pages where the kernel gives them, also
 * when the EAL has none (measured at 64 B: 25 ns a packet instead of 40). No PCI device may see
 * these mbufs: they have no bus address. */
struct rte_mempool *pool_make_outside(const char *name, uint32_t mbufs);
void pool_free(struct rte_mempool *pool);

/* For a pool of another kind (offline_pool.h): the size of its elements, and what its private part
 * says about its mbufs. */
void pool_element_sizes(struct rte_mempool_objsz *sizes);
void pool_private_init(struct rte_mempool *pool);

/* Bytes of memory that an mbuf of these pools takes. */
uint32_t pool_mbuf_bytes(void);
/* Mbufs that are in the pool, caches included, and mbufs that it is made of: equal when whole. */
uint32_t pool_available(const struct rte_mempool *pool);
uint32_t pool_size(const struct rte_mempool *pool);

/* Memory for engine_setup.memory, touched, so that no page fault comes later; huge pages where the
 * kernel gives them. NULL and errno on failure. */
void *memory_make(size_t bytes);
/* The same, not touched: takes memory only where it is used. */
void *memory_reserve(size_t bytes);
void memory_free(void *memory, size_t bytes);

/* engine_setup.spread: requests large pages of the kernel, which may refuse. */
void pool_spread(void *memory, size_t bytes);

#endif
