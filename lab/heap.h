/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers of hosts, the earliest first: a binary heap, and a ring beside it. There are a few hundred
 * at most, and each is set many times, so a timer stores its place, and is moved from there.
 * Packets in the network lie in the engine, not here.
 *
 * Nearly all timers are those of access links. They fire after a few milliseconds, and each is set
 * to fire about as late as the one before. So a timer that fires soon lies in the ring, in order,
 * if its place there is near the end. The others, mostly timeouts, do not slow these down. Where a
 * timer lies affects speed only: without the ring `weir lab run` takes 3 to 9 % more processor time
 * (becn-web 4, bcn-chain 6, becn-45 9; measured in turns, with the same bytes of results.json).
 *
 * Of timers due at one instant, the one set first fires first, so that a run is reproducible.
 *
 * Ownership: timers belong to their owners, and must be cleared before they are freed.
 * Thread: one.
 */
#ifndef WEIR_LAB_HEAP_H
#define WEIR_LAB_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "simtime.h"

#define TIMER_SOON UINT32_MAX

/* Entries of the ring: a power of two, and few, so that they stay in the processor's first
 * cache. */
#define SOON_MAX 64u

struct timer {
	void (*fire)(void *argument, simtime now);
	void *argument;
	uint32_t place; /* in the heap, from 1; TIMER_SOON: in the ring; 0: not set */
	simtime at_ns;  /* if it is set */
};

struct heap_entry {
	simtime at_ns;
	uint64_t order;
	struct timer *timer;
};

struct heap {
	struct heap_entry *entries; /* from 1 */
	uint32_t n, room;
	uint64_t order;
	/* While a timer of the heap fires, its place is free. The next timer that is set, mostly
	 * the same one, takes it. Until then the old entry stays there, ahead of all others. */
	bool vacant;
	/* The ring: from soon[first] to before soon[end], indices modulo its size. */
	uint32_t first, end;
	simtime now_ns; /* of the timer that fired last */
	struct heap_entry soon[SOON_MAX];
};

void heap_init(struct heap *heap);
void heap_release(struct heap *heap);
/* Makes room for one more timer. Returns 0 or -ENOMEM. Call it once for each timer, so that setting
 * the timer cannot fail. */
int heap_announce(struct heap *heap);

void timer_set(struct heap *heap, struct timer *timer, simtime at_ns);
void timer_clear(struct heap *heap, struct timer *timer);

static inline bool timer_is_set(const struct timer *timer)
{
	return timer->place != 0;
}

static inline simtime timer_at(const struct timer *timer)
{
	return timer->place ? timer->at_ns : SIMTIME_NEVER;
}

static inline simtime heap_next(const struct heap *heap)
{
	simtime next = heap->n ? heap->entries[1].at_ns : SIMTIME_NEVER;

	if (heap->first != heap->end)
		next = simtime_min(next, heap->soon[heap->first % SOON_MAX].at_ns);
	return next;
}

/* Removes the first timer, and fires it. */
void heap_fire(struct heap *heap);

#endif
