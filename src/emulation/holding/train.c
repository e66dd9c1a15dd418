/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/train.h"

/* What the mbufs of a train's packets have in common, besides the fields of the train. */
struct kind {
	uint64_t shape, lengths;
};

/* Returns true if packet i may join the train behind k others. `uniform`: as far as the burst
 * decides it, all may. */
static __rte_always_inline bool follows(const struct held *train, const struct kind *kind,
                                        uint32_t k, const struct burst *burst, uint32_t i,
                                        bool uniform)
{
	const struct rte_mbuf *mbuf = burst->mbuf[i];

	if (unlikely(hold_shape(mbuf) != kind->shape || hold_lengths(mbuf) != kind->lengths))
		return false;
	return uniform || likely(burst_wire_bytes(burst, i) == train->wire_bytes &&
	                         burst_flags(burst, i) == (uint8_t)train->flags &&
	                         (uint32_t)burst_number(burst, i) == train->number + k);
}

/* Copies packets into the train, from packet `from` on, as long as they are like it and the chunk
 * has room; there is room for the first. Their mbufs become spare. Returns how many. */
static __rte_always_inline uint32_t copy_frames(struct log *log, struct holder *holder,
                                                struct held *train, const struct burst *burst,
                                                uint32_t from, uint32_t n, bool uniform)
{
	struct rte_mbuf *mbuf = burst->mbuf[from];
	const struct kind kind = {hold_shape(mbuf), hold_lengths(mbuf)};
	const uint32_t stride = held_stride(train);
	const uint8_t *limit = log->limit;
	uint8_t *write = train->data;
	uint32_t k = 0, spare;

	if (unlikely(!hold_owns_alone(holder, mbuf))) {
		hold_copy(write, rte_pktmbuf_mtod(mbuf, const uint8_t *), stride);
		rte_pktmbuf_free(mbuf);
		return 1;
	}
	if (unlikely(holder->n_spare + n > HOLD_SPARE_MAX))
		hold_give_back(holder, HOLD_SPARE_MAX / 2);
	spare = holder->n_spare;
	for (;;) {
		hold_copy(write, rte_pktmbuf_mtod(mbuf, const uint8_t *), stride);
		holder->spare[spare++] = mbuf;
		write += stride;
		if (++k == n || unlikely((size_t)(limit - write) < stride))
			break;
		mbuf = burst->mbuf[from + k];
		if (unlikely(!follows(train, &kind, k, burst, from + k, uniform) ||
		             !hold_owns(holder, mbuf)))
			break;
	}
	holder->n_spare = spare;
	log->write = write;
	return k;
}

/* The same for frames that stay in their mbufs; the holder may keep the first. */
static uint32_t keep_frames(struct log *log, struct holder *holder, struct held *train,
                            const struct burst *burst, uint32_t from, uint32_t n)
{
	struct rte_mbuf *mbuf = burst->mbuf[from];
	const struct kind kind = {hold_shape(mbuf), hold_lengths(mbuf)};
	uint8_t *write = train->data;
	uint32_t k = 0;

	do {
		memcpy(write, &mbuf, sizeof(mbuf));
		write += sizeof(mbuf);
		holder->kept += mbuf->nb_segs;
		if (++k == n || (size_t)(log->limit - write) < sizeof(mbuf))
			break;
		mbuf = burst->mbuf[from + k];
	} while (hold_may_keep(holder, mbuf) && follows(train, &kind, k, burst, from + k, false));
	log->write = write;
	return k;
}

/* Pushes as many packets as fit into one train. Returns how many: at least one, or 0 if there is no
 * memory. `uniform` as in follows(). */
static __rte_always_inline uint32_t push(struct log *log, struct holder *holder,
                                         const struct burst *burst, uint32_t from, uint32_t n,
                                         simtime due, bool uniform)
{
	const struct rte_mbuf *mbuf = burst->mbuf[from];
	const bool copied = hold_copies(holder, mbuf);
	const uint32_t stored_bytes = hold_stored_bytes(mbuf, copied);
	struct held *train = NULL;
	uint32_t k;

	if (likely(copied || hold_may_keep(holder, mbuf)))
		train = log_append(log, &holder->arena, stored_bytes);
	if (unlikely(!train))
		return 0;
	train->t_ns = due;
	train->wire_bytes = burst_wire_bytes(burst, from);
	train->stored_bytes = (uint16_t)stored_bytes;
	train->flags = (uint16_t)((copied ? 0 : HELD_MBUF) | burst_flags(burst, from));
	train->number = (uint32_t)burst_number(burst, from);
	if (likely(copied))
		k = copy_frames(log, holder, train, burst, from, n, uniform);
	else
		k = keep_frames(log, holder, train, burst, from, n);
	train->n = (uint16_t)k;
	return k;
}

uint16_t train_push(struct log *log, struct holder *holder, const struct burst *burst,
                    uint16_t from, uint16_t n, const simtime *due_ns, bool as_one)
{
	/* Then each packet follows the one before, without a check. */
	const bool uniform = burst->whole && burst->in_sequence;
	uint32_t done = 0, k;

	while (done < n) {
		const simtime due = due_ns[as_one ? 0 : done];
		uint32_t most = as_one ? n - done : 1;

		while (done + most < n && due_ns[done + most] == due)
			most++;
		k = uniform ? push(log, holder, burst, from + done, most, due, true)
		            : push(log, holder, burst, from + done, most, due, false);
		if (unlikely(k == 0))
			break;
		done += k;
	}
	return (uint16_t)done;
}

