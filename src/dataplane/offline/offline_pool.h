/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mempool for one offline thread. It needs no EAL, allocates memory on demand, and hands out the
 * mbuf that came back last, which is still in the processor's cache.
 *
 * Why: DPDK's own pools live in the EAL's memory and look for their ops among its plugins. Starting
 * the EAL takes 0.2 s: it loads every driver that is installed, and sleeps for 0.1 s to measure the
 * TSC. A replay and the lab have no device and read no clock, so they do without.
 *
 * The mbufs are like those of pool.h, but for one thread, and no device may see them.
 *
 * Ownership: the pool is the caller's, offline_pool_free() gives it back.
 * Thread: one.
 */
#ifndef WEIR_OFFLINE_POOL_H
#define WEIR_OFFLINE_POOL_H

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "scenario/problem.h"

/* Makes a pool that begins with `mbufs`, and grows up to `mbufs_max` when more are taken out.
 * `ops` names other mempool ops, which must not need the EAL either (the poisoning ones of the
 * tests); with these the pool does not grow by itself. NULL: those of a stack. Returns NULL with
 * rte_errno on failure. */
struct rte_mempool *offline_pool_make(const char *name, uint32_t mbufs, uint32_t mbufs_max,
                                      const char *ops);
/* Adds mbufs, as far as mbufs_max allows. Returns how many; 0 if the maximum is reached, or if
 * there is no memory. */
uint32_t offline_pool_grow(struct rte_mempool *pool, uint32_t mbufs);
/* Returns how many mbufs can be taken out: those in the pool, and those by which it grows then. */
uint32_t offline_pool_room(const struct rte_mempool *pool);
/* NULL is allowed. */
void offline_pool_free(struct rte_mempool *pool);

/*
 * The mbufs of a replay: a mempool that grows with what the engine holds, and functions that put
 * frames into its mbufs. A frame that is longer than one mbuf becomes a chain.
 *
 * Ownership: the mbufs handed out are the caller's, the mempool is the supply's.
 * Thread: one.
 */

#define MBUF_SUPPLY_SPARE 256u

struct mbuf_supply {
	struct rte_mempool *pool;
	struct rte_mbuf *spare[MBUF_SUPPLY_SPARE];
	uint32_t n_spare;
	uint32_t keep;      /* mbufs that the engine may need between two frames */
	uint32_t uncounted; /* mbufs that may be taken before the next count */
};

struct mbuf_supply_plan {
	uint64_t memory_bytes; /* the most that the supply may take */
	uint32_t outlets;      /* of the engine */
	uint32_t mbufs;        /* at the beginning; 0: about 15 MB */
	const char *ops;       /* as in offline_pool_make */
};
/* Returns 0, or -ENOMEM with problem. */
int mbuf_supply_open(struct mbuf_supply *supply, const struct mbuf_supply_plan *plan,
                     struct problem *problem);
/* Returns the spare mbufs to the pool. May be called twice. */
void mbuf_supply_return(struct mbuf_supply *supply);
void mbuf_supply_close(struct mbuf_supply *supply);
/* Returns a frame in mbufs, or NULL with problem if there is no memory. */
struct rte_mbuf *mbuf_supply_frame(struct mbuf_supply *supply, const uint8_t *data, uint32_t bytes,
                                   struct problem *problem);

#endif
