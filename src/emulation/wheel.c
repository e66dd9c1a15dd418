/* SPDX-License-Identifier: BSD-3-Clause */
#include "wheel.h"

#include <stdlib.h>
#include <string.h>

#include <rte_prefetch.h>

/* The most packets of a slot that are sorted one by one. */
#define SLOT_TAKE_MAX 16

/* log2 of the width of a slot; one level above the highest stands for all of time. */
static const uint8_t level_shift[WHEEL_LEVELS + 1] = {6, 16, 28, 40, 52};

static uint32_t slot_in(uint32_t level, simtime t)
{
	uint32_t slots = 1u << (level_shift[level + 1] - level_shift[level]);

	return (uint32_t)(t >> level_shift[level]) & (slots - 1);
}

static void *at(const struct wheel *wheel, wheel_link link)
{
	return wheel->arena->base + (uint64_t)link * 8;
}

static struct wheel_key *key_at(const struct wheel *wheel, wheel_link link)
{
	return at(wheel, link);
}

/* The arena begins with the header of a chunk, so nothing has the link 0. */
static wheel_link link_of(const struct wheel *wheel, const void *place)
{
	return (wheel_link)((uint64_t)((const uint8_t *)place - wheel->arena->base) / 8);
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

void wheel_clear(struct wheel *wheel)
{
	for (uint32_t level = 1; level < WHEEL_LEVELS; level++) {
		log_clear(&wheel->level[level].open_keys, wheel->arena);
		log_clear(&wheel->level[level].open_packets, wheel->arena);
		for (uint32_t slot = 0; slot < WHEEL_SLOTS; slot++) {
			log_clear(&wheel->level[level].keys[slot], wheel->arena);
			log_clear(&wheel->level[level].packets[slot], wheel->arena);
		}
	}
}

void wheel_free(struct wheel *wheel)
{
	if (!wheel)
		return;
	wheel_clear(wheel);
	free(wheel);
}

/* Never true of two that are due at one instant: all sorting is stable, so they stay in the order of
 * their insertion. */
static bool before(const struct wheel_key *a, const struct wheel_key *b)
{
	return a->t_ns < b->t_ns;
}

/* Behind all that are not after it. The usual newcomer is the last. */
static void ready_insert(struct wheel *wheel, struct wheel_key *key)
{
	wheel_link *place = &wheel->ready;

	if (wheel->ready && !before(key, key_at(wheel, wheel->ready_last)))
		place = &key_at(wheel, wheel->ready_last)->next;
	else
		while (*place && !before(key, key_at(wheel, *place)))
			place = &key_at(wheel, *place)->next;
	key->next = *place;
	*place = link_of(wheel, key);
	if (key->next == 0)
		wheel->ready_last = *place;
}

/* Links a key that lies in an open log into a slot of the level below that log's. */
static void link_below(struct wheel *wheel, uint32_t level, struct wheel_key *key)
{
	struct wheel_level *below = &wheel->level[level - 1];
	uint32_t slot;

	if (key->t_ns < wheel->ready_until) {
		ready_insert(wheel, key);
		return;
	}
	slot = slot_in(level - 1, key->t_ns);
	key->next = below->list[slot];
	below->list[slot] = link_of(wheel, key);
	bit_set(below->used, slot);
}

/* The lowest level whose slot at the cursor is not over before `due`. */
static uint32_t level_of(const struct wheel *wheel, simtime due)
{
	uint32_t level = 1;

	while (level < WHEEL_LEVELS &&
	       due >> level_shift[level] > wheel->cursor >> level_shift[level])
		level++;
	return level;
}

struct held *wheel_append(struct wheel *wheel, simtime due, uint32_t cloud, uint32_t stored_bytes)
{
	uint32_t level = level_of(wheel, due);
	struct log *keys = &wheel->level[1].open_keys;
	struct log *packets = &wheel->level[1].open_packets;
	struct wheel_key *key;
	struct held *held;
	uint32_t slot = 0;

	if (likely(level > 1)) {
		struct wheel_level *above = &wheel->level[level - 1];

		slot = slot_in(level - 1, due);
		keys = &above->keys[slot];
		packets = &above->packets[slot];
	}
	held = log_append(packets, wheel->arena, stored_bytes);
	if (unlikely(!held))
		return NULL;
	key = log_reserve(keys, wheel->arena, sizeof(*key));
	if (unlikely(!key)) {
		log_retract(packets, held_bytes(stored_bytes));
		if (packets->records == 0)
			log_clear(packets, wheel->arena);
		return NULL;
	}
	held->t_ns = due;
	held->cloud = cloud;
	key->t_ns = due;
	key->held = link_of(wheel, held);
	wheel->records++;
	if (likely(level > 1))
		bit_set(wheel->level[level - 1].used, slot);
	else
		link_below(wheel, 1, key);
	return held;
}

static wheel_link list_reverse(struct wheel *wheel, wheel_link list)
{
	wheel_link reversed = 0;

	while (list) {
		wheel_link next = key_at(wheel, list)->next;

		key_at(wheel, list)->next = reversed;
		reversed = list;
		list = next;
	}
	return reversed;
}

/* The keys of a log are read in sequence; the log stays as it is, for they are used in place. */
static void link_log(struct wheel *wheel, uint32_t level, const struct log *log)
{
	for (struct chunk *chunk = log->head; chunk; chunk = chunk->next) {
		const uint8_t *end = chunk == log->tail ? log->write : chunk->end;

		if (chunk->next)
			rte_prefetch0(chunk->next);
		for (uint8_t *place = chunk->records; place < end;
		     place += sizeof(struct wheel_key)) {
			rte_prefetch0(place + 512);
			link_below(wheel, level, (struct wheel_key *)place);
		}
	}
}

/* The slot after the open one is fetched, in sequence, while the open one is read. */
static void stream_begin(struct wheel *wheel, uint32_t slot)
{
	const struct wheel_level *level = &wheel->level[1];
	uint32_t next = bit_next(level->used, slot + 1);

	wheel->stream = NULL;
	if (next == WHEEL_SLOTS)
		return;
	if (level->keys[next].head)
		rte_prefetch0(level->keys[next].head);
	wheel->stream = level->packets[next].head;
	wheel->stream_at = (const uint8_t *)wheel->stream;
}

static void stream_fetch(struct wheel *wheel)
{
	const uint8_t *place = wheel->stream_at;

	rte_prefetch0(place);
	rte_prefetch0(place + RTE_CACHE_LINE_SIZE);
	wheel->stream_at += 2 * RTE_CACHE_LINE_SIZE;
	if (wheel->stream_at == (const uint8_t *)wheel->stream + CHUNK_BYTES) {
		wheel->stream = wheel->stream->next;
		wheel->stream_at = (const uint8_t *)wheel->stream;
	}
}

/* The cursor enters a slot of this level: what was open has left, what is in the slot is linked
 * below, in the order of insertion: first what came from above. */
static void level_enter(struct wheel *wheel, uint32_t number, simtime when)
{
	struct wheel_level *level = &wheel->level[number];
	uint32_t slot = slot_in(number, when);
	wheel_link list = list_reverse(wheel, level->list[slot]);

	level->list[slot] = 0;
	bit_clear(level->used, slot);
	log_clear(&level->open_keys, wheel->arena);
	log_clear(&level->open_packets, wheel->arena);
	level->open_keys = level->keys[slot];
	level->open_packets = level->packets[slot];
	memset(&level->keys[slot], 0, sizeof(level->keys[slot]));
	memset(&level->packets[slot], 0, sizeof(level->packets[slot]));
	while (list) {
		wheel_link next = key_at(wheel, list)->next;

		link_below(wheel, number, key_at(wheel, list));
		list = next;
	}
	link_log(wheel, number, &level->open_keys);
	if (number == 1)
		stream_begin(wheel, slot);
}

/* Moves the cursor on; no slot that holds something lies between. */
static void cursor_move(struct wheel *wheel, simtime when)
{
	simtime old = wheel->cursor;

	wheel->cursor = when;
	wheel->ready_until = when >> level_shift[0] << level_shift[0];
	for (uint32_t level = WHEEL_LEVELS - 1; level > 0; level--) {
		if (when >> level_shift[level] != old >> level_shift[level])
			level_enter(wheel, level, when);
	}
}

/* The beginning of the next slot that holds something, in the lowest level that has one. Only the
 * highest level goes round: what lies before the cursor there belongs to its next turn. */
static simtime slot_next(const struct wheel *wheel)
{
	const uint32_t highest = WHEEL_LEVELS - 1;
	uint32_t again;

	for (uint32_t level = 0; level < WHEEL_LEVELS; level++) {
		uint32_t turn = level_shift[level + 1];
		uint32_t from = slot_in(level, wheel->cursor) + (level > 0);
		uint32_t slot = bit_next(wheel->level[level].used, from);

		if (slot < WHEEL_SLOTS)
			return (wheel->cursor >> turn << turn) +
			       ((simtime)slot << level_shift[level]);
	}
	again = bit_next(wheel->level[highest].used, 0);
	if (again == WHEEL_SLOTS)
		return SIMTIME_NEVER;
	return ((wheel->cursor >> level_shift[WHEEL_LEVELS]) + 1) << level_shift[WHEEL_LEVELS] |
	       (simtime)again << level_shift[highest];
}

/* A stable merge sort of a list: runs of 1, 2, 4 ... wait in their places until they meet an equal.
 */
static wheel_link list_merge(struct wheel *wheel, wheel_link a, wheel_link b)
{
	wheel_link merged = 0;
	wheel_link *end = &merged;

	while (a && b) {
		wheel_link *first = before(key_at(wheel, b), key_at(wheel, a)) ? &b : &a;

		*end = *first;
		end = &key_at(wheel, *first)->next;
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

		list = key_at(wheel, run)->next;
		key_at(wheel, run)->next = 0;
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
	wheel_link last = list;
	bool sorted = true;

	level->list[slot] = 0;
	bit_clear(level->used, slot);
	wheel->ready_until += UINT64_C(1) << level_shift[0];
	for (wheel_link next; (next = key_at(wheel, last)->next) != 0; last = next)
		sorted &= !before(key_at(wheel, next), key_at(wheel, last));
	if (!sorted) {
		list = list_sort(wheel, list);
		for (last = list; key_at(wheel, last)->next;)
			last = key_at(wheel, last)->next;
	}
	wheel->ready = list;
	wheel->ready_last = last;
}

/* Moves the cursor to the next slot of level 0 that holds something and begins by `now`, else to
 * `now`. False: there is no such slot. Only when nothing is ready. */
static bool slot_find(struct wheel *wheel, simtime now)
{
	for (;;) {
		simtime start = slot_next(wheel);

		if (start > now || start == SIMTIME_NEVER) {
			if (now > wheel->cursor)
				cursor_move(wheel, now);
			return false;
		}
		if (start > wheel->cursor)
			cursor_move(wheel, start);
		if (wheel->level[0].list[slot_in(0, wheel->cursor)])
			return true;
	}
}

struct held *wheel_front(struct wheel *wheel, simtime now)
{
	const struct wheel_key *first;

	if (!wheel->ready) {
		if (!slot_find(wheel, now))
			return NULL;
		ready_open(wheel);
	}
	first = key_at(wheel, wheel->ready);
	return first->t_ns <= now ? at(wheel, first->held) : NULL;
}

void wheel_pop(struct wheel *wheel)
{
	wheel->ready = key_at(wheel, wheel->ready)->next;
	wheel->records--;
	if (wheel->stream)
		stream_fetch(wheel);
}

/* A slot of few packets that are all due is sorted on the way out, without being opened. Returns how
 * many; 0: it has to be opened. */
static uint32_t slot_take(struct wheel *wheel, simtime now, struct held **held, uint32_t room)
{
	struct wheel_level *level = &wheel->level[0];
	uint32_t slot = slot_in(0, wheel->cursor);
	simtime end = ((wheel->cursor >> level_shift[0]) + 1) << level_shift[0];
	const struct wheel_key *key[SLOT_TAKE_MAX];
	uint32_t n = 0;

	if (end - 1 > now)
		return 0;
	/* The list has the last inserted first; `key` gets the last to leave first. */
	for (wheel_link link = level->list[slot]; link; n++) {
		const struct wheel_key *next = key_at(wheel, link);
		uint32_t place = n;

		if (n == SLOT_TAKE_MAX || n == room)
			return 0;
		link = next->next;
		for (; place > 0 && before(key[place - 1], next); place--)
			key[place] = key[place - 1];
		key[place] = next;
	}
	for (uint32_t i = 0; i < n; i++)
		held[i] = at(wheel, key[n - 1 - i]->held);
	level->list[slot] = 0;
	bit_clear(level->used, slot);
	wheel->ready_until = end;
	return n;
}

uint32_t wheel_take(struct wheel *wheel, simtime now, struct held **held, uint32_t room)
{
	uint32_t n = 0;

	while (n < room) {
		uint32_t taken = 0;

		if (!wheel->ready && slot_find(wheel, now))
			taken = slot_take(wheel, now, &held[n], room - n);
		if (taken) {
			n += taken;
			wheel->records -= taken;
			for (uint32_t i = 0; i < taken && wheel->stream; i++)
				stream_fetch(wheel);
			continue;
		}
		held[n] = wheel_front(wheel, now);
		if (!held[n])
			break;
		wheel_pop(wheel);
		n++;
	}
	return n;
}

void wheel_idle_until(struct wheel *wheel, simtime now)
{
	if (wheel->records == 0 && now > wheel->cursor)
		cursor_move(wheel, now);
}

simtime wheel_next(const struct wheel *wheel)
{
	if (wheel->ready)
		return key_at(wheel, wheel->ready)->t_ns;
	return slot_next(wheel);
}