/* Returns the distance to the next chunk, or 0 if there is none: what leaves one chunk later is
 * fetched there, because the processor's own prefetching ends at the chunk. */
static inline uintptr_t log_ahead(const struct log *log)
{
	const struct chunk *next = log->head->next;

	return likely(next != NULL) ? (uintptr_t)next - (uintptr_t)log->head : 0;
}

/* Counts k packets that have left. Removes the train when all have left. */
static __rte_always_inline void gone(struct log *log, struct holder *holder, struct held *train,
                                     uint32_t k)
{
	train->gone = (uint16_t)(train->gone + k);
	if (likely(train->gone == train->n))
		log_remove(log, &holder->arena, held_bytes_of_all(train));
}

/* Returns true if the oldest train has one packet, which may leave now. */
static __rte_always_inline bool single_leaves(const struct log *log, struct holder *holder,
                                              simtime now)
{
	const struct held *train = log_front(log);

	return train_next(log) <= now && train->n == 1 && hold_may_leave(holder, train, 1);
}

uint64_t train_pop(struct log *log, struct holder *holder, simtime now, struct outlet *outlet,
                   uint32_t most)
{
	const uint32_t end = RTE_MIN(outlet->n + most, OUTLET_ROOM);
	uint64_t bytes = 0;

	while (outlet->n < end && train_next(log) <= now) {
		struct held *train = log_front(log);
		uint32_t k = RTE_MIN((uint32_t)train->n - train->gone, end - outlet->n);

		k = hold_may_leave(holder, train, k);
		if (unlikely(k == 0))
			break;
		if (train->n > 1) {
			hold_leave(holder, train, train->gone, k, train->t_ns, log_ahead(log),
			           outlet);
			bytes += (uint64_t)train->wire_bytes * k;
			gone(log, holder, train, k);
			continue;
		}
		/* If packets come one by one, as in a replay, all trains have one. Without this
		 * loop that takes 104 instructions a packet in place of 71 (`drive leaky-bucket`,
		 * callgrind). */
		do {
			train = log_front(log);
			hold_leave(holder, train, 0, 1, train->t_ns, log_ahead(log), outlet);
			bytes += train->wire_bytes;
			log_pop(log, &holder->arena);
		} while (outlet->n < end && single_leaves(log, holder, now));
	}
	return bytes;
}

void train_front(const struct log *log, struct held *head)
{
	*head = *log_front(log);
	head->number += head->gone;
}

void train_drop(struct log *log, struct holder *holder)
{
	struct held *train = log_front(log);
	struct rte_mbuf *mbuf;

	if (train->flags & HELD_MBUF) {
		memcpy(&mbuf, train->data + train->gone * sizeof(mbuf), sizeof(mbuf));
		holder->kept -= mbuf->nb_segs;
		rte_pktmbuf_free(mbuf);
	}
	gone(log, holder, train, 1);
}

/* ---- the prefetcher ---- */

/* How many packets it fetches in advance of those that are needed, so that packets of many trains
 * are being fetched at the same time. */
#define FURTHER 64u

/* Fetches the part of the next chunk that corresponds to this train in its own: the processor's own
 * prefetching ends at the chunk. */
static void log_fetch(const struct chunk *chunk, const struct held *train)
{
	uintptr_t next = (uintptr_t)train + ((uintptr_t)chunk->next - (uintptr_t)chunk);

	for (uint32_t at = 0; at < held_bytes_of_all(train); at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0((const void *)(next + at));
}

static void mbufs_fetch(const struct held *train)
{
	for (uint32_t i = train->gone; i < train->n; i++) {
		const uint8_t *mbuf;

		memcpy(&mbuf, train->data + i * sizeof(mbuf), sizeof(mbuf));
		rte_prefetch0(mbuf);
		rte_prefetch0(mbuf + RTE_CACHE_LINE_SIZE);
	}
}

void prefetch_go(struct prefetch *prefetch, const struct log *log, uint32_t room)
{
	struct log_walk *walk = &prefetch->walk;
	const struct held *train;

	if (!walk->at)
		*prefetch = (struct prefetch){.walk = log_walk(log)};
	if (log->records == 0 || prefetch->ahead >= room)
		return;
	while (prefetch->ahead < room + FURTHER && (train = log_walk_next(walk))) {
		if (walk->chunk->next)
			log_fetch(walk->chunk, train);
		if (train->flags & HELD_MBUF)
			mbufs_fetch(train);
		prefetch->ahead += (uint32_t)train->n - train->gone;
	}
}

void prefetch_follow(struct prefetch *prefetch, uint32_t left)
{
	prefetch->ahead -= RTE_MIN(prefetch->ahead, left);
	/* Its chunk may be reused by now. */
	if (prefetch->ahead == 0)
		prefetch->walk.at = NULL;
}
