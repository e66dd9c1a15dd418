/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/wheel.h"

#include <stdlib.h>

#include <rte_common.h>
#include <rte_prefetch.h>

/* Up to so many keys are sorted without counting. */
#define SORT_FEW 24u

/* For levels 0 to 3: log2 of the width of a slot. */
static const uint8_t level_shift[WHEEL_LEVELS] = {6, 14, 30, 40};
const uint32_t wheel_slots[WHEEL_LEVELS] = {WHEEL_SLOTS_FINE, WHEEL_SLOTS_MAX, 1024, 4096};

static uint32_t slot_in(uint32_t level, simtime t)
{
	return (uint32_t)(t >> level_shift[level]) & (wheel_slots[level] - 1);
}

static struct wheel_level *level_at(struct wheel *wheel, uint32_t level)
{
	return &wheel->level[level - 1];
}

static struct wheel_key *key_at(const struct wheel *wheel, wheel_link link)
{
	return link_at(wheel->store.arena, link);
}

static struct held *held_at(const struct wheel *wheel, const struct wheel_key *key)
{
	return link_at(wheel->store.arena, key->held);
}

static void bit_set(uint64_t *bits, uint32_t i)
{
	bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static void bit_clear(uint64_t *bits, uint32_t i)
{
	bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* Returns the first set bit at or after `from`, or n if there is none. */
static uint32_t bit_next(const uint64_t *bits, uint32_t n, uint32_t from)
{
	uint32_t word = from / 64;
	uint64_t rest;

	if (from >= n)
		return n;
	rest = bits[word] & (~UINT64_C(0) << (from % 64));
	while (rest == 0) {
		if (++word == n / 64)
			return n;
		rest = bits[word];
	}
	return word * 64 + (uint32_t)__builtin_ctzll(rest);
}

static void slot_use(struct wheel_level *level, uint32_t slot)
{
	bit_set(level->used, slot);
	bit_set(level->summary, slot / 64);
}

static void slot_leave(struct wheel_level *level, uint32_t slot)
{
	bit_clear(level->used, slot);
	if (level->used[slot / 64] == 0)
		bit_clear(level->summary, slot / 64);
}

/* Returns the first non-empty slot at or after `from`, or n if there is none. */
static uint32_t slot_after(const struct wheel_level *level, uint32_t n, uint32_t from)
{
	uint32_t word = from / 64;
	uint64_t rest;

	if (from >= n)
		return n;
	rest = level->used[word] & (~UINT64_C(0) << (from % 64));
	if (rest == 0) {
		word = bit_next(level->summary, RTE_ALIGN_CEIL(n / 64, 64u), word + 1);
		if (word >= n / 64)
			return n;
		rest = level->used[word];
	}
	return word * 64 + (uint32_t)__builtin_ctzll(rest);
}

struct wheel *wheel_make(struct arena *arena)
{
	struct wheel *wheel = arena_beside(arena, sizeof(*wheel));

	if (!wheel)
		return NULL;
	wheel->pool.arena = arena;
	if (store_open(&wheel->store, arena) < 0) {
		wheel_free(wheel);
		return NULL;
	}
	for (uint32_t i = 1; i < WHEEL_LEVELS; i++) {
		struct wheel_level *level = level_at(wheel, i);

		level->list = arena_beside(arena, wheel_slots[i] * sizeof(*level->list));
		level->key_lists = arena_beside(arena, wheel_slots[i] * sizeof(*level->key_lists));
		if (!level->list || !level->key_lists) {
			wheel_free(wheel);
			return NULL;
		}
	}
	return wheel;
}

void wheel_clear(struct wheel *wheel)
{
	while (!wheel_finds_nothing(wheel, SIMTIME_NEVER - 1))
		wheel_pass(wheel, 1);
	for (uint32_t level = 1; level < WHEEL_LEVELS; level++)
		key_list_clear(&wheel->pool, &level_at(wheel, level)->open);
}

void wheel_free(struct wheel *wheel)
{
	if (!wheel)
		return;
	if (wheel->records || wheel->cursor)
		wheel_clear(wheel);
	for (uint32_t level = 1; level < WHEEL_LEVELS; level++) {
		free(level_at(wheel, level)->list);
		free(level_at(wheel, level)->key_lists);
	}
	store_close(&wheel->store);
	free(wheel);
}

/* Returns the instant of the open slot of level 0 that a key goes to. What is due before the slot
 * goes to its first instant. */
static struct wheel_instant *instant_of(struct wheel *wheel, simtime due)
{
	const uint32_t i = due + WHEEL_INSTANTS < wheel->ready_until ? 0 : due % WHEEL_INSTANTS;

	wheel->ready |= UINT64_C(1) << i;
	return &wheel->instant[i];
}

/* Returns the first instant that has keys. */
static const struct wheel_instant *ready_first(const struct wheel *wheel)
{
	return &wheel->instant[__builtin_ctzll(wheel->ready)];
}

/* Inserts a key into its instant, behind all that are not due after it: it is the last, unless keys
 * that are due before the slot come out of order. */
static void ready_insert(struct wheel *wheel, struct wheel_key *key)
{
	struct wheel_instant *instant = instant_of(wheel, key->t_ns);
	wheel_link *place = &instant->first;

	if (instant->first && key_at(wheel, instant->last)->t_ns <= key->t_ns)
		place = &key_at(wheel, instant->last)->next;
	while (*place && key_at(wheel, *place)->t_ns <= key->t_ns)
		place = &key_at(wheel, *place)->next;
	key->next = *place;
	*place = link_of(wheel->store.arena, key);
	if (key->next == 0)
		instant->last = *place;
}

/* Links a key of an open key list of level `number` into a slot of the level below. */
static void link_below(struct wheel *wheel, uint32_t number, struct wheel_key *key)
{
	wheel_link link = link_of(wheel->store.arena, key);
	uint32_t slot = slot_in(number - 1, key->t_ns);
	wheel_link *list;

	if (number > 1) {
		struct wheel_level *below = level_at(wheel, number - 1);

		list = &below->list[slot];
		slot_use(below, slot);
	} else if (likely(key->t_ns >= wheel->ready_until)) {
		list = &wheel->fine[slot];
		bit_set(wheel->fine_used, slot);
	} else {
		ready_insert(wheel, key);
		return;
	}
	key->next = *list;
	*list = link;
}

/* Returns the level that reaches as far as `due`, or 0 if that is in the slot of level 1 that the
 * cursor is in, or before it. */
static uint32_t level_of(const struct wheel *wheel, simtime due)
{
	simtime cursor = wheel->cursor;
	uint32_t level = 1;

	if (due >> level_shift[1] <= cursor >> level_shift[1])
		return 0;
	while (level < WHEEL_LEVELS - 1 &&
	       (due >> level_shift[level]) - (cursor >> level_shift[level]) >= wheel_slots[level])
		level++;
	return level;
}

bool wheel_key_add_slow(struct wheel *wheel, simtime due, wheel_link held)
{
	uint32_t number = level_of(wheel, due);
	struct wheel_level *level = level_at(wheel, number ? number : 1);
	uint32_t slot = slot_in(number ? number : 1, due);
	struct wheel_key *key;

	key = key_list_add(&wheel->pool, number ? &level->key_lists[slot] : &level->open);
	if (unlikely(!key))
		return false;
	/* The slot has to be opened first, when it begins (wheel_next). */
	wheel->quiet = simtime_min(wheel->quiet, due >> level_shift[number] << level_shift[number]);
	key->t_ns = due;
	key->held = held;
	if (likely(number > 0))
		slot_use(level, slot);
	else
		link_below(wheel, 1, key);
	return true;
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

/* Returns how many keys this block of the key list has, with the keys and the next block. */
static uint32_t block_keys(const struct wheel *wheel, const struct key_list *key_list,
                           wheel_link block, const struct wheel_key **keys, wheel_link *next)
{
	const struct key_list_block *at = link_at(wheel->store.arena, block);

	*keys = at->keys;
	*next = at->next;
	return at->next ? (uint32_t)KEY_LIST_BLOCK_KEYS : (key_list->write - block) / 2 - 1;
}

static void block_fetch(const struct wheel *wheel, wheel_link block)
{
	const uint8_t *at = link_at(wheel->store.arena, block);

	for (uint32_t line = 0; line < KEY_LIST_BLOCK_BYTES / RTE_CACHE_LINE_SIZE; line++)
		rte_prefetch0(at + line * RTE_CACHE_LINE_SIZE);
}

/* Begins to fetch the slot after the open one, while the packets of the open one leave. */
static void stream_begin(struct wheel *wheel, uint32_t slot)
{
	const struct wheel_level *level = level_at(wheel, 1);
	uint32_t next = slot_after(level, WHEEL_SLOTS_MAX, slot + 1);

	wheel->stream_slot = next;
	wheel->stream_keys = 0;
	wheel->stream_at = next < WHEEL_SLOTS_MAX ? level->key_lists[next].first : 0;
	if (wheel->stream_at)
		block_fetch(wheel, wheel->stream_at);
}

void wheel_stream_go_on(struct wheel *wheel)
{
	if (!wheel->stream_at)
		return;
	wheel->stream_keys = block_keys(wheel, &level_at(wheel, 1)->key_lists[wheel->stream_slot],
	                                wheel->stream_at, &wheel->stream_key, &wheel->stream_at);
	if (wheel->stream_at)
		block_fetch(wheel, wheel->stream_at);
}

/* Returns how many keys a key list has; stops counting beyond WHEEL_SORTED_MAX. */
static uint32_t key_list_count(const struct wheel *wheel, const struct key_list *key_list)
{
	const struct wheel_key *keys;
	uint32_t n = 0;

	for (wheel_link block = key_list->first; block && n <= WHEEL_SORTED_MAX;)
		n += block_keys(wheel, key_list, block, &keys, &block);
	return n;
}

/* A word represents a key of a slot of level 1: its due time within the slot, and its position in
 * the slot, so that no two words are equal. */
#define WORD_PLACE_BITS 16
#define WORD_FINE_SHIFT (WORD_PLACE_BITS + 6)

_Static_assert(WHEEL_SORTED_MAX <= 1u << WORD_PLACE_BITS &&
                       WHEEL_SLOT_NS << WORD_PLACE_BITS <= UINT64_C(1) << 32,
               "a word has room for both");

/* Exchanges the words of each pair of neighbours (0 and 1, 2 and 3, ...) that is out of order;
 * returns nonzero if any was. */
static uint32_t words_pass(uint32_t *words, uint32_t n)
{
	uint32_t moved = 0;

	for (uint32_t i = 0; i + 1 < n; i += 2) {
		uint32_t a = words[i], b = words[i + 1], least = a < b ? a : b;

		words[i + 1] = a < b ? b : a;
		words[i] = least;
		moved |= least ^ a;
	}
	return moved;
}

/* Sorts words that are few, or in order up to the slots of level 0. Neighbours are exchanged,
 * because a slot has few words, and this needs no branch that the processor could mispredict. */
static void words_settle(uint32_t *words, uint32_t n)
{
	while (n > 0 && words_pass(words, n) | words_pass(words + 1, n - 1))
		;
}

/* Sorts words up to the slots of level 0, by counting these. */
static void words_count(const uint32_t *words, uint32_t *sorted, uint32_t n)
{
	uint16_t end[WHEEL_SLOTS_FINE] = {0};
	uint16_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		end[words[i] >> WORD_FINE_SHIFT]++;
	for (uint32_t i = 0; i < WHEEL_SLOTS_FINE; i++) {
		uint16_t begin = sum;

		sum = (uint16_t)(sum + end[i]);
		end[i] = begin;
	}
	for (uint32_t i = 0; i < n; i++)
		sorted[end[words[i] >> WORD_FINE_SHIFT]++] = words[i];
}

/* Fetches the lines of a record with a small frame; for a larger one, the processor prefetches the
 * rest. */
static __rte_always_inline void record_fetch(const struct wheel *wheel, const struct held *held)
{
	const uint8_t *record = (const uint8_t *)held;

	rte_prefetch0(record);
	if (wheel_may_be_cell(wheel, record))
		return;
	rte_prefetch0(record + RTE_CACHE_LINE_SIZE);
	rte_prefetch0(record + held_bytes(64) - 1);
}

/* Sorts the n keys of a key list, all of one slot of level 1, into the sorted slot, which is empty
 * before. The sort is stable: packets that are due at one instant stay in the order of
 * insertion. */
static void sorted_make(struct wheel *wheel, const struct key_list *key_list, uint32_t n)
{
	uint32_t words[WHEEL_SORTED_MAX], counted[WHEEL_SORTED_MAX], *sorted = words, i = 0;
	wheel_link held[WHEEL_SORTED_MAX];
	const struct wheel_key *keys;
	wheel_link next;
	simtime start = 0;

	for (wheel_link block = key_list->first; block; block = next) {
		uint32_t more = block_keys(wheel, key_list, block, &keys, &next);

		for (uint32_t k = 0; k < more; k++, i++) {
			words[i] = (uint32_t)(keys[k].t_ns % WHEEL_SLOT_NS) << WORD_PLACE_BITS | i;
			held[i] = keys[k].held;
		}
		start = keys[0].t_ns / WHEEL_SLOT_NS * WHEEL_SLOT_NS;
	}
	if (n > SORT_FEW) {
		words_count(words, counted, n);
		sorted = counted;
	}
	words_settle(sorted, n);
	for (i = 0; i < n; i++) {
		wheel->sorted[i].t_ns = start + (sorted[i] >> WORD_PLACE_BITS);
		wheel->sorted[i].held =
		        link_at(wheel->store.arena, held[sorted[i] % (1u << WORD_PLACE_BITS)]);
	}
	wheel->sorted_at = 0;
	wheel->sorted_n = n;
	for (i = 0; i < RTE_MIN(n, WHEEL_FETCH_AHEAD); i++)
		record_fetch(wheel, wheel->sorted[i].held);
}

/* Enters a slot of this level with the cursor. The packets of the open slot have left. The keys of
 * the new slot go to the level below, in the order of insertion: those from the level above
 * first. */
static void level_enter(struct wheel *wheel, uint32_t number, simtime when)
{
	struct wheel_level *level = level_at(wheel, number);
	uint32_t slot = slot_in(number, when);
	wheel_link list = level->list[slot];
	struct wheel_key *key;
	wheel_link place;
	uint32_t n;

	if (level->open.first)
		key_list_clear(&wheel->pool, &level->open);
	level->open = level->key_lists[slot];
	level->key_lists[slot] = (struct key_list){0};
	level->list[slot] = 0;
	slot_leave(level, slot);
	if (number == 1)
		stream_begin(wheel, slot);
	n = number == 1 && list == 0 ? key_list_count(wheel, &level->open) : UINT32_MAX;
	if (likely(n <= WHEEL_SORTED_MAX)) {
		sorted_make(wheel, &level->open, n);
		return;
	}
	for (list = list_reverse(wheel, list); list;) {
		wheel_link next = key_at(wheel, list)->next;

		link_below(wheel, number, key_at(wheel, list));
		list = next;
	}
	place = key_list_begin(&level->open);
	while ((key = key_list_walk(wheel->store.arena, &level->open, &place)) != NULL)
		link_below(wheel, number, key);
}

/* Advances the cursor; all slots in between are empty. */
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

/* Returns when the next non-empty slot of this level begins. The slots of a level are circular. */
static simtime level_next(const struct wheel *wheel, uint32_t number)
{
	const struct wheel_level *level = &wheel->level[number - 1];
	uint32_t n = wheel_slots[number], at = slot_in(number, wheel->cursor);
	uint32_t slot = slot_after(level, n, at + 1);

	if (slot == n) {
		slot = slot_after(level, n, 0);
		if (slot == n)
			return SIMTIME_NEVER;
	}
	return ((wheel->cursor >> level_shift[number]) + ((slot - at) & (n - 1)))
	       << level_shift[number];
}

/* Returns the beginning of the next non-empty slot, except the sorted slot. */
static simtime slot_next(const struct wheel *wheel)
{
	uint32_t slot;
	simtime next;

	if (wheel->records == 0)
		return SIMTIME_NEVER;
	slot = bit_next(wheel->fine_used, WHEEL_SLOTS_FINE, slot_in(0, wheel->cursor));
	if (slot < WHEEL_SLOTS_FINE)
		return (wheel->cursor >> level_shift[1] << level_shift[1]) +
		       ((simtime)slot << level_shift[0]);
	next = level_next(wheel, 1);
	for (uint32_t level = 2; level < WHEEL_LEVELS; level++)
		next = simtime_min(next, level_next(wheel, level));
	return next;
}

/* Opens the slot of level 0 that the cursor is in. Its keys are in reverse order of insertion, so
 * that each precedes those of its instant that came before it. */
static void ready_open(struct wheel *wheel)
{
	const uint32_t slot = slot_in(0, wheel->cursor);

	wheel->ready_until += WHEEL_INSTANTS;
	for (wheel_link link = wheel->fine[slot], next; link; link = next) {
		struct wheel_key *key = key_at(wheel, link);
		struct wheel_instant *instant = instant_of(wheel, key->t_ns);

		next = key->next;
		key->next = instant->first;
		if (!instant->first)
			instant->last = link;
		instant->first = link;
	}
	wheel->fine[slot] = 0;
	bit_clear(wheel->fine_used, slot);
}

/* Advances the cursor, if nothing is ready, until a slot of level 0 that begins by `now` is opened,
 * or a slot of level 1 is sorted. If there is neither, and the sorted slot is empty, moves the
 * cursor to `now`. */
static void ready_find(struct wheel *wheel, simtime now)
{
	while (!wheel->ready) {
		bool sorted = wheel->sorted_at < wheel->sorted_n;
		simtime start = slot_next(wheel);

		/* The sorted slot belongs to the slot of level 1 that the cursor is in. */
		if (sorted && start >> level_shift[1] != wheel->cursor >> level_shift[1])
			return;
		if (start > now || start == SIMTIME_NEVER) {
			if (!sorted && now > wheel->cursor)
				cursor_move(wheel, now);
			return;
		}
		if (start > wheel->cursor)
			cursor_move(wheel, start);
		if (wheel->fine[slot_in(0, wheel->cursor)])
			ready_open(wheel);
		else if (wheel->sorted_at < wheel->sorted_n)
			return;
	}
}

/* Returns true if the sorted slot has the first packet, false if `ready` has. One of them is not
 * empty. */
static bool sorted_is_first(const struct wheel *wheel)
{
	if (!wheel->ready)
		return true;
	return wheel->sorted_at < wheel->sorted_n &&
	       wheel->sorted[wheel->sorted_at].t_ns <=
	               key_at(wheel, ready_first(wheel)->first)->t_ns;
}

/* Returns true if level 0 has no keys. */
static bool fine_is_empty(const struct wheel *wheel)
{
	uint64_t used = 0;

	for (uint32_t i = 0; i < WHEEL_SLOTS_FINE / 64; i++)
		used |= wheel->fine_used[i];
	return used == 0 && !wheel->ready;
}

/* Returns the packet that is due first, among slots that begin by `now`, or NULL if there is none.
 * Does not touch the packet. */
static struct held *first_find(struct wheel *wheel, simtime now, simtime *due)
{
	const struct wheel_key *key;

	/* Packets in the sorted slot are due before any slot above level 0. */
	if (!wheel->ready && (wheel->sorted_at == wheel->sorted_n || !fine_is_empty(wheel)))
		ready_find(wheel, now);
	if (!wheel->ready && wheel->sorted_at == wheel->sorted_n)
		return NULL;
	if (sorted_is_first(wheel)) {
		*due = wheel->sorted[wheel->sorted_at].t_ns;
		return wheel->sorted[wheel->sorted_at].held;
	}
	key = key_at(wheel, ready_first(wheel)->first);
	*due = key->t_ns;
	return held_at(wheel, key);
}

/* Returns until when nothing is due, and no slot has to be opened. Nothing is due at `now`; `first`
 * is the first packet, due at `due`, or NULL if it is unknown. The cursor never lags behind by more
 * than a slot of level 1. */
static simtime quiet_until(const struct wheel *wheel, simtime now, const struct held *first,
                           simtime due)
{
	if (!first)
		return simtime_min(slot_next(wheel), now + WHEEL_SLOT_NS);
	return wheel->ready || fine_is_empty(wheel) ? due : now + 1;
}

/* Returns the same as wheel_front, but possibly a cell. */
static struct held *front(struct wheel *wheel, simtime now, simtime *due)
{
	struct held *first;

	*due = SIMTIME_NEVER;
	if (wheel_is_quiet(wheel, now))
		return NULL;
	first = first_find(wheel, now, due);
	if (first && *due <= now)
		return first;
	wheel->quiet = quiet_until(wheel, now, first, *due);
	return NULL;
}

struct held *wheel_cell_read(struct wheel *wheel, const void *cell)
{
	struct held *record = &wheel->seen.record;

	store_cell_read(&wheel->store, cell, record);
	return record;
}

struct held *wheel_front(struct wheel *wheel, simtime now, simtime *due)
{
	struct held *first = front(wheel, now, due);

	if (likely(!first || !wheel->has_cells || store_cell(&wheel->store, first) == 0))
		return first;
	return wheel_cell_read(wheel, first);
}

const struct wheel_entry *wheel_look(struct wheel *wheel, simtime now, uint32_t room, uint32_t *n)
{
	struct wheel_entry *found = &wheel->found;
	uint32_t left, due = 1;

	found->held = front(wheel, now, &found->t_ns);
	*n = found->held != NULL;
	if (!found->held || unlikely(!fine_is_empty(wheel)))
		return found;
	found = &wheel->sorted[wheel->sorted_at];
	left = wheel->sorted_n - wheel->sorted_at;
	while (due < RTE_MIN(room, left) && found[due].t_ns <= now)
		due++;
	for (uint32_t i = WHEEL_FETCH_AHEAD; i < RTE_MIN(left, due + WHEEL_FETCH_AHEAD); i++)
		record_fetch(wheel, found[i].held);
	*n = due;
	return found;
}

void wheel_pass(struct wheel *wheel, uint32_t n)
{
	wheel->records -= n;
	for (; unlikely(n > 0 && !sorted_is_first(wheel)); n--) {
		const uint32_t i = (uint32_t)__builtin_ctzll(wheel->ready);
		const struct wheel_key *first = key_at(wheel, wheel->instant[i].first);

		wheel->instant[i].first = first->next;
		if (!first->next)
			wheel->ready &= wheel->ready - 1;
		store_leave(&wheel->store, held_at(wheel, first));
	}
	for (uint32_t i = 0; i < n; i++)
		store_leave(&wheel->store, wheel->sorted[wheel->sorted_at + i].held);
	wheel->sorted_at += n;
}

void wheel_idle_until(struct wheel *wheel, simtime now)
{
	if (wheel->records == 0 && now > wheel->cursor)
		cursor_move(wheel, now);
}

simtime wheel_next(const struct wheel *wheel)
{
	simtime next =
	        wheel->ready ? key_at(wheel, ready_first(wheel)->first)->t_ns : slot_next(wheel);

	if (wheel->sorted_at < wheel->sorted_n)
		next = simtime_min(next, wheel->sorted[wheel->sorted_at].t_ns);
	return next;
}

unsigned __int128 wheel_memory(unsigned __int128 packets, uint32_t stored_bytes, simtime span)
{
	const uint32_t room = CHUNK_BYTES - sizeof(struct parcel) - COPY_BLOCK_BYTES;
	unsigned __int128 slots = RTE_MIN(packets, (unsigned __int128)(span / WHEEL_SLOT_NS + 2));
	unsigned __int128 blocks = packets / KEY_LIST_BLOCK_KEYS + slots + 1;

	/* A chunk is being filled for each class of stays, of records and of cells. The header of a
	 * chunk of keys takes a block. */
	return (packets / (room / held_bytes(stored_bytes)) + 1 + 2 * STORE_CLASSES) * CHUNK_BYTES +
	       (blocks * KEY_LIST_BLOCK_BYTES * 16 / 15 / CHUNK_BYTES + 1) * CHUNK_BYTES;
}
