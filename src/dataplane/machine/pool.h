/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mempool for ports and engine, and the memory in which the engine holds small packets.
 *
 * Thread: control. Getting from and putting into the mempool: any lcore.
 */
#ifndef WEIR_POOL_H
#define WEIR_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <rte_mempool.h>

/* Makes a pool of mbufs of RTE_MBUF_DEFAULT_BUF_SIZE with PACKET_PRIVATE_BYTES of private area.
 * `ops` names other mempool ops (the tests' poisoning ones); NULL: a stack if this DPDK has it,
 * else a ring. Returns NULL with rte_errno set on failure. */
struct rte_mempool *pool_make(const char *name, uint32_t mbufs, const char *ops);
/* Does the same in memory of its own instead of the EAL's: huge pages if the kernel gives them,
 * also when the EAL has none (measured at 64 B: 25 ns a packet instead of 40). No PCI device may
 * use these mbufs: they have no bus address. */
struct rte_mempool *pool_make_outside(const char *name, uint32_t mbufs);
/* Returns how many bytes that memory has: pool_make_outside asks memory_make for them. */
size_t pool_outside_bytes(uint32_t mbufs);
void pool_free(struct rte_mempool *pool);

/* For a pool of another kind (offline_pool.h): the first returns the sizes of its elements, the
 * second writes the description of the mbufs into its private part. */
void pool_element_sizes(struct rte_mempool_objsz *sizes);
void pool_private_init(struct rte_mempool *pool);

/* Returns the bytes of memory that an mbuf of these pools takes. */
uint32_t pool_mbuf_bytes(void);
/* Return the mbufs in the pool, caches included, and the mbufs that it was made with: equal if none
 * is in use. */
uint32_t pool_available(const struct rte_mempool *pool);
uint32_t pool_size(const struct rte_mempool *pool);

/* Allocates memory for engine_setup.memory and touches it, so that no page fault comes later; huge
 * pages if the kernel gives them. Returns NULL with errno set on failure. */
void *memory_make(size_t bytes);
/* Does the same without touching the memory: it is taken from the machine only where it is used. */
void *memory_reserve(size_t bytes);
/* Makes memory in a thread of its own: memory_make takes it if it asks for as many bytes. 64
 * MiB take 10 ms, or some 100 ms in a virtual machine whose host has to find them. Room for two
 * pieces; a further one, or one that fails, is made by memory_make as usual. */
void memory_ahead(size_t bytes);
/* Frees what memory_make has not taken. */
void memory_ahead_end(void);
void memory_free(void *memory, size_t bytes);

/* Requests huge pages from the kernel, which may refuse. For engine_setup.spread. */
void pool_spread(void *memory, size_t bytes);

#endif
