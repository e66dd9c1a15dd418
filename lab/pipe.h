/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction of a host's access link: serialises, then delays; never loses. The queue ahead of
 * it has no bound, because the papers give access links ten times the bottleneck's rate: nothing
 * builds up there but the burst of one host. What congests is a cloud.
 *
 * Model: sent at max(now, end of the one before), done 8L/R later (rounded up to a nanosecond),
 * there after the delay. R 0: no serialisation.
 *
 * Ownership: takes the mbufs; hands each to `arrive`, which owns it then. Thread: one.
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
	simtime free_ns; /* when the latest has been sent */
	/* How long it took, and of which length it was: those of a host are alike. */
	simtime takes_ns;
	uint32_t takes_bytes;
	struct heap *heap;
	struct timer timer;
	void (*arrive)(void *argument, struct rte_mbuf *mbuf, simtime now);
	void *argument;
	struct pipe_slot *slots; /* a ring of a power of two */
	uint32_t room, first, n;
};

/* 0 or -ENOMEM. */
int pipe_init(struct pipe *pipe, struct heap *heap, uint64_t rate_bps, simtime delay_ns,
              void (*arrive)(void *argument, struct rte_mbuf *mbuf, simtime now), void *argument);
/* Drops what is in it. */
void pipe_release(struct pipe *pipe);
/* False, and the mbuf is freed: no memory. */
bool pipe_push(struct pipe *pipe, struct rte_mbuf *mbuf, uint32_t bytes, simtime now);

#endif
