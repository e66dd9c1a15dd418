/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timing wheel whose slots are logs: holds packets that leave in another order than they came, at
 * a cost that does not grow with their number, and gives them back in the exact order of their due
 * times, and at one instant in the order of insertion: the order in which things come about, which no
 * other order could keep when packets leave as soon as they can, or are asked for late.
 *
 * Model: after Varghese and Lauck (SOSP 1987), with a find-first-set bitmap as in Eiffel (NSDI 2019).
 * Four levels, of 1024 slots and three times 4096; a slot is 64 ns, 65.5 us, 268 ms, 18 min wide, and
 * what a line rate brings in 65.5 us fits a first cache. A packet is copied once,
 * into the log of its slot in the lowest level whose present turn its due time does not lie in; so
 * memory is written in sequence, and the chunks of a slot are given back all at once. Beside each
 * log of packets lies one of keys: due time and place. When time enters a slot, its keys are linked
 * into the slots of the level below; a slot of the lowest level is sorted when it is opened. Only
 * keys are touched by that, 16 bytes each; a packet is read once, when it leaves, and fetched ahead.
 * Each key is touched at most once a level: the cost does not depend on how many are held.
 *
 * The cursor never runs ahead of the time that the caller has reached, so that any later insertion
 * finds its place.
 *
 * Thread: the worker that owns the engine.
 */
#ifndef WEIR_WHEEL_H
#define WEIR_WHEEL_H

#include <stdint.h>

#include "log.h"

#define WHEEL_LEVELS 4
#define WHEEL_SLOTS  4096u

/* How far ahead a wheel can hold anything: a turn of its highest level, 52 days, less a slot. */
#define WHEEL_AHEAD_MAX ((UINT64_C(1) << 52) - (UINT64_C(1) << 40))

/* A place in the arena, in units of 8 bytes; 0 is none. */
typedef uint32_t wheel_link;

/* The memory that such a place can lie in. */
#define WHEEL_MEMORY_MAX (UINT64_C(8) << 32)

struct wheel_key {
	simtime t_ns;
	wheel_link held; /* a struct held */
	wheel_link next; /* the next key of the slot */
};

struct wheel_level {
	uint64_t used[WHEEL_SLOTS / 64]; /* slots that hold something */
	wheel_link list[WHEEL_SLOTS];    /* keys linked from the level above, the last one first */
	struct log keys[WHEEL_SLOTS];    /* inserted here; none in level 0 */
	struct log packets[WHEEL_SLOTS];
	struct log open_keys; /* the slot that the cursor is in: linked below already */
	struct log open_packets;
};

struct wheel {
	struct arena *arena;
	simtime cursor; /* everything before its slot has left */
	uint64_t records;
	wheel_link ready, ready_last; /* what is next, sorted: first and last */
	simtime ready_until;          /* what is due before that belongs into `ready` */
	const struct chunk *stream;   /* of the slot that comes after the open one: being fetched */
	const uint8_t *stream_at;
	struct wheel_level level[WHEEL_LEVELS];
};

/* NULL: no memory. Control. */
struct wheel *wheel_make(struct arena *arena);
/* Gives all chunks back to the arena; the packets must have been taken. The worker's last act. */
void wheel_clear(struct wheel *wheel);
/* The same, and frees it. Control, when the wheel was never used, or cleared before. */
void wheel_free(struct wheel *wheel);

/* Brings an empty wheel to the present: it has stood still since it was made, or since nobody looked
 * at it. Nothing on a wheel that holds something. */
void wheel_idle_until(struct wheel *wheel, simtime now);

/* Room for a packet of that cloud that is due at `due`, at most WHEEL_AHEAD_MAX after the last
 * instant that the wheel was told; the caller fills in the rest of it at once. NULL: no memory. */
struct held *wheel_append(struct wheel *wheel, simtime due, uint32_t cloud, uint32_t stored_bytes);

/* The packet that is due first if that is at `now` or before; NULL: none is. It stays. */
struct held *wheel_front(struct wheel *wheel, simtime now);
/* Passes over the packet that wheel_front gave; it stays readable until the next wheel_front. */
void wheel_pop(struct wheel *wheel);

/* The same for many at once: up to `room` packets due at `now` or before, in order, passed over.
 * They stay readable until something is appended to a log of the same arena. */
uint32_t wheel_take(struct wheel *wheel, simtime now, struct held **held, uint32_t room);

/* An instant not after the earliest due time, and after the cursor's slot when nothing is due in
 * it: advancing to it makes progress. SIMTIME_NEVER when empty. */
simtime wheel_next(const struct wheel *wheel);

#endif
