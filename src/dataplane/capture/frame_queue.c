/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/frame_queue.h"

#include <stdlib.h>
#include <string.h>

#include <rte_ring.h>
#include <rte_ring_elem.h>

#define SLOT_BYTES 64
#define SLOTS      (FRAME_QUEUE_BYTES / SLOT_BYTES)

/* A frame in the ring. It occupies as many consecutive slots as it needs. */
struct record {
	simtime t_ns;
	uint32_t bytes, wire_bytes;
	uint16_t port;
	bool sent;
	uint8_t data[FRAME_QUEUE_FRAME_MAX] __rte_aligned(8);
} __rte_aligned(SLOT_BYTES);

_Static_assert(sizeof(struct record) % SLOT_BYTES == 0, "whole slots");

struct frame_queue {
	struct rte_ring *ring;
	struct record taken;
	uint64_t missed[SCENARIO_PORTS_MAX];
};

static uint32_t slots_of(uint32_t bytes)
{
	return ((uint32_t)offsetof(struct record, data) + bytes + SLOT_BYTES - 1) / SLOT_BYTES;
}

struct frame_queue *frame_queue_make(void)
{
	struct frame_queue *frame_queue = aligned_alloc(SLOT_BYTES, sizeof(*frame_queue));
	ssize_t bytes = rte_ring_get_memsize_elem(SLOT_BYTES, SLOTS);

	if (!frame_queue)
		return NULL;
	memset(frame_queue, 0, sizeof(*frame_queue));
	frame_queue->ring = aligned_alloc(RTE_CACHE_LINE_SIZE, (size_t)bytes);
	/* With an RTS ring whose whole capacity may be in progress, no worker waits for another
	 * that was preempted while it put a frame. With DPDK's default ring every worker does. */
	if (frame_queue->ring &&
	    rte_ring_init(frame_queue->ring, "frames", SLOTS, RING_F_MP_RTS_ENQ | RING_F_SC_DEQ) ==
	            0 &&
	    rte_ring_set_prod_htd_max(frame_queue->ring,
	                              rte_ring_get_capacity(frame_queue->ring)) == 0)
		return frame_queue;
	frame_queue_free(frame_queue);
	return NULL;
}

void frame_queue_free(struct frame_queue *frame_queue)
{
	if (!frame_queue)
		return;
	free(frame_queue->ring);
	free(frame_queue);
}

static void copy(uint8_t *to, const struct rte_mbuf *mbuf, uint32_t bytes)
{
	for (uint32_t n; bytes > 0; mbuf = mbuf->next, to += n, bytes -= n) {
		n = RTE_MIN(bytes, (uint32_t)mbuf->data_len);
		memcpy(to, rte_pktmbuf_mtod(mbuf, const uint8_t *), n);
	}
}

void frame_queue_put(struct frame_queue *frame_queue, uint16_t port, bool sent, simtime t_ns,
                     struct rte_mbuf *const *mbufs, uint16_t n)
{
	struct record record;

	record.t_ns = t_ns;
	record.port = port;
	record.sent = sent;
	for (uint16_t i = 0; i < n; i++) {
		record.wire_bytes = mbufs[i]->pkt_len;
		record.bytes = RTE_MIN(record.wire_bytes, (uint32_t)FRAME_QUEUE_FRAME_MAX);
		copy(record.data, mbufs[i], record.bytes);
		if (rte_ring_mp_rts_enqueue_bulk_elem(frame_queue->ring, &record, SLOT_BYTES,
		                                      slots_of(record.bytes), NULL) == 0)
			__atomic_add_fetch(&frame_queue->missed[port], 1, __ATOMIC_RELAXED);
	}
}

bool frame_queue_take(struct frame_queue *frame_queue, struct queued_frame *frame)
{
	struct record *record = &frame_queue->taken;
	uint32_t more;

	if (rte_ring_sc_dequeue_bulk_elem(frame_queue->ring, record, SLOT_BYTES, 1, NULL) == 0)
		return false;
	/* All slots of a frame were put together, so all of them are there. */
	more = slots_of(record->bytes) - 1;
	if (more > 0)
		rte_ring_sc_dequeue_bulk_elem(frame_queue->ring, (uint8_t *)record + SLOT_BYTES,
		                              SLOT_BYTES, more, NULL);
	*frame = (struct queued_frame){
	        .t_ns = record->t_ns,
	        .bytes = record->bytes,
	        .wire_bytes = record->wire_bytes,
	        .port = record->port,
	        .sent = record->sent,
	        .data = record->data,
	};
	return true;
}

uint64_t frame_queue_missed(const struct frame_queue *frame_queue, uint16_t port)
{
	return __atomic_load_n(&frame_queue->missed[port], __ATOMIC_RELAXED);
}
