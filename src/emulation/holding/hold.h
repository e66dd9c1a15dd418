/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves packets between mbufs and records: a small frame is copied and its mbuf is reused, a large
 * frame stays in its mbuf. The limit between them is `copy_bytes_max` (measured:
 * docs/performance.md).
 *
 * Thread: the worker that owns the engine.
 */
#ifndef WEIR_HOLD_H
#define WEIR_HOLD_H

#include <stddef.h>
#include <string.h>

#include <rte_mempool.h>

#include "holding/log.h"
#include "packet/outlet.h"
#include "packet/packet_bytes.h"

#define HOLD_COPY_BYTES_DEFAULT 512
#define HOLD_SPARE_MAX          256

/* The memory with which a worker's clouds hold packets. */
struct holder {
	struct arena arena;
	struct rte_mempool *pool;
	uint32_t copy_bytes_max;
	/* mbufs that hold packets (five for a frame of five segments), and their maximum. Without a
	 * maximum, large frames could take the last mbuf, and a small frame ahead of them would
	 * never find one to leave in. */
	uint32_t kept, kept_max;
	/* mbufs whose frames were copied, on a stack: the next packet that leaves takes the warmest
	 * one. In a steady flow the pool is not used at all. */
	uint32_t n_spare;
	struct rte_mbuf *spare[HOLD_SPARE_MAX];
	/* Where the earliest instant is stored at which a packet found no memory; or NULL. */
	simtime *lacked_ns;
};

/* Notes that a packet has found no memory at this instant. */
static inline void hold_lacked(const struct holder *holder, simtime t_ns)
{
	if (holder->lacked_ns)
		*holder->lacked_ns = simtime_min(*holder->lacked_ns, t_ns);
}

/* Copies in whole blocks: both sides have room for a block beyond the frame's end. */
static __rte_always_inline void hold_copy(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	memcpy(to, from, COPY_BLOCK_BYTES);
	for (uint32_t done = COPY_BLOCK_BYTES; done < bytes; done += COPY_BLOCK_BYTES)
		memcpy(to + done, from + done, COPY_BLOCK_BYTES);
}

/* Returns true if the frame can be copied block by block, and its mbuf be reused as it is. */
static inline bool hold_copies(const struct holder *holder, const struct rte_mbuf *mbuf)
{
	return mbuf->data_len <= holder->copy_bytes_max && mbuf->nb_segs == 1 &&
	       (uint32_t)mbuf->data_off + mbuf->data_len + COPY_BLOCK_BYTES <= mbuf->buf_len;
}

/* Returns true if a frame that is not copied may stay in its mbufs. */
static inline bool hold_may_keep(const struct holder *holder, const struct rte_mbuf *mbuf)
{
	return holder->kept + mbuf->nb_segs <= holder->kept_max;
}

/* Returns how many bytes a record stores: the frame, or the address of its mbuf. */
static inline uint32_t hold_stored_bytes(const struct rte_mbuf *mbuf, bool copied)
{
	return copied ? mbuf->data_len : (uint32_t)sizeof(mbuf);
}

/* Gives mbufs back to the pool until at most `keep` are spare. */
void hold_give_back(struct holder *holder, uint32_t keep);

/* Packs data_off, refcnt, nb_segs and port of an mbuf into one word. Mbufs of the holder
 * (hold_owns) with equal words can be treated alike, lengths aside. */
static __rte_always_inline uint64_t hold_shape(const struct rte_mbuf *mbuf)
{
	const size_t at = offsetof(struct rte_mbuf, data_off);
	uint64_t shape;

	_Static_assert(
	        offsetof(struct rte_mbuf, refcnt) - offsetof(struct rte_mbuf, data_off) < 8 &&
	                offsetof(struct rte_mbuf, nb_segs) - offsetof(struct rte_mbuf, data_off) <
	                        8,
	        "they lie side by side");
	memcpy(&shape, (const uint8_t *)mbuf + at, sizeof(shape));
	return shape;
}

/* Returns the lengths of the frame, total and in the first segment, in one word. */
static __rte_always_inline uint64_t hold_lengths(const struct rte_mbuf *mbuf)
{
	uint64_t lengths;

	_Static_assert(offsetof(struct rte_mbuf, data_len) ==
	                       offsetof(struct rte_mbuf, pkt_len) + 4,
	               "they lie side by side");
	memcpy(&lengths, &mbuf->pkt_len, sizeof(lengths));
	return lengths & rte_cpu_to_le_64(UINT64_C(0xffffffffffff));
}

/* Returns true if the mbuf is from the holder's pool, and its frame is in its own buffer. */
static inline bool hold_owns(const struct holder *holder, const struct rte_mbuf *mbuf)
{
	return mbuf->pool == holder->pool && RTE_MBUF_DIRECT(mbuf);
}

/* Returns true if hold_owns is true, and there is no other reference: the mbuf can become spare. */
static inline bool hold_owns_alone(const struct holder *holder, const struct rte_mbuf *mbuf)
{
	return hold_owns(holder, mbuf) && rte_mbuf_refcnt_read(mbuf) == 1;
}

/* Gets spare mbufs from the pool if there are few. Returns how many there are, at most BURST_MAX,
 * or 0 if the pool is empty. */
static inline uint32_t hold_provide(struct holder *holder)
{
	if (unlikely(holder->n_spare < BURST_MAX)) {
		void **end = (void **)&holder->spare[holder->n_spare];

		if (likely(rte_mempool_get_bulk(holder->pool, end, BURST_MAX) == 0))
			holder->n_spare += BURST_MAX;
		/* A pool with less than BURST_MAX may have one. */
		else if (holder->n_spare == 0 && rte_mempool_get(holder->pool, end) == 0)
			holder->n_spare = 1;
	}
	return RTE_MIN(holder->n_spare, (uint32_t)BURST_MAX);
}

