/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timing wheel: holds packets that leave in another order than they came, at a cost that does not
 * grow with their number. It returns them in the exact order of their due times, and at one instant
 * in the order of insertion. That is the order of the events; it is the only one that stays the
 * same whether packets leave as soon as they can or are popped later.
 *
 * Model: after Varghese and Lauck (SOSP 1987), with a find-first-set bitmap as in Eiffel (NSDI
 * 2019).
 *   level      0        1        2        3
 *   slots      256      65536    1024     4096
 *   width      64 ns    16.4 us  1.07 s   18 min
 * Levels 1 to 3 reach a whole turn ahead of the present, wherever in the turn the present is. A
 * packet that is due within 1.07 s goes to level 1 and is never moved.
 *
 * A packet is copied once, into a store, where memory is written in sequence (store.h): into a
 * record or, on a wheel that only one cloud uses, into a cell. A slot is a key list (key_list.h) of
 * keys: due time and place. When time enters a slot of level 1, its keys are sorted into the sorted
 * slot, by counting the slots of level 0. Level 0 itself takes packets that are inserted after time
 * has entered their slot of level 1, and slots with more keys than the sorted slot has room for:
 * their keys are linked into its slots, as the keys of levels 2 and 3 are into the level below.
 * When time enters a slot of level 0, they are linked into its instants. Each key is touched at
 * most once a level, and once more there. While packets leave, those that follow are prefetched:
 * first the keys of the next slot, then their records.
 *
 * The cursor is never ahead of the time that the caller has reached, so a later insertion always
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
#define WHEEL_INSTANTS   64u  /* of a slot of level 0, in ns */
/* How many keys a slot of level 1 may have to be sorted at once; 10 Gbit/s of 64-byte frames bring
 * 244. */
#define WHEEL_SORTED_MAX 1024u
/* A packet is fetched when so many others are still to leave before it. */
#define WHEEL_FETCH_AHEAD 24u
/* The width of a slot of level 1. */
#define WHEEL_SLOT_NS (UINT64_C(1) << 14)

/* How far ahead a packet may be due: a turn of the highest level, 52 days, less a slot. */
#define WHEEL_AHEAD_MAX ((UINT64_C(1) << 52) - (UINT64_C(1) << 40))

/* Level 1 and above. */
struct wheel_level {
	uint64_t used[WHEEL_SLOTS_MAX / 64];      /* slots that are not empty */
	uint64_t summary[WHEEL_SLOTS_MAX / 4096]; /* words of `used` that are not 0 */
	wheel_link *list;                         /* keys from the level above, in reverse order */
	struct key_list *key_lists;               /* keys that were inserted at this level */
	struct key_list open; /* the slot that the cursor is in: its keys are linked below */
};

/* The keys of an instant of the open slot of level 0, in the order of insertion. */
struct wheel_instant {
	wheel_link first, last; /* `last` is of no use if there is no first */
};

/* A packet, and when it is due. */
struct wheel_entry {
	simtime t_ns;
	struct held *held;
};

struct wheel {
	struct store store;
	struct key_list_pool pool;
	bool has_cells; /* or has had some: not all places in the store are records */
	simtime cursor; /* all packets before its slot have left */
	uint64_t records;
	uint64_t inserted; /* so far: the number of the next record */
	simtime quiet;     /* a query for an earlier instant finds nothing, and opens no slot */
	/* The next packet is the first of `ready` or of the sorted slot, whichever is earlier; if
	 * both are due together, that of the sorted slot. */
	uint64_t ready;      /* instants of the open slot of level 0 that have keys, a bit each */
	simtime ready_until; /* keys that are due before this belong into `instant` */
	uint32_t sorted_at, sorted_n;
	/* The slot after the open one: its next block, which is being fetched (0: none), and the
	 * keys of the block before, which has arrived: those whose records have not been fetched
	 * yet. */
	uint32_t stream_slot;
	wheel_link stream_at;
	uint32_t stream_keys;
	const struct wheel_key *stream_key;
	uint64_t fine_used[WHEEL_SLOTS_FINE / 64];
	wheel_link fine[WHEEL_SLOTS_FINE]; /* level 0: keys, in reverse order */
	struct wheel_instant instant[WHEEL_INSTANTS];
	struct wheel_level level[WHEEL_LEVELS - 1];
	struct wheel_entry sorted[WHEEL_SORTED_MAX];
	struct wheel_entry found; /* by wheel_look, outside the sorted slot */
	union {
		struct held record;
		uint8_t bytes[sizeof(struct held) + CELL_BYTES];
	} seen; /* a packet in a cell, as wheel_front returns it */
};

