/* SPDX-License-Identifier: BSD-3-Clause */
#include "heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	/* Entry 0 is not used; the room is doubled when it is a power of two. */
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

/* The place becomes free; `entry` goes where it belongs, looking from there. */
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

void timer_set(struct heap *heap, struct timer *timer, simtime at_ns)
{
	struct heap_entry entry = {.at_ns = at_ns, .order = heap->order++, .timer = timer};
	uint32_t place = timer->place;

	if (place == 0) {
		place = heap->vacant ? 1 : ++heap->n;
		heap->vacant = false;
	}
	settle(heap, place, entry);
}

void timer_clear(struct heap *heap, struct timer *timer)
{
	uint32_t place = timer->place;
	struct heap_entry last;

	if (place == 0)
		return;
	timer->place = 0;
	last = heap->entries[heap->n--];
	if (last.timer != timer)
		settle(heap, place, last);
}

void heap_fire(struct heap *heap)
{
	struct timer *timer = heap->entries[1].timer;
	simtime now = heap->entries[1].at_ns;

	timer->place = 0;
	heap->vacant = true;
	heap->entries[1].at_ns = 0;
	heap->entries[1].order = 0;
	timer->fire(timer->argument, now);
	if (!heap->vacant)
		return;
	heap->vacant = false;
	if (--heap->n)
		settle(heap, 1, heap->entries[heap->n + 1]);
}
