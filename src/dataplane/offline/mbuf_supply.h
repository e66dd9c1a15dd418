/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mbufs of a replay: a mempool that grows with what the engine holds, and functions that put
 * frames into its mbufs. A frame that is longer than one mbuf becomes a chain.
 *
 * Ownership: the mbufs handed out are the caller's, the mempool is the supply's.
 * Thread: one.
 */
#ifndef WEIR_MBUF_SUPPLY_H
#define WEIR_MBUF_SUPPLY_H

#include <rte_mbuf.h>

#include "scenario/problem.h"

#define MBUF_SUPPLY_SPARE 256u

struct mbuf_supply {
	struct rte_mempool *pool;
	struct rte_mbuf *spare[MBUF_SUPPLY_SPARE];
	uint32_t n_spare;
	uint32_t keep;      /* mbufs that the engine may need between two frames */
	uint32_t uncounted; /* mbufs that may be taken before the next count */
};

/* Returns 0, or -ENOMEM with problem. `memory_bytes` is the most memory that the supply may take,
 * `outlets` the number of outlets; `ops` as in offline_pool.h. */
int mbuf_supply_open(struct mbuf_supply *supply, uint64_t memory_bytes, uint32_t outlets,
                     const char *ops, struct problem *problem);
/* Returns the spare mbufs to the pool. May be called twice. */
void mbuf_supply_return(struct mbuf_supply *supply);
void mbuf_supply_close(struct mbuf_supply *supply);
/* Returns a frame in mbufs, or NULL with problem if there is no memory. */
struct rte_mbuf *mbuf_supply_frame(struct mbuf_supply *supply, const uint8_t *data, uint32_t bytes,
                                   struct problem *problem);

#endif
