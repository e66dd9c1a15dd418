/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of packets, for code that duplicates packets or writes to them.
 *
 * A copy has its own mbufs, from the pool, with the bytes of the original.
 * Thread: the worker that owns the packet.
 */
#ifndef WEIR_COPY_H
#define WEIR_COPY_H

#include <stdbool.h>

#include <rte_mbuf.h>

/* Returns a copy, or NULL if the pool is empty. The original stays the caller's. */
struct rte_mbuf *copy_make(struct rte_mempool *pool, struct rte_mbuf *original);

/* Returns true if the mbuf is certainly not shared. Always returns false for several segments: it
 * checks the first mbuf only. */
static inline bool copy_is_writable(const struct rte_mbuf *mbuf)
{
	return mbuf->nb_segs == 1 && rte_mbuf_refcnt_read(mbuf) == 1 && RTE_MBUF_DIRECT(mbuf);
}
/* Returns the packet in mbufs that are not shared: the packet itself, or a copy; then it frees the
 * original. Returns NULL if the pool is empty; the packet is still the caller's. */
struct rte_mbuf *copy_unshare(struct rte_mempool *pool, struct rte_mbuf *mbuf);

#endif
