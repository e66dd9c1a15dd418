/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet/copy.h"

struct rte_mbuf *copy_make(struct rte_mempool *pool, struct rte_mbuf *original)
{
	/* rte_pktmbuf_copy does not copy a packet of 0 bytes. */
	return original->pkt_len ? rte_pktmbuf_copy(original, pool, 0, UINT32_MAX)
	                         : rte_pktmbuf_alloc(pool);
}

static bool is_shared(const struct rte_mbuf *mbuf)
{
	for (; mbuf; mbuf = mbuf->next) {
		if (!RTE_MBUF_DIRECT(mbuf) || rte_mbuf_refcnt_read(mbuf) != 1)
			return true;
	}
	return false;
}

struct rte_mbuf *copy_unshare(struct rte_mempool *pool, struct rte_mbuf *mbuf)
{
	struct rte_mbuf *copy;

	if (!is_shared(mbuf))
		return mbuf;
	copy = copy_make(pool, mbuf);
	if (copy)
		rte_pktmbuf_free(mbuf);
	return copy;
}
