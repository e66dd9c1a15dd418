/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of packets, for who duplicates and for who writes.
 *
 * A copy has its own mbufs, of the pool, with the bytes of the original.
 * Thread: the worker that owns the packet.
 */
#ifndef WEIR_COPY_H
#define WEIR_COPY_H

#include <stdbool.h>

#include <rte_mbuf.h>

/* NULL: the pool is empty. The original stays the caller's. */
struct rte_mbuf *copy_make(struct rte_mempool *pool, struct rte_mbuf *original);

/* Whether nobody else sees the mbuf, told at a glance: of one in several segments it is not
 * said. */
static inline bool copy_is_writable(const struct rte_mbuf *mbuf)
{
	return mbuf->nb_segs == 1 && rte_mbuf_refcnt_read(mbuf) == 1 && RTE_MBUF_DIRECT(mbuf);
}
/* The same packet in mbufs that nobody else sees: itself, or a copy, for which it is given back.
 * NULL: the pool is empty, and the packet is the caller's still. */
struct rte_mbuf *copy_unshare(struct rte_mempool *pool, struct rte_mbuf *mbuf);

#endif
