/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How far ahead is soon, and past how many entries of the ring a timer is moved. */
#define SOON_NS   (16 * SIMTIME_MS)
#define MOVES_MAX 16u

void heap_init(struct heap *heap)
{
	memset(heap, 0, sizeof(*heap));
}

void heap_release(struct heap *heap)
{
	free(heap->entries);
	heap_init(heap);
}

int heap_announce(struct heap *heap)
{
	/* Entry 0 is not used; the array is doubled when its size is a power of two. */
	if ((heap->room & (heap->room + 1)) == 0) {
		struct heap_entry *entries =
		        realloc(heap->entries, (2 * (size_t)heap->room + 2) * sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		heap->entries = entries;
	}
	heap->room++;
	return 0;
}

static bool is_before(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->order < b->order);
}

static void put(struct heap *heap, uint32_t place, const struct heap_entry *entry)
{
	heap->entries[place] = *entry;
	entry->timer->place = place;
}

/* Puts `entry` where it belongs, beginning at a place that is free. */
static void settle(struct heap *heap, uint32_t place, struct heap_entry entry)
{
	const struct heap_entry *entries = heap->entries;

	while (place > 1 && is_before(&entry, &entries[place / 2])) {
		put(heap, place, &entries[place / 2]);
		place /= 2;
	}
	for (;;) {
		uint32_t child = 2 * place;

		if (child > heap->n)
			break;
		if (child < heap->n && is_before(&entries[child + 1], &entries[child]))
			child++;
		if (!is_before(&entries[child], &entry))
			break;
		put(heap, place, &entries[child]);
		place = child;
	}
	put(heap, place, &entry);
}

/* ---- the ring ---- */

/* Inserts an entry into the ring, behind those of the same instant, which were set earlier. Returns
 * false if it does not belong there. */
static bool soon_insert(struct heap *heap, const struct heap_entry *entry)
{
	struct heap_entry *soon = heap->soon;
	uint32_t n = heap->end - heap->first, place = heap->end;

	if (entry->at_ns > heap->now_ns + SOON_NS || n == SOON_MAX ||
	    (n > MOVES_MAX && entry->at_ns < soon[(place - MOVES_MAX - 1) % SOON_MAX].at_ns))
		return false;
	for (; place != heap->first && entry->at_ns < soon[(place - 1) % SOON_MAX].at_ns; place--)
		soon[place % SOON_MAX] = soon[(place - 1) % SOON_MAX];
	soon[place % SOON_MAX] = *entry;
	entry->timer->place = TIMER_SOON;
	heap->end++;
	return true;
}

static void soon_remove(struct heap *heap, const struct timer *timer)
{
	uint32_t place = heap->first;

	while (heap->soon[place % SOON_MAX].timer != timer)
		place++;
	for (; place + 1 != heap->end; place++)
		heap->soon[place % SOON_MAX] = heap->soon[(place + 1) % SOON_MAX];
	heap->end--;
}

/* ---- heap and ring ---- */

void timer_set(struct heap *heap, struct timer *timer, simtime at_ns)
{
	struct heap_entry entry = {.at_ns = at_ns, .order = heap->order++, .timer = timer};
	uint32_t place = timer->place;

	timer->at_ns = at_ns;
	if (place == TIMER_SOON) {
		soon_remove(heap, timer);
		place = 0;
	}
	if (place == 0) {
		if (soon_insert(heap, &entry))
			return;
		place = heap->vacant ? 1 : ++heap->n;
		heap->vacant = false;
	}
	settle(heap, place, entry);
}

void timer_clear(struct heap *heap, struct timer *timer)
{
	uint32_t place = timer->place;
	struct heap_entry last;

	timer->place = 0;
	if (place == TIMER_SOON)
		soon_remove(heap, timer);
	if (place == 0 || place == TIMER_SOON)
		return;
	last = heap->entries[heap->n--];
	if (last.timer != timer)
		settle(heap, place, last);
}

static void fire(struct heap *heap, struct timer *timer)
{
	timer->place = 0;
	heap->now_ns = timer->at_ns;
	timer->fire(timer->argument, timer->at_ns);
}

void heap_fire(struct heap *heap)
{
	const struct heap_entry *soon = &heap->soon[heap->first % SOON_MAX];

	if (heap->first != heap->end && (heap->n == 0 || is_before(soon, &heap->entries[1]))) {
		heap->first++;
		fire(heap, soon->timer);
		return;
	}
	heap->vacant = true;
	heap->entries[1].at_ns = 0;
	heap->entries[1].order = 0;
	fire(heap, heap->entries[1].timer);
	if (!heap->vacant)
		return;
	heap->vacant = false;
	if (--heap->n)
		settle(heap, 1, heap->entries[heap->n + 1]);
}