/* Stores the frame in the record: the mbuf becomes spare, or belongs to the record. The mbuf of a
 * copied frame is freed if it is not the holder's alone, or there are enough spare ones. */
static __rte_always_inline void hold_store(struct holder *holder, struct held *held, bool copied,
                                           struct rte_mbuf *mbuf)
{
	if (copied) {
		held->stored_bytes = mbuf->data_len;
		hold_copy(held->data, rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len);
		if (likely(hold_owns_alone(holder, mbuf) && holder->n_spare < HOLD_SPARE_MAX)) {
			holder->spare[holder->n_spare++] = mbuf;
		} else {
			struct rte_mbuf *freed = mbuf; /* `mbuf` stays in its register */

			rte_pktmbuf_free_bulk(&freed, 1);
		}
	} else {
		held->stored_bytes = sizeof(mbuf);
		held->flags |= HELD_MBUF;
		memcpy(held->data, &mbuf, sizeof(mbuf));
		holder->kept += mbuf->nb_segs;
	}
}

/* Moves packet i of the burst into the record, whose time, and on a wheel whose cloud, the caller
 * sets. */
static __rte_always_inline void hold_fill(struct holder *holder, struct held *held, bool copied,
                                          const struct burst *burst, uint32_t i)
{
	held->wire_bytes = burst_wire_bytes(burst, i);
	held->number = (uint32_t)burst_number(burst, i);
	held->flags = burst_flags(burst, i);
	hold_store(holder, held, copied, burst->mbuf[i]);
}

/* Moves a packet to another record of the same size; time and cloud as above. */
static inline void hold_record(struct held *to, const struct held *from)
{
	to->wire_bytes = from->wire_bytes;
	to->stored_bytes = from->stored_bytes;
	to->flags = from->flags;
	to->number = from->number;
	hold_copy(to->data, from->data, from->stored_bytes);
}

/* Returns where the frame of a spare mbuf goes, without reading the mbuf: its cache line may not
 * have arrived yet. */
static inline uint8_t *hold_room(struct rte_mbuf *spare)
{
	return (uint8_t *)rte_mbuf_to_priv(spare) + PACKET_PRIVATE_BYTES + RTE_PKTMBUF_HEADROOM;
}

/* Writes a copied frame into a spare mbuf. */
static __rte_always_inline void hold_into(struct rte_mbuf *spare, const void *frame, uint16_t bytes)
{
	spare->data_off = RTE_PKTMBUF_HEADROOM;
	spare->ol_flags = 0;
	spare->packet_type = 0;
	spare->data_len = bytes;
	spare->pkt_len = bytes;
	hold_copy(hold_room(spare), frame, bytes);
}

/* Returns how many of k packets of a record there are mbufs for. */
static __rte_always_inline uint32_t hold_may_leave(struct holder *holder, const struct held *held,
                                                   uint32_t k)
{
	if (likely(holder->n_spare >= k) || held->flags & HELD_MBUF)
		return k;
	return RTE_MIN(k, hold_provide(holder));
}

/* Moves k packets of a record, from packet `first` of it on, into the outlet, where they are due at
 * `due`. The outlet has room, and hold_may_leave has allowed it. Fetches what lies `ahead` bytes
 * behind each frame. The only way from a record into an outlet; a cell, which is no record, leaves
 * by cell_leave (wheel_burst.c). */
static __rte_always_inline void hold_leave(struct holder *holder, const struct held *held,
                                           uint32_t first, uint32_t k, simtime due, uintptr_t ahead,
                                           struct outlet *outlet)
{
	const uint32_t stride = held_stride(held), at = outlet->n, wire_bytes = held->wire_bytes;
	const bool kept = held->flags & HELD_MBUF;
	const uint16_t bytes = held->stored_bytes;
	const uint8_t *from = held->data + first * stride;
	struct rte_mbuf **mbufs = &outlet->mbufs[at];

	for (uint32_t i = 0; unlikely(kept) && i < k; i++, from += stride) {
		memcpy(&mbufs[i], from, sizeof(mbufs[i]));
		holder->kept -= mbufs[i]->nb_segs;
	}
	if (likely(!kept)) {
		struct rte_mbuf *const *spare = &holder->spare[holder->n_spare];

		for (uint32_t i = 0; i < k; i++, from += stride) {
			struct rte_mbuf *mbuf = *--spare;

			rte_prefetch0((const void *)((uintptr_t)from + ahead));
			mbufs[i] = mbuf;
			hold_into(mbuf, from, bytes);
		}
		holder->n_spare -= k;
	}
	for (uint32_t i = 0; i < k; i++) {
		outlet->due_ns[at + i] = due;
		outlet->wire_bytes[at + i] = wire_bytes;
	}
	outlet->n = at + k;
}

/* Drops the packet of the record. */
static inline void hold_drop(struct holder *holder, const struct held *held)
{
	if (held->flags & HELD_MBUF) {
		holder->kept -= held_mbuf(held)->nb_segs;
		rte_pktmbuf_free(held_mbuf(held));
	}
}

/* Drops all packets of a log of single packets, and gives its chunks back; returns their number. */
uint64_t hold_drop_all(struct holder *holder, struct log *log);

/* Returns the bytes of a packet that is held in a record. */
static inline struct packet_bytes packet_bytes_of_held(struct held *held)
{
	const bool kept = held->flags & HELD_MBUF;

	return (struct packet_bytes){
	        .data = kept ? rte_pktmbuf_mtod(held_mbuf(held), uint8_t *) : held->data,
	        .bytes = kept ? held_mbuf(held)->data_len : held->stored_bytes,
	        .wire_bytes = held->wire_bytes,
	};
}

#endif
