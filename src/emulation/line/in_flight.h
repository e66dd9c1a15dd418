/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many of the packets on a line are still on their way: how many of the instants noted are
 * later than now. For `delay ... limit N` (delay.h).
 *
 * The line itself cannot say: what is due lies there until somebody polls, and packets of several
 * clouds lie on one wheel. What is counted here depends on instants alone, so that a limit drops
 * the same packets whenever the engine is polled.
 *
 * Model: a packet is noted with its due time, and counts up to that instant, not at it. Instants
 * that come in order, as on a line that keeps order, stand in a list, and go from its front. The
 * others stand in tiers: tier k has a slot for each value of the digit k of an instant, to the base
 * 32, and an instant stands at the highest digit in which it differs from now. When time goes on,
 * the slots that it has passed go as they are, and those of the one that it is in move to lower
 * tiers: no instant moves more than 12 times, one that is 40 ms ahead at most 4 times, and nothing
 * is ever sorted.
 *
 * Memory: 3.4 kB, and for instants noted 16 bytes each, in chunks of the engine's arena that go
 * back when there is none left. Ownership: in_flight_make and in_flight_free are control's,
 * in_flight_clear comes before. Thread: the worker's.
 */
#ifndef WEIR_IN_FLIGHT_H
#define WEIR_IN_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "holding/arena.h"
#include "simtime.h"

#define IN_FLIGHT_DIGIT_BITS 5
#define IN_FLIGHT_SLOTS      (1u << IN_FLIGHT_DIGIT_BITS)
#define IN_FLIGHT_TIERS      13 /* 64 bits */

struct in_flight_note {
	simtime due;
	struct in_flight_note *next;
};

struct in_flight_tier {
	uint32_t taken; /* bit i: there is something in slot i */
	struct in_flight_note *slot[IN_FLIGHT_SLOTS];
};

struct in_flight {
	uint64_t n; /* noted, and later than now */
	simtime now;
	struct in_flight_note *first, *last; /* in order */
	uint64_t in_tiers;
	uint64_t n_free;
	struct in_flight_note *free, *fresh,
	        *end; /* from `fresh` to `end` nothing was given out yet */
	struct chunk *chunks;
	struct in_flight_tier tier[IN_FLIGHT_TIERS];
};

/* NULL: no memory. */
struct in_flight *in_flight_make(void);
/* NULL is nothing. */
void in_flight_free(struct in_flight *in_flight);
/* Forgets all, and gives the chunks back. */
void in_flight_clear(struct in_flight *in_flight, struct arena *arena);

/* Room for so many more, IN_FLIGHT_RESERVE_MAX at most. False: there is no memory. */
#define IN_FLIGHT_RESERVE_MAX 128u
bool in_flight_reserve(struct in_flight *in_flight, struct arena *arena, uint32_t n);
/* After a reserve. What is due by now does not count. */
void in_flight_note(struct in_flight *in_flight, simtime due);
/* How many are later than `now`, which does not go back. */
uint64_t in_flight_count(struct in_flight *in_flight, struct arena *arena, simtime now);

/* What is noted (snapshot.h). */
struct snapshot;
void in_flight_snapshot(struct in_flight *in_flight, struct arena *arena,
                        struct snapshot *snapshot);

#endif
