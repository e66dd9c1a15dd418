/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 16u

static void deliver(void *argument, simtime now)
{
	struct pipe *pipe = argument;

	while (pipe->n && pipe->slots[pipe->first].due_ns <= now) {
		struct rte_mbuf *mbuf = pipe->slots[pipe->first].mbuf;

		pipe->first = (pipe->first + 1) & (pipe->room - 1);
		pipe->n--;
		pipe->arrive(pipe->argument, mbuf, now);
	}
	if (pipe->n && !timer_is_set(&pipe->timer))
		timer_set(pipe->heap, &pipe->timer, pipe->slots[pipe->first].due_ns);
}

int pipe_init(struct pipe *pipe, struct heap *heap, uint64_t rate_bps, simtime delay_ns,
              void (*arrive)(void *argument, struct rte_mbuf *mbuf, simtime now), void *argument)
{
	memset(pipe, 0, sizeof(*pipe));
	pipe->rate_bps = rate_bps;
	pipe->delay_ns = delay_ns;
	pipe->heap = heap;
	pipe->timer = (struct timer){.fire = deliver, .argument = pipe};
	pipe->arrive = arrive;
	pipe->argument = argument;
	pipe->slots = malloc(SLOTS_FIRST * sizeof(*pipe->slots));
	pipe->room = SLOTS_FIRST;
	return pipe->slots && heap_announce(heap) == 0 ? 0 : -ENOMEM;
}

void pipe_release(struct pipe *pipe)
{
	for (uint32_t i = 0; i < pipe->n; i++)
		rte_pktmbuf_free(pipe->slots[(pipe->first + i) & (pipe->room - 1)].mbuf);
	if (pipe->heap)
		timer_clear(pipe->heap, &pipe->timer);
	free(pipe->slots);
	memset(pipe, 0, sizeof(*pipe));
}

static bool widen(struct pipe *pipe)
{
	struct pipe_slot *slots = malloc(2 * (size_t)pipe->room * sizeof(*slots));

	if (!slots)
		return false;
	for (uint32_t i = 0; i < pipe->n; i++)
		slots[i] = pipe->slots[(pipe->first + i) & (pipe->room - 1)];
	free(pipe->slots);
	pipe->slots = slots;
	pipe->first = 0;
	pipe->room *= 2;
	return true;
}

static simtime serialised(struct pipe *pipe, uint32_t bytes)
{
	if (unlikely(bytes != pipe->takes_bytes) && pipe->rate_bps) {
		pipe->takes_bytes = bytes;
		pipe->takes_ns = (bytes * 8 * SIMTIME_S + pipe->rate_bps - 1) / pipe->rate_bps;
	}
	return pipe->takes_ns;
}

bool pipe_push(struct pipe *pipe, struct rte_mbuf *mbuf, uint32_t bytes, simtime now)
{
	if (pipe->n == pipe->room && !widen(pipe)) {
		rte_pktmbuf_free(mbuf);
		return false;
	}
	pipe->free_ns = simtime_max(pipe->free_ns, now) + serialised(pipe, bytes);
	pipe->slots[(pipe->first + pipe->n) & (pipe->room - 1)] = (struct pipe_slot){
	        .due_ns = pipe->free_ns + pipe->delay_ns,
	        .mbuf = mbuf,
	};
	if (pipe->n++ == 0 && !timer_is_set(&pipe->timer))
		timer_set(pipe->heap, &pipe->timer, pipe->free_ns + pipe->delay_ns);
	return true;
}
