/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of packets, for stages that duplicate and for stages that write.
 *
 * A copy has its own mbufs, of the engine's pool, bytes and struct packet as the original's.
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_COPY_H
#define WEIR_COPY_H

#include <rte_mbuf.h>

struct cloud;

/* NULL: the pool is empty. The original stays the caller's. */
struct rte_mbuf *copy_make(const struct cloud *cloud, struct rte_mbuf *original);

/* The same packet in mbufs without another reference: itself, or a copy, for which it is given
 * back. NULL: the pool is empty; the packet was dropped, and counted as no-buffer. */
struct rte_mbuf *copy_unshare(struct cloud *cloud, struct rte_mbuf *mbuf);
/* Whether it is the packet itself, by a quick test: false for one in several segments. */
static inline bool copy_is_writable(const struct rte_mbuf *mbuf)
{
	return mbuf->nb_segs == 1 && rte_mbuf_refcnt_read(mbuf) == 1 && RTE_MBUF_DIRECT(mbuf);
}
static inline struct rte_mbuf *copy_writable(struct cloud *cloud, struct rte_mbuf *mbuf)
{
	return likely(copy_is_writable(mbuf)) ? mbuf : copy_unshare(cloud, mbuf);
}

#endif
