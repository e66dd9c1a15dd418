/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timing wheel whose slots are logs: holds packets that leave in another order than they came, at
 * a cost that does not grow with their number, and gives them back in the exact order of their due
 * times (ties: cloud index, then order of insertion).
 *
 * Model: after Varghese and Lauck (SOSP 1987), with a find-first-set bitmap as in Eiffel (NSDI
 * 2019). Four levels of 4096 slots; a slot is 256 ns, 1.05 ms, 4.29 s, 4.9 h wide. A packet is
 * copied once, into the log of its slot in the lowest level whose present turn its due time does
 * not lie in; so memory is written and read in sequence, and the chunks of a slot are given back
 * all at once. When time enters a slot, its records are linked into the slots of the level below,
 * without a copy; a slot of the lowest level is sorted when it is opened. Each record is touched at
 * most once a level: the cost does not depend on how many are held.
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

#define WHEEL_LEVELS    4
#define WHEEL_SLOT_BITS 12
#define WHEEL_SLOTS     (1u << WHEEL_SLOT_BITS)
#define WHEEL_SLOT_NS   8 /* log2 of the width of a slot of level 0 */

/* A record's place in the arena, in units of 8 bytes; 0 is none. */
typedef uint32_t wheel_link;

struct wheel_level {
	uint64_t used[WHEEL_SLOTS / 64]; /* slots that hold something */
	wheel_link list[WHEEL_SLOTS];    /* linked from the level above, the last one first */
	struct log log[WHEEL_SLOTS];     /* inserted here; none in level 0 */
	struct log open;                 /* the slot that the cursor is in: linked below already */
};

struct wheel {
	struct arena *arena;
	simtime cursor; /* everything before its slot has left */
	uint64_t records;
	wheel_link ready, ready_last; /* what is next, sorted: first and last */
	simtime ready_until;          /* what is due before that belongs into `ready` */
	struct wheel_level level[WHEEL_LEVELS];
};

/* NULL: no memory. Control. */
struct wheel *wheel_make(struct arena *arena);
/* The wheel must be empty or its packets taken. Control, or the worker's last act. */
void wheel_free(struct wheel *wheel);

/* Room for a record that is due at `due`; the caller fills in everything but t_ns, at once, and
 * then calls wheel_insert with it. NULL: no memory. */
struct held *wheel_append(struct wheel *wheel, simtime due, uint32_t stored_bytes);
void wheel_insert(struct wheel *wheel, struct held *held);

/* The record that is due first if that is at `now` or before; NULL: none is. It stays. */
struct held *wheel_front(struct wheel *wheel, simtime now);
/* Passes over the record that wheel_front gave; it stays readable until the next wheel_front. */
void wheel_pop(struct wheel *wheel);

/* An instant not after the earliest due time, and after the cursor's slot when nothing is due in
 * it: advancing to it makes progress. SIMTIME_NEVER when empty. */
simtime wheel_next(const struct wheel *wheel);

#endif