/* The number of slots of each level. */
extern const uint32_t wheel_slots[WHEEL_LEVELS];

/* Control. Returns NULL if there is no memory. */
struct wheel *wheel_make(struct arena *arena);
/* Gives all chunks back to the arena; the packets must have been taken. The worker calls it
 * last. */
void wheel_clear(struct wheel *wheel);
/* The same, and frees the wheel. Control, if the wheel was never used, or was cleared before. */
void wheel_free(struct wheel *wheel);

/* Advances the cursor of an empty wheel to `now`; it may have been idle for long. Does nothing if
 * the wheel is not empty. */
void wheel_idle_until(struct wheel *wheel, simtime now);

/* The slow path of wheel_key_add. */
bool wheel_key_add_slow(struct wheel *wheel, simtime due, wheel_link held);

/* Writes the key of a record, which the caller counts. Returns false if there is no memory. The
 * common case is inline: level 1, in a slot whose last block has room. `base`, `key_lists`,
 * `cursor` and `quiet` are the wheel's: a caller that adds many keys loads them once, because for
 * all the compiler knows, each copy of a frame may change them. */
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

/* Returns room for a packet of that cloud, due at `due`, at most WHEEL_AHEAD_MAX after the last
 * instant that the wheel was given; the caller fills in the other fields at once. Returns NULL if
 * there is no memory. */
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
	held->t_ns = wheel->inserted++;
	held->cloud = cloud;
	return held;
}

/* Fetches, for writing, the places where the keys of packets with these due times will be. */
static inline void wheel_expect(const struct wheel *wheel, const simtime *due, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct key_list *key_list =
		        &wheel->level[0].key_lists[due[i] / WHEEL_SLOT_NS % WHEEL_SLOTS_MAX];

		rte_prefetch0_write(link_at(wheel->store.arena, key_list->write));
	}
}

/* Returns true if the place may be a cell, of which one line is worth fetching. */
static __rte_always_inline bool wheel_may_be_cell(const struct wheel *wheel, const void *place)
{
	return wheel->has_cells && (uintptr_t)place % CELL_BYTES == 0;
}

/* Advances to the next block of the slot after the open one. */
void wheel_stream_go_on(struct wheel *wheel);
/* Fetches one record of that slot into the second-level cache, for later. To be called amid other
 * work, because the processor can have only so many fetches under way. */
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

/* Returns the packet that is due first, at *due, if that is `now` or before, or NULL. It stays on
 * the wheel. If it is in a cell, a record of it is made, which replaces the previous one, and has
 * no number. */
struct held *wheel_front(struct wheel *wheel, simtime now, simtime *due);
/* Returns true if there is none. Brings the cursor to the present. */
static inline bool wheel_finds_nothing(struct wheel *wheel, simtime now)
{
	simtime due;

	return !wheel_front(wheel, now, &due);
}
/* Returns true if wheel_front is known to return NULL, without a search. */
static inline bool wheel_is_quiet(const struct wheel *wheel, simtime now)
{
	return now < wheel->quiet;
}
/* Finds up to `room` > 0 packets that are due by `now`, in order; returns the first of them, and
 * stores how many there are. They stay on the wheel, and more may be due behind them. If the wheel
 * `has_cells`, they may be cells (store_cell). */
const struct wheel_entry *wheel_look(struct wheel *wheel, simtime now, uint32_t room, uint32_t *n);
/* Removes the first n packets that wheel_look or wheel_front has found, before anything else is
 * done with the wheel. They stay readable until something is appended to the arena. */
void wheel_pass(struct wheel *wheel, uint32_t n);
/* Returns a record of a packet in a cell. */
struct held *wheel_cell_read(struct wheel *wheel, const void *cell);

/* Returns an instant that is not after the earliest due time and, if nothing is due in the cursor's
 * slot, after that slot: advancing to it makes progress. Returns SIMTIME_NEVER if the wheel is
 * empty. */
simtime wheel_next(const struct wheel *wheel);

/* Visits all packets on the wheel, without removing any, for a snapshot: one place after the other,
 * not in the order in which they leave. Packets that are due at one instant leave in the order of
 * `number`. `held` is valid only during the call. */
typedef void wheel_visit(void *argument, simtime t_ns, uint64_t number, const struct held *held);
void wheel_walk(struct wheel *wheel, wheel_visit *visit, void *argument);

/* Control (for `check`): returns the memory that so many packets take, of so many stored bytes
 * each, that are on a wheel at one time, spread over `span` ns. */
unsigned __int128 wheel_memory(unsigned __int128 packets, uint32_t stored_bytes, simtime span);

#endif
