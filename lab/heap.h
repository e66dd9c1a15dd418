/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers of hosts, the earliest first: a binary heap. There are a few hundred at most, each set
 * anew many times, so that a timer knows its place and is moved from there. What is held by the
 * network lies in the engine, not here.
 *
 * Of timers due at one instant the one set first goes off first, so that a run is the same each time.
 *
 * Ownership: timers are their owners' and must be cleared before they go. Thread: one.
 */
#ifndef WEIR_LAB_HEAP_H
#define WEIR_LAB_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "simtime.h"

struct timer {
	void (*fire)(void *argument, simtime now);
	void *argument;
	uint32_t place; /* in the heap, from 1; 0: not set */
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
	/* While a timer fires, its place is free, and the next one that is set takes it: most often the
	 * same. Until then its old entry stands there, ahead of all others. */
	bool vacant;
};

void heap_init(struct heap *heap);
void heap_release(struct heap *heap);
/* Room for one more timer than were ever announced; 0 or -ENOMEM. To be called once a timer, so that
 * setting it cannot fail. */
int heap_announce(struct heap *heap);

void timer_set(struct heap *heap, struct timer *timer, simtime at_ns);
void timer_clear(struct heap *heap, struct timer *timer);

static inline bool timer_is_set(const struct timer *timer)
{
	return timer->place != 0;
}

static inline simtime timer_at(const struct heap *heap, const struct timer *timer)
{
	return timer->place ? heap->entries[timer->place].at_ns : SIMTIME_NEVER;
}

static inline simtime heap_next(const struct heap *heap)
{
	return heap->n ? heap->entries[1].at_ns : SIMTIME_NEVER;
}

/* Takes the first timer out, and fires it. */
void heap_fire(struct heap *heap);

#endif
