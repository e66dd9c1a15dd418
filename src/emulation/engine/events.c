/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "holding/hold_snapshot.h"
#include "snapshot/snapshot.h"

int timers_make(struct timers *timers, uint32_t slots)
{
	/* The children of a node begin at a multiple of four, and one place. */
	const size_t bytes = RTE_ALIGN_CEIL((slots + TIMERS_CHILDREN) * sizeof(struct timer), 64u);
	uint8_t *heap = aligned_alloc(64, bytes);

	*timers = (struct timers){.at = calloc(slots, sizeof(*timers->at)), .room = slots};
	if (!heap || !timers->at) {
		free(heap);
		free(timers->at);
		*timers = (struct timers){.n = 0};
		return -ENOMEM;
	}
	timers->heap = (struct timer *)(void *)heap + TIMERS_CHILDREN - 1;
	return 0;
}

void timers_free(struct timers *timers)
{
	if (timers->heap)
		free(timers->heap - (TIMERS_CHILDREN - 1));
	free(timers->at);
	*timers = (struct timers){.n = 0};
}

static bool is_before(const struct timer *a, const struct timer *b)
{
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns;
	if (unlikely(a->first || b->first))
		return a->first && (!b->first || a->slot < b->slot);
	return (int32_t)(a->set - b->set) < 0;
}

static void put(struct timers *timers, uint32_t i, const struct timer *timer)
{
	timers->heap[i] = *timer;
	timers->at[timer->slot] = i + 1;
}

/* Puts a timer at place i or nearer to the root. */
static void rise(struct timers *timers, uint32_t i, const struct timer *timer)
{
	while (i > 0) {
		const uint32_t parent = (i - 1) / TIMERS_CHILDREN;

		if (!is_before(timer, &timers->heap[parent]))
			break;
		put(timers, i, &timers->heap[parent]);
		i = parent;
	}
	put(timers, i, timer);
}

/* Puts a timer at place i or farther from the root. */
static void sink(struct timers *timers, uint32_t i, const struct timer *timer)
{
	for (;;) {
		uint32_t child = TIMERS_CHILDREN * i + 1, first = child;
		const uint32_t end = RTE_MIN(child + TIMERS_CHILDREN, timers->n);

		if (child >= timers->n)
			break;
		while (++child < end)
			first = is_before(&timers->heap[child], &timers->heap[first]) ? child
			                                                              : first;
		if (!is_before(&timers->heap[first], timer))
			break;
		put(timers, i, &timers->heap[first]);
		i = first;
	}
	put(timers, i, timer);
}

void timers_set(struct timers *timers, uint32_t slot, simtime t_ns, uint64_t number)
{
	const struct timer timer = {.t_ns = t_ns,
	                            .set = (uint32_t)number,
	                            .slot = slot & INT32_MAX,
	                            .first = number == TIMERS_FIRST};
	uint32_t at = timers->at[slot];

	if (at == 0)
		rise(timers, timers->n++, &timer);
	else if (is_before(&timer, &timers->heap[at - 1]))
		rise(timers, at - 1, &timer);
	else
		sink(timers, at - 1, &timer);
}

void timers_unset(struct timers *timers, uint32_t slot)
{
	const uint32_t at = timers->at[slot];
	struct timer last;

	if (at == 0)
		return;
	timers->at[slot] = 0;
	last = timers->heap[--timers->n];
	if (at - 1 == timers->n)
		return;
	rise(timers, at - 1, &last);
	if (timers->at[last.slot] == at)
		sink(timers, at - 1, &last);
}

void timers_take_over(struct timers *timers, const struct timers *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		put(timers, i, &from->heap[i]);
	timers->n = from->n;
}

/* A timer takes so many bytes. */
#define TIMER_BYTES 16

void timers_snapshot(struct timers *timers, const struct snapshot_clouds *clouds,
                     struct snapshot *snapshot)
{
	uint32_t n = timers->n;

	snapshot_value(snapshot, n);
	if (!snapshot_holds(snapshot,
	                    !snapshot->restores ||
	                            n <= (size_t)(snapshot->end - snapshot->at) / TIMER_BYTES))
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct timer timer =
		        snapshot->restores ? (struct timer){.t_ns = 0} : timers->heap[i];

		uint32_t slot = timer.slot | (uint32_t)timer.first << 31;

		snapshot_value(snapshot, timer.t_ns);
		snapshot_value(snapshot, timer.set);
		snapshot_value(snapshot, slot);
		if (!snapshot->restores)
			continue;
		timer.first = slot >> 31;
		slot &= INT32_MAX;
		slot = slot < clouds->n ? clouds->index[slot] : UINT32_MAX;
		if (!snapshot_holds(snapshot, slot < timers->room && timers->at[slot] == 0))
			continue;
		timer.slot = slot & INT32_MAX;
		rise(timers, timers->n++, &timer);
	}
}
