/* SPDX-License-Identifier: BSD-3-Clause */
#include "live/fate_queue.h"

#include <stdlib.h>

#include <rte_ring.h>
#include <rte_ring_elem.h>

#define BURST 64

_Static_assert(sizeof(struct fate) % 4 == 0, "as rings want their elements");

struct fate_queue {
	struct witness witness;
	struct rte_ring *ring;
	uint64_t missed;
};

static void tell(struct witness *witness, const struct fate *fate)
{
	struct fate_queue *fate_queue = (struct fate_queue *)witness;

	/* It only gives packets their names. */
	if (fate->kind == FATE_LEFT)
		return;
	if (rte_ring_mp_rts_enqueue_bulk_elem(fate_queue->ring, fate, sizeof(*fate), 1, NULL) == 0)
		__atomic_add_fetch(&fate_queue->missed, 1, __ATOMIC_RELAXED);
}

struct fate_queue *fate_queue_make(void)
{
	struct fate_queue *fate_queue = calloc(1, sizeof(*fate_queue));
	ssize_t bytes = rte_ring_get_memsize_elem(sizeof(struct fate), FATE_QUEUE_ROOM);

	if (!fate_queue)
		return NULL;
	fate_queue->witness.tell = tell;
	fate_queue->witness.way = 1u << FATE_LEFT | 1u << FATE_SENT;
	fate_queue->ring = aligned_alloc(RTE_CACHE_LINE_SIZE, (size_t)bytes);
	/* For the reason for RTS, see frame_queue.c. */
	if (fate_queue->ring &&
	    rte_ring_init(fate_queue->ring, "fates", FATE_QUEUE_ROOM,
	                  RING_F_MP_RTS_ENQ | RING_F_SC_DEQ) == 0 &&
	    rte_ring_set_prod_htd_max(fate_queue->ring, rte_ring_get_capacity(fate_queue->ring)) ==
	            0)
		return fate_queue;
	fate_queue_free(fate_queue);
	return NULL;
}

void fate_queue_free(struct fate_queue *fate_queue)
{
	if (!fate_queue)
		return;
	free(fate_queue->ring);
	free(fate_queue);
}

struct witness *fate_queue_witness(struct fate_queue *fate_queue)
{
	return &fate_queue->witness;
}

void fate_queue_empty(struct fate_queue *fate_queue, struct witness *to)
{
	struct fate fates[BURST];
	unsigned n;

	do {
		n = rte_ring_sc_dequeue_burst_elem(fate_queue->ring, fates, sizeof(fates[0]), BURST,
		                                   NULL);
		for (unsigned i = 0; i < n; i++)
			to->tell(to, &fates[i]);
	} while (n == BURST);
}

uint64_t fate_queue_missed(const struct fate_queue *fate_queue)
{
	return __atomic_load_n(&fate_queue->missed, __ATOMIC_RELAXED);
}
