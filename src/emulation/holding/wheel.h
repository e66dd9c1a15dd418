/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timing wheel: holds packets that leave in another order than they came, at a cost that does not
 * grow with their number, and gives them back in the exact order of their due times, and at one
 * instant in the order of insertion: the order in which things come about, which no other order
 * could keep when packets leave as soon as they can, or are asked for late.
 *
 * Model: after Varghese and Lauck (SOSP 1987), with a find-first-set bitmap as in Eiffel (NSDI
 * 2019).
 *   level      0        1        2        3
 *   slots      256      65536    1024     4096
 *   width      64 ns    16.4 us  1.07 s   18 min
 * Levels 1 to 3 reach from the present a whole turn ahead, wherever in the turn the present is;
 * what is due within 1.07 s goes to level 1 and is never moved.
 *
 * A packet is copied once, into a store, where memory is written in sequence (store.h), into a
 * record or, on a wheel that one cloud has to itself, into a cell. A slot is a key list of
 * keys (key_list.h): due time and place. When time enters a slot of level 1, its keys are sorted
 * into a sorted slot, by counting the slots of level 0. Level 0 itself takes what is inserted when
 * time is in the slot already, and slots with more keys than the sorted slot has room for: their
 * keys are linked into its slots, as those of levels 2 and 3 are into the level below. Each key is
 * touched at most once a level. While packets leave, those that come after them are fetched: first
 * the keys of the next slot, then what they belong to.
 *
 * The cursor never runs ahead of the time that the caller has reached, so that any later insertion
 * finds its place.
 *
 * Thread: the worker that owns the engine.
 */
#ifndef WEIR_WHEEL_H
#define WEIR_WHEEL_H

#include <stdint.h>

#include "holding/store.h"
#include "holding/key_list.h"

#define WHEEL_LEVELS     4
#define WHEEL_SLOTS_MAX  65536u
#define WHEEL_SLOTS_FINE 256u /* of level 0 */
/* What a slot of level 1 may hold to be sorted at once; a line rate of 64-byte frames
 * brings 244. */
#define WHEEL_SORTED_MAX 1024u
/* How many packets ahead of the one that leaves are fetched. */
#define WHEEL_FETCH_AHEAD 24u
/* How wide a slot of level 1 is. */
#define WHEEL_SLOT_NS (UINT64_C(1) << 14)

/* How far ahead a wheel can hold anything: a turn of its highest level, 52 days, less a slot. */
#define WHEEL_AHEAD_MAX ((UINT64_C(1) << 52) - (UINT64_C(1) << 40))

/* Level 1 and above. */
struct wheel_level {
	uint64_t used[WHEEL_SLOTS_MAX / 64];      /* slots that hold something */
	uint64_t summary[WHEEL_SLOTS_MAX / 4096]; /* words of `used` that are not 0 */
	wheel_link *list;           /* keys from the level above, the last one first */
	struct key_list *key_lists; /* keys that were inserted here */
	struct key_list open;       /* of the slot that the cursor is in: linked below */
};

struct wheel_entry {
	simtime t_ns;
	struct held *held;
};

struct wheel {
	struct store store;
	struct key_list_yard yard;
	bool has_cells; /* or has had: not all in the store are records */
	simtime cursor; /* everything before its slot has left */
	uint64_t records;
	simtime quiet; /* asking for anything before it would find nothing, and open no slot */
	/* what is next: the earlier of two, and the sorted slot's first where they are due
	 * together */
	wheel_link ready, ready_last; /* of level 0, sorted: first and last */
	simtime ready_until;          /* what is due before that belongs into `ready` */
	uint32_t sorted_at, sorted_n;
	/* The slot after the open one: its next block, which is being fetched (0: none), and of the
	 * block before, which is there, the keys whose records have not been fetched yet. */
	uint32_t stream_slot;
	wheel_link stream_at;
	uint32_t stream_keys;
	const struct wheel_key *stream_key;
	uint64_t fine_used[WHEEL_SLOTS_FINE / 64];
	wheel_link fine[WHEEL_SLOTS_FINE]; /* level 0: keys, the last one first */
	struct wheel_level level[WHEEL_LEVELS - 1];
	struct wheel_entry sorted[WHEEL_SORTED_MAX];
	union {
		struct held record;
		uint8_t bytes[sizeof(struct held) + CELL_BYTES];
	} seen; /* a packet in a cell, as wheel_front shows it */
};

