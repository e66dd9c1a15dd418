/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction of a host's access link: serialises, then delays; never loses. The queue before it
 * has no bound, because the papers give access links ten times the bottleneck's rate: no more than
 * the burst of one host waits there. Congestion occurs in clouds.
 *
 * Model: the transmission of a packet begins at max(now, end of the one before), and takes 8L/R
 * (rounded up to a nanosecond). The packet arrives after the delay. R 0: no serialisation.
 *
 * Ownership: takes the mbufs, and passes each to `arrive`, which owns it then.
 * Thread: one.
 */
#ifndef WEIR_LAB_PIPE_H
#define WEIR_LAB_PIPE_H

#include <rte_mbuf.h>

#include "lab/heap.h"

struct pipe_slot {
	simtime due_ns;
	struct rte_mbuf *mbuf;
};

struct pipe {
	uint64_t rate_bps;
	simtime delay_ns;
	simtime free_ns; /* end of the latest transmission */
	/* How long it took, and for which length: most packets of a host have the same. */
	simtime takes_ns;
	uint32_t takes_bytes;
	struct heap *heap;
	struct timer timer;
	void (*arrive)(void *argument, struct rte_mbuf *mbuf, simtime now);
	void *argument;
	struct pipe_slot *slots; /* a ring of a power of two */
	uint32_t room, first, n;
};

/* Returns 0 or -ENOMEM. */
int pipe_init(struct pipe *pipe, struct heap *heap, uint64_t rate_bps, simtime delay_ns,
              void (*arrive)(void *argument, struct rte_mbuf *mbuf, simtime now), void *argument);
/* Drops the packets in it. */
void pipe_release(struct pipe *pipe);
/* Returns false if there is no memory; the mbuf is then freed. */
bool pipe_push(struct pipe *pipe, struct rte_mbuf *mbuf, uint32_t bytes, simtime now);

#endif
