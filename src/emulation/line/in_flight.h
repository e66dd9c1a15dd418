/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the packets of a line that are still on their way: how many of the noted instants are
 * later than now. For `delay ... limit N` (delay.h).
 *
 * The line itself cannot count them: packets that are due stay on it until the engine is polled,
 * and packets of several clouds are on one wheel. This count depends on instants alone, so a limit
 * drops the same packets whenever the engine is polled.
 *
 * Model: a packet is noted with its due time, and counts up to that instant, exclusively. Instants
 * that come in order, as on a line that keeps order, are in a list, and are removed from its front.
 * The others are in tiers: tier k has a slot for each value of digit k of an instant, to the base
 * 32; an instant is in the tier of the highest digit in which it differs from now. When time
 * advances, the slots that it has passed are discarded as a whole, and the instants in the slot
 * that it enters move to lower tiers. No instant moves more than 12 times, one that is 40 ms ahead
 * at most 4 times, and nothing is ever sorted.
 *
 * Memory: 3.4 kB, and 16 bytes for each noted instant, in chunks of the engine's arena, which are
 * returned when no instant is left.
 * Ownership: control calls in_flight_make and in_flight_free; in_flight_clear comes before the
 * latter.
 * Thread: the worker's.
 */
#ifndef WEIR_IN_FLIGHT_H
#define WEIR_IN_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "holding/log.h"
#include "simtime.h"

#define IN_FLIGHT_DIGIT_BITS 5
#define IN_FLIGHT_SLOTS      (1u << IN_FLIGHT_DIGIT_BITS)
#define IN_FLIGHT_TIERS      13 /* 64 bits */

struct in_flight_note {
	simtime due;
	struct in_flight_note *next;
};

struct in_flight_tier {
	uint32_t taken; /* bit i: slot i is not empty */
	struct in_flight_note *slot[IN_FLIGHT_SLOTS];
};

struct in_flight {
	uint64_t n; /* noted instants later than now */
	simtime now;
	struct in_flight_note *first, *last; /* of the list, in order */
	uint64_t in_tiers;
	uint64_t n_free;
	struct in_flight_note *free, *fresh, *end; /* from `fresh` to `end`: notes not yet used */
	struct chunk *chunks;
	struct in_flight_tier tier[IN_FLIGHT_TIERS];
};

/* Returns NULL if there is no memory. */
struct in_flight *in_flight_make(void);
/* `in_flight` may be NULL. */
void in_flight_free(struct in_flight *in_flight);
/* Discards all notes, and returns the chunks. */
void in_flight_clear(struct in_flight *in_flight, struct arena *arena);

/* Reserves room for n more notes, at most IN_FLIGHT_RESERVE_MAX. Returns false if there is no
 * memory. */
#define IN_FLIGHT_RESERVE_MAX 128u
bool in_flight_reserve(struct in_flight *in_flight, struct arena *arena, uint32_t n);
/* Notes a due time; needs a reserve before. An instant that is not later than now is ignored. */
void in_flight_note(struct in_flight *in_flight, simtime due);
/* Returns how many noted instants are later than `now`, which never decreases. */
uint64_t in_flight_count(struct in_flight *in_flight, struct arena *arena, simtime now);

/* Writes or reads the noted instants (snapshot.h). */
struct snapshot;
void in_flight_snapshot(struct in_flight *in_flight, struct arena *arena,
                        struct snapshot *snapshot);

#endif