/* How many slots each level has. */
extern const uint32_t wheel_slots[WHEEL_LEVELS];

/* NULL: no memory. Control. */
struct wheel *wheel_make(struct arena *arena);
/* Gives all chunks back to the arena; the packets must have been taken. The worker's last act. */
void wheel_clear(struct wheel *wheel);
/* The same, and frees it. Control, when the wheel was never used, or cleared before. */
void wheel_free(struct wheel *wheel);

/* Brings an empty wheel to the present: it has stood still since it was made, or since nobody
 * looked at it. Nothing on a wheel that holds something. */
void wheel_idle_until(struct wheel *wheel, simtime now);

/* The whole of wheel_key_add, for whatever that does not do itself. */
bool wheel_key_add_slow(struct wheel *wheel, simtime due, wheel_link held);

/* Writes the key of a record, which is not counted yet. False: no memory. Here the common case:
 * level 1, in a slot whose last block has room. `base`, `key_lists`, `cursor` and `quiet` are the
 * wheel's: who adds many looks them up once, for a frame that is copied meanwhile might be
 * anything, for all the compiler knows. */
static __rte_always_inline bool wheel_key_add(struct wheel *wheel, uint8_t *base,
                                              struct key_list *key_lists, simtime cursor,
                                              simtime due, wheel_link held, simtime *quiet)
{
	simtime slot = due / WHEEL_SLOT_NS;
	struct wheel_key *key;
	struct key_list *key_list;

	key_list = &key_lists[slot % WHEEL_SLOTS_MAX];
	if (unlikely(slot - cursor / WHEEL_SLOT_NS - 1 >= WHEEL_SLOTS_MAX - 1 ||
	             key_list->write % KEY_LIST_BLOCK_UNITS == 0))
		return wheel_key_add_slow(wheel, due, held);
	key = (struct wheel_key *)(void *)(base + (uint64_t)key_list->write * 8);
	key_list->write += sizeof(*key) / 8;
	*quiet = simtime_min(*quiet, slot * WHEEL_SLOT_NS);
	key->t_ns = due;
	key->held = held;
	return true;
}

/* Room for a packet of that cloud that is due at `due`, at most WHEEL_AHEAD_MAX after the last
 * instant that the wheel was told; the caller fills in the rest of it at once. NULL: no memory. */
static inline struct held *wheel_append(struct wheel *wheel, simtime due, uint32_t cloud,
                                        uint32_t stored_bytes)
{
	simtime stay = due > wheel->cursor ? due - wheel->cursor : 0;
	struct held *held = store_append(&wheel->store, stay, stored_bytes);
	const struct arena *arena = wheel->store.arena;

	if (unlikely(!held))
		return NULL;
	if (unlikely(!wheel_key_add(wheel, arena->base, wheel->level[0].key_lists, wheel->cursor,
	                            due, link_of(arena, held), &wheel->quiet))) {
		store_retract(&wheel->store, stay, held, stored_bytes);
		return NULL;
	}
	wheel->records++;
	held->t_ns = due;
	held->cloud = cloud;
	return held;
}

/* Fetches, to be written, where the keys of packets that are due then will be. */
static inline void wheel_expect(const struct wheel *wheel, const simtime *due, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct key_list *key_list =
		        &wheel->level[0].key_lists[due[i] / WHEEL_SLOT_NS % WHEEL_SLOTS_MAX];

		rte_prefetch0_write(link_at(wheel->store.arena, key_list->write));
	}
}

/* Whether it is worth fetching no more than one line of it. */
static __rte_always_inline bool wheel_may_be_cell(const struct wheel *wheel, const void *place)
{
	return wheel->has_cells && (uintptr_t)place % CELL_BYTES == 0;
}

/* The next block of the slot after the open one. */
void wheel_stream_go_on(struct wheel *wheel);
/* Fetches a record of that slot, as far as the second cache: for later. One at a time, in the midst
 * of other work: the processor has only so many on the way. */
