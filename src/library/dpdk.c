/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions and tables of DPDK that the engine and its offline mempool call, for libweir.
 *
 * The engine needs DPDK's headers, in which almost all that it uses of mbufs and mempools is
 * inline, and of DPDK's libraries only what is here. If libweir were linked with these, every user
 * of it would have to install them, and loading them takes longer than most runs. So it has its
 * own, hidden: a process that also loads DPDK has both, and neither sees the other. They do what
 * DPDK documents, as far as the engine asks for it: mbufs of one pool, without a cache, without
 * external buffers, in one thread.
 *
 * Thread: that of the network. The tables are written once, when the library is loaded.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

/* No lcore: a mempool then has no cache. */
RTE_DEFINE_PER_LCORE(unsigned int, _lcore_id) = LCORE_ID_ANY;
RTE_DEFINE_PER_LCORE(int, _rte_errno);

/* A fault of weir that it has found itself. */
void __rte_panic(const char *function, const char *format, ...)
{
	(void)function;
	(void)format;
	abort();
}

/* ---- mempools ---- */

struct rte_mempool_ops_table rte_mempool_ops_table;

int rte_mempool_register_ops(const struct rte_mempool_ops *ops)
{
	struct rte_mempool_ops_table *table = &rte_mempool_ops_table;

	if (table->num_ops == RTE_MEMPOOL_MAX_OPS_IDX)
		return -ENOSPC;
	table->ops[table->num_ops] = *ops;
	return (int)table->num_ops++;
}

int rte_mempool_set_ops_byname(struct rte_mempool *pool, const char *name, void *config)
{
	const struct rte_mempool_ops_table *table = &rte_mempool_ops_table;

	for (uint32_t i = 0; i < table->num_ops; i++) {
		if (strcmp(table->ops[i].name, name) != 0)
			continue;
		pool->ops_index = (int32_t)i;
		pool->pool_config = config;
		return 0;
	}
	return -EINVAL;
}

unsigned int rte_mempool_avail_count(const struct rte_mempool *pool)
{
	return rte_mempool_get_ops(pool->ops_index)->get_count(pool);
}

/* An element takes an odd number of cache lines, so that the beginnings of consecutive elements lie
 * in different sets of a cache. */
uint32_t rte_mempool_calc_obj_size(uint32_t bytes, uint32_t flags, struct rte_mempool_objsz *sizes)
{
	uint32_t lines;

	(void)flags;
	sizes->header_size = RTE_CACHE_LINE_ROUNDUP(sizeof(struct rte_mempool_objhdr));
	sizes->elt_size = RTE_ALIGN(bytes, sizeof(uint64_t));
	lines = (sizes->header_size + sizes->elt_size + RTE_CACHE_LINE_MASK) / RTE_CACHE_LINE_SIZE;
	sizes->total_size = (lines | 1) * RTE_CACHE_LINE_SIZE;
	sizes->trailer_size = sizes->total_size - sizes->header_size - sizes->elt_size;
	return sizes->total_size;
}

/* ---- mbufs ---- */

void rte_pktmbuf_pool_init(struct rte_mempool *pool, void *private)
{
	*(struct rte_pktmbuf_pool_private *)rte_mempool_get_priv(pool) =
	        *(const struct rte_pktmbuf_pool_private *)private;
}

void rte_pktmbuf_init(struct rte_mempool *pool, void *argument, void *object, unsigned int index)
{
	struct rte_mbuf *mbuf = object;
	const uint32_t head = (uint32_t)sizeof(*mbuf) + rte_pktmbuf_priv_size(pool);

	(void)argument;
	(void)index;
	memset(mbuf, 0, head);
	mbuf->priv_size = rte_pktmbuf_priv_size(pool);
	mbuf->buf_addr = (char *)mbuf + head;
	mbuf->buf_len = rte_pktmbuf_data_room_size(pool);
	mbuf->data_off = RTE_MIN(RTE_PKTMBUF_HEADROOM, (uint16_t)mbuf->buf_len);
	mbuf->pool = pool;
	mbuf->nb_segs = 1;
	mbuf->port = RTE_MBUF_PORT_INVALID;
	rte_mbuf_refcnt_set(mbuf, 1);
}

/* Returns true if the mbuf can go back to its pool as it is. */
static inline bool is_plain(const struct rte_mbuf *mbuf)
{
	return mbuf->nb_segs == 1 && RTE_MBUF_DIRECT(mbuf) && rte_mbuf_refcnt_read(mbuf) == 1;
}

/* All mbufs are of one pool. */
void rte_pktmbuf_free_bulk(struct rte_mbuf **mbufs, unsigned int n)
{
	unsigned int begin = 0, end;

	while (begin < n) {
		for (end = begin; end < n && mbufs[end] != NULL && is_plain(mbufs[end]); end++)
			;
		if (end > begin)
			rte_mempool_put_bulk(mbufs[begin]->pool, (void **)&mbufs[begin],
			                     end - begin);
		if (end < n)
			rte_pktmbuf_free(mbufs[end]);
		begin = end + 1;
	}
}

/* Copies `bytes` bytes from `at` of a packet, which has them, behind each other into the chain that
 * begins with `head`. Returns false if the pool is empty. */
static bool copy_bytes(struct rte_mbuf *head, const struct rte_mbuf *from, uint32_t at,
                       uint32_t bytes, struct rte_mempool *pool)
{
	struct rte_mbuf *to = head;

	while (bytes > 0) {
		uint32_t part;

		if (at >= from->data_len) {
			at -= from->data_len;
			from = from->next;
			continue;
		}
		if (rte_pktmbuf_tailroom(to) == 0) {
			to->next = rte_pktmbuf_alloc(pool);
			if (!to->next)
				return false;
			to = to->next;
			head->nb_segs++;
		}
		part = RTE_MIN(RTE_MIN(bytes, from->data_len - at),
		               (uint32_t)rte_pktmbuf_tailroom(to));
		memcpy(rte_pktmbuf_mtod_offset(to, char *, to->data_len),
		       rte_pktmbuf_mtod_offset(from, const char *, at), part);
		to->data_len = (uint16_t)(to->data_len + part);
		head->pkt_len += part;
		at += part;
		bytes -= part;
	}
	return true;
}

struct rte_mbuf *rte_pktmbuf_copy(const struct rte_mbuf *mbuf, struct rte_mempool *pool,
                                  uint32_t offset, uint32_t length)
{
	struct rte_mbuf *copy;

	if (offset >= mbuf->pkt_len)
		return NULL;
	copy = rte_pktmbuf_alloc(pool);
	if (!copy)
		return NULL;
	copy->ol_flags = mbuf->ol_flags & ~(RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL);
	copy->port = mbuf->port;
	if (copy_bytes(copy, mbuf, offset, RTE_MIN(length, mbuf->pkt_len - offset), pool))
		return copy;
	rte_pktmbuf_free(copy);
	return NULL;
}

const void *__rte_pktmbuf_read(const struct rte_mbuf *mbuf, uint32_t offset, uint32_t length,
                               void *buffer)
{
	uint32_t done = 0;

	if (offset > mbuf->pkt_len || length > mbuf->pkt_len - offset)
		return NULL;
	while (done < length) {
		const uint32_t there = mbuf->data_len > offset ? mbuf->data_len - offset : 0;
		const uint32_t part = RTE_MIN(there, length - done);

		memcpy((char *)buffer + done, rte_pktmbuf_mtod_offset(mbuf, const char *, offset),
		       part);
		done += part;
		offset -= RTE_MIN(offset, (uint32_t)mbuf->data_len);
		mbuf = mbuf->next;
	}
	return buffer;
}
