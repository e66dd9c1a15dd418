/* SPDX-License-Identifier: BSD-3-Clause */
#include "wheel.h"

#include <stdlib.h>
#include <string.h>

#include <rte_prefetch.h>

#define SLOT_MASK (WHEEL_SLOTS - 1)

/* log2 of the width of a slot; one level above the highest stands for all of time. */
static uint32_t level_shift(uint32_t level)
{
	return WHEEL_SLOT_NS + level * WHEEL_SLOT_BITS;
}

static uint32_t slot_in(uint32_t level, simtime t)
{
	return (uint32_t)(t >> level_shift(level)) & SLOT_MASK;
}

static struct held *at(const struct wheel *wheel, wheel_link link)
{
	return (struct held *)(wheel->arena->base + (uint64_t)link * 8);
}

/* The arena begins with the header of a chunk, so no record has the link 0. */
static wheel_link link_of(const struct wheel *wheel, const struct held *held)
{
	return (wheel_link)((uint64_t)((const uint8_t *)held - wheel->arena->base) / 8);
}

static void bit_set(uint64_t *bits, uint32_t i)
{
	bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static void bit_clear(uint64_t *bits, uint32_t i)
{
	bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* The first set bit at or after `from`; WHEEL_SLOTS: none. */
static uint32_t bit_next(const uint64_t *bits, uint32_t from)
{
	uint32_t word = from / 64;
	uint64_t rest;

	if (from >= WHEEL_SLOTS)
		return WHEEL_SLOTS;
	rest = bits[word] & (~UINT64_C(0) << (from % 64));
	while (rest == 0) {
		if (++word == WHEEL_SLOTS / 64)
			return WHEEL_SLOTS;
		rest = bits[word];
	}
	return word * 64 + (uint32_t)__builtin_ctzll(rest);
}

struct wheel *wheel_make(struct arena *arena)
{
	struct wheel *wheel = calloc(1, sizeof(*wheel));

	if (wheel)
		wheel->arena = arena;
	return wheel;
}

void wheel_free(struct wheel *wheel)
{
	if (!wheel)
		return;
	for (uint32_t level = 1; level < WHEEL_LEVELS; level++) {
		log_clear(&wheel->level[level].open, wheel->arena);
		for (uint32_t slot = 0; slot < WHEEL_SLOTS; slot++)
			log_clear(&wheel->level[level].log[slot], wheel->arena);
	}
	free(wheel);
}

static bool before(const struct held *a, const struct held *b)
{
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns;
	return a->cloud < b->cloud;
}

/* Behind all that are not after it. The usual newcomer is the last. */
static void ready_insert(struct wheel *wheel, struct held *held)
{
	wheel_link link = link_of(wheel, held);
	wheel_link *place = &wheel->ready;

	if (wheel->ready && !before(held, at(wheel, wheel->ready_last)))
		place = &at(wheel, wheel->ready_last)->next;
	else
		while (*place && !before(held, at(wheel, *place)))
			place = &at(wheel, *place)->next;
	held->next = *place;
	*place = link;
	if (held->next == 0)
		wheel->ready_last = link;
}

/* Links a record whose storage is an open log into a slot of the level below that log's. */
static void link_below(struct wheel *wheel, uint32_t level, struct held *held)
{
	struct wheel_level *below = &wheel->level[level - 1];
	uint32_t slot;

	if (held->t_ns < wheel->ready_until) {
		ready_insert(wheel, held);
		return;
	}
	slot = slot_in(level - 1, held->t_ns);
	held->next = below->list[slot];
	below->list[slot] = link_of(wheel, held);
	bit_set(below->used, slot);
}

/* The lowest level whose slot at the cursor is not over before `due`. */
static uint32_t level_of(const struct wheel *wheel, simtime due)
{
	uint32_t level = 1;

	while (level < WHEEL_LEVELS &&
	       due >> level_shift(level) > wheel->cursor >> level_shift(level))
		level++;
	return level;
}

struct held *wheel_append(struct wheel *wheel, simtime due, uint32_t stored_bytes)
{
	uint32_t level = level_of(wheel, due);
	struct log *log = &wheel->level[1].open;
	struct held *held;

	if (level > 1) {
		uint32_t slot = slot_in(level - 1, due);

		log = &wheel->level[level - 1].log[slot];
		bit_set(wheel->level[level - 1].used, slot);
	}
	held = log_append(log, wheel->arena, stored_bytes);
	if (likely(held != NULL))
		held->t_ns = due;
	return held;
}

void wheel_insert(struct wheel *wheel, struct held *held)
{
	wheel->records++;
	if (level_of(wheel, held->t_ns) == 1)
		link_below(wheel, 1, held);
}

static wheel_link list_reverse(struct wheel *wheel, wheel_link list)
{
	wheel_link reversed = 0;

	while (list) {
		wheel_link next = at(wheel, list)->next;

		at(wheel, list)->next = reversed;
		reversed = list;
		list = next;
	}
	return reversed;
}

/* The cursor enters a slot of this level: what was open has left, what is in the slot is linked
 * below, in the order of insertion: first what came from above. */
static void level_enter(struct wheel *wheel, uint32_t number, simtime when)
{
	struct wheel_level *level = &wheel->level[number];
	uint32_t slot = slot_in(number, when);
	wheel_link list = list_reverse(wheel, level->list[slot]);
	struct log scan;

	level->list[slot] = 0;
	bit_clear(level->used, slot);
	log_clear(&level->open, wheel->arena);
	level->open = level->log[slot];
	memset(&level->log[slot], 0, sizeof(level->log[slot]));
	while (list) {
		wheel_link next = at(wheel, list)->next;

		link_below(wheel, number, at(wheel, list));
		list = next;
	}
	scan = level->open;
	while (scan.records) {
		struct held *held = log_front(&scan);

		scan.read += held_bytes(held->stored_bytes);
		rte_prefetch0(scan.read + 512);
		link_below(wheel, number, held);
		if (--scan.records && scan.read == scan.read_end) {
			scan.head = scan.head->next;
			scan.read = scan.head->records;
			scan.read_end = scan.head == scan.tail ? NULL : scan.head->end;
		}
	}
}

/* Moves the cursor on; no slot that holds something lies between. */
static void cursor_move(struct wheel *wheel, simtime when)
{
	simtime old = wheel->cursor;

	wheel->cursor = when;
	wheel->ready_until = when >> WHEEL_SLOT_NS << WHEEL_SLOT_NS;
	for (uint32_t level = WHEEL_LEVELS - 1; level > 0; level--) {
		if (when >> level_shift(level) != old >> level_shift(level))
			level_enter(wheel, level, when);
	}
}

/* The beginning of the next slot that holds something, in the lowest level that has one. */
static simtime slot_next(const struct wheel *wheel)
{
	for (uint32_t level = 0; level < WHEEL_LEVELS; level++) {
		uint32_t turn = level_shift(level + 1);
		uint32_t from = slot_in(level, wheel->cursor) + (level > 0);
		uint32_t slot = bit_next(wheel->level[level].used, from);

		if (slot < WHEEL_SLOTS)
			return (wheel->cursor >> turn << turn) +
			       ((simtime)slot << level_shift(level));
	}
	return SIMTIME_NEVER;
}

/* A stable merge sort of a list: runs of 1, 2, 4 ... wait in their places until they meet an equal.
 */
static wheel_link list_merge(struct wheel *wheel, wheel_link a, wheel_link b)
{
	wheel_link merged = 0;
	wheel_link *end = &merged;

	while (a && b) {
		wheel_link *first = before(at(wheel, b), at(wheel, a)) ? &b : &a;

		*end = *first;
		end = &at(wheel, *first)->next;
		*first = *end;
	}
	*end = a ? a : b;
	return merged;
}

static wheel_link list_sort(struct wheel *wheel, wheel_link list)
{
	wheel_link runs[32] = {0};
	wheel_link sorted = 0;

	while (list) {
		wheel_link run = list;
		uint32_t i;

		list = at(wheel, run)->next;
		at(wheel, run)->next = 0;
		for (i = 0; i < 31 && runs[i]; i++) {
			run = list_merge(wheel, runs[i], run);
			runs[i] = 0;
		}
		runs[i] = runs[i] ? list_merge(wheel, runs[i], run) : run;
	}
	for (uint32_t i = 0; i < 32; i++)
		sorted = list_merge(wheel, runs[i], sorted);
	return sorted;
}

/* Opens the slot of level 0 that the cursor is in. */
static void ready_open(struct wheel *wheel)
{
	struct wheel_level *level = &wheel->level[0];
	uint32_t slot = slot_in(0, wheel->cursor);
	wheel_link list = list_reverse(wheel, level->list[slot]);
	bool sorted = true;
	wheel_link last = list;
	uint32_t coming;

	level->list[slot] = 0;
	bit_clear(level->used, slot);
	wheel->ready_until += UINT64_C(1) << WHEEL_SLOT_NS;
	for (wheel_link next; (next = at(wheel, last)->next) != 0; last = next)
		sorted &= !before(at(wheel, next), at(wheel, last));
	if (!sorted) {
		list = list_sort(wheel, list);
		for (last = list; at(wheel, last)->next;)
			last = at(wheel, last)->next;
	}
	wheel->ready = list;
	wheel->ready_last = last;
	coming = bit_next(level->used, slot + 1);
	if (coming < WHEEL_SLOTS)
		rte_prefetch0(at(wheel, level->list[coming]));
}

struct held *wheel_front(struct wheel *wheel, simtime now)
{
	while (!wheel->ready) {
		simtime start = slot_next(wheel);

		if (start > now) {
			if (now > wheel->cursor)
				cursor_move(wheel, now);
			return NULL;
		}
		if (start > wheel->cursor)
			cursor_move(wheel, start);
		if (!wheel->ready && bit_next(wheel->level[0].used, slot_in(0, wheel->cursor)) ==
		                             slot_in(0, wheel->cursor))
			ready_open(wheel);
	}
	return at(wheel, wheel->ready)->t_ns <= now ? at(wheel, wheel->ready) : NULL;
}

void wheel_pop(struct wheel *wheel)
{
	wheel->ready = at(wheel, wheel->ready)->next;
	wheel->records--;
}

simtime wheel_next(const struct wheel *wheel)
{
	if (wheel->ready)
		return at(wheel, wheel->ready)->t_ns;
	return slot_next(wheel);
}