static __rte_always_inline void wheel_stream(struct wheel *wheel)
{
	const uint8_t *record;

	if (unlikely(wheel->stream_keys == 0)) {
		wheel_stream_go_on(wheel);
		return;
	}
	record = link_at(wheel->store.arena, wheel->stream_key->held);
	rte_prefetch1(record);
	if (!wheel_may_be_cell(wheel, record))
		rte_prefetch1(record + RTE_CACHE_LINE_SIZE);
	wheel->stream_key++;
	wheel->stream_keys--;
}

/* Fetches the lines of a record with a small frame; of a larger one the processor fetches the
 * rest. */
static __rte_always_inline void wheel_record_fetch(const struct wheel *wheel,
                                                   const struct held *held)
{
	const uint8_t *record = (const uint8_t *)held;

	rte_prefetch0(record);
	if (wheel_may_be_cell(wheel, record))
		return;
	rte_prefetch0(record + RTE_CACHE_LINE_SIZE);
	rte_prefetch0(record + held_bytes(64) - 1);
}

/* The packet that is due first if that is at `now` or before; NULL: none is. It stays. If it lies
 * in a cell, a record of it is made, the one before is gone. */
struct held *wheel_front(struct wheel *wheel, simtime now);
/* Whether that is known to be NULL without looking. */
static inline bool wheel_is_quiet(const struct wheel *wheel, simtime now)
{
	return now < wheel->quiet;
}
/* The packet that is `places` behind the first, when that is known already; else NULL. It is in the
 * cache, or on its way there. */
static inline const struct held *wheel_glance(const struct wheel *wheel, uint32_t places)
{
	uint32_t at = wheel->sorted_at + places;

	return at < wheel->sorted_n ? wheel->sorted[at].held : NULL;
}
/* Whether nothing lies on the wheel that may be due before, or with, what is left of the sorted
 * slot, which is sorted. It stays so until something is appended, or something else is asked of the
 * wheel. */
bool wheel_has_sorted_alone(const struct wheel *wheel);
/* Then, of a wheel without cells: the packet that is due first if it is on the sorted slot, and due
 * at `now` or before; NULL: it is not, but wheel_front may find another. It stays. */
static __rte_always_inline struct held *wheel_sorted_first(const struct wheel *wheel, simtime now)
{
	const struct wheel_entry *first = &wheel->sorted[wheel->sorted_at];

	return wheel->sorted_at < wheel->sorted_n && first->t_ns <= now ? first->held : NULL;
}
/* Passes over it; it stays readable until the next wheel_front. */
static __rte_always_inline void wheel_sorted_pop(struct wheel *wheel)
{
	uint32_t at = wheel->sorted_at++, ahead = at + WHEEL_FETCH_AHEAD;

	if (likely(ahead < wheel->sorted_n))
		wheel_record_fetch(wheel, wheel->sorted[ahead].held);
	wheel_stream(wheel);
	wheel->records--;
	store_leave(&wheel->store, wheel->sorted[at].held);
}
/* Passes over the packet that wheel_front gave; it stays readable until the next wheel_front. */
void wheel_pop(struct wheel *wheel);

/* The same for many at once: up to `room` packets due at `now` or before, in order, passed over,
 * and their due times. They stay readable until something is appended to a log of the same arena.
 * If the wheel `has_cells`, they may lie in cells (store_cell). */
uint32_t wheel_take(struct wheel *wheel, simtime now, struct held **held, simtime *due_ns,
                    uint32_t room);
/* A record of one that does. */
const struct held *wheel_cell_read(struct wheel *wheel, const void *cell, simtime due);

/* An instant not after the earliest due time, and after the cursor's slot when nothing is due in
 * it: advancing to it makes progress. SIMTIME_NEVER when empty. */
simtime wheel_next(const struct wheel *wheel);

/* The memory that so many packets take, of so many stored bytes each, that lie on a wheel at one
 * time and are spread over `span` ns; control (for `check`). */
unsigned __int128 wheel_memory(unsigned __int128 packets, uint32_t stored_bytes, simtime span);

#endif
