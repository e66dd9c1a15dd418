/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of shared clouds, in one order: packets that are due, on a wheel, and timers. A cloud
 * has one timer at most, for the instant when its link has to be advanced next, or when the next
 * packet leaves of those that were on its line before the line was shared.
 *
 * At one instant, packets of such lines come first, in the order of the clouds; then, in the order
 * in which packets were inserted and timers were set, all others.
 *
 * A timer cannot lack memory, because control makes room for one for each slot of the cloud table.
 * They are a heap with four children a node, so that the children of a node share a cache line.
 *
 * Thread: the worker's, except where it says control.
 */
#ifndef WEIR_EVENTS_H
#define WEIR_EVENTS_H

#include "holding/wheel.h"

struct timer {
	simtime t_ns;
	uint32_t set; /* the number that a packet inserted at that moment would have had */
	uint32_t slot : 31;
	uint32_t first : 1; /* precedes all that is due at its instant, but those of lower slots */
};

#define TIMERS_FIRST UINT64_MAX /* in place of a number */

#define TIMERS_CHILDREN 4u
/* The memory that control takes for each slot of a larger table. */
#define TIMERS_SLOT_BYTES (2 * (sizeof(struct timer) + sizeof(uint32_t)))

struct timers {
	struct timer *heap; /* aligned so that four children share a cache line */
	uint32_t *at;       /* by slot: the place in the heap, from 1 on; 0: not set */
	uint32_t n, room;
	bool firing; /* the first one fires: it does not count until it is set again, or unset */
};

struct events {
	struct wheel *wheel; /* NULL until there are shared clouds */
	struct timers timers;
};

/* Makes room for so many slots. Returns 0 or -ENOMEM. Control. */
int timers_make(struct timers *timers, uint32_t slots);
void timers_free(struct timers *timers);
/* Moves all timers of `from` to `timers`, which has as much room at least. */
void timers_take_over(struct timers *timers, const struct timers *from);
/* Sets the timer of this slot, or sets it to another instant; `number`: as in struct timer, or
 * TIMERS_FIRST. */
void timers_set(struct timers *timers, uint32_t slot, simtime t_ns, uint64_t number);
/* Removes the timer of this slot, if it is set. */
void timers_unset(struct timers *timers, uint32_t slot);

static inline simtime timers_next(const struct timers *timers)
{
	simtime next = SIMTIME_NEVER;

	if (unlikely(timers->n == 0))
		return SIMTIME_NEVER;
	if (likely(!timers->firing))
		return timers->heap[0].t_ns;
	for (uint32_t i = 1; i < RTE_MIN(timers->n, TIMERS_CHILDREN + 1); i++)
		next = simtime_min(next, timers->heap[i].t_ns);
	return next;
}

/* Returns true if the first timer fires before a packet that is due then, or at the same instant
 * before the packet with this number. */
static inline bool timers_precede(const struct timers *timers, simtime due, uint64_t number)
{
	const struct timer *first = timers->heap;

	return timers->n > 0 && (first->t_ns < due ||
	                         (first->t_ns == due &&
	                          (first->first || (int32_t)(first->set - (uint32_t)number) < 0)));
}

/* Returns an instant before which nothing happens, without a search. */
static inline simtime events_quiet_until(const struct events *events)
{
	return simtime_min(timers_next(&events->timers), events->wheel->quiet);
}

static inline bool events_are_quiet(const struct events *events, simtime now)
{
	return now < events_quiet_until(events);
}

/* Writes or reads all timers; `index` has the present slot of each slot at the time of writing. */
struct snapshot;
struct snapshot_clouds;
void timers_snapshot(struct timers *timers, const struct snapshot_clouds *clouds,
                     struct snapshot *snapshot);

#endif
