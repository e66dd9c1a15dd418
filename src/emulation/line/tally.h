/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many of the packets on a line are still on their way: how many of the instants noted are later
 * than now. For `delay ... limit N` (delay.h).
 *
 * The line itself cannot say: what is due lies there until somebody polls, and packets of several clouds
 * lie on one wheel. What is counted here depends on instants alone, so that a limit drops the same
 * packets whenever the engine is polled.
 *
 * Model: a packet is noted with its due time, and counts up to that instant, not at it. Instants that
 * come in order, as on a line that keeps order, stand in a list, and go from its front. The others stand
 * in tiers: tier k has a slot for each value of the digit k of an instant, to the base 32, and an
 * instant stands at the highest digit in which it differs from now. When time goes on, the slots that
 * it has passed go as they are, and those of the one that it is in move to lower tiers: no instant moves
 * more than 12 times, one that is 40 ms ahead at most 4 times, and nothing is ever sorted.
 *
 * Memory: 3.4 kB, and for instants noted 16 bytes each, in chunks of the engine's arena that go back
 * when there is none left.
 * Ownership: tally_make and tally_free are control's, tally_clear comes before. Thread: the worker's.
 */
#ifndef WEIR_TALLY_H
#define WEIR_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "holding/arena.h"
#include "simtime.h"

#define TALLY_DIGIT_BITS 5
#define TALLY_SLOTS      (1u << TALLY_DIGIT_BITS)
#define TALLY_TIERS      13 /* 64 bits */

struct tally_note {
	simtime due;
	struct tally_note *next;
};

struct tally_tier {
	uint32_t taken; /* bit i: there is something in slot i */
	struct tally_note *slot[TALLY_SLOTS];
};

struct tally {
	uint64_t n; /* noted, and later than now */
	simtime now;
	struct tally_note *first, *last; /* in order */
	uint64_t in_tiers;
	uint64_t n_free;
	struct tally_note *free, *fresh, *end; /* from `fresh` to `end` nothing was given out yet */
	struct chunk *chunks;
	struct tally_tier tier[TALLY_TIERS];
};

/* NULL: no memory. */
struct tally *tally_make(void);
/* NULL is nothing. */
void tally_free(struct tally *tally);
/* Forgets all, and gives the chunks back. */
void tally_clear(struct tally *tally, struct arena *arena);

/* Room for so many more, TALLY_RESERVE_MAX at most. False: there is no memory. */
#define TALLY_RESERVE_MAX 128u
bool tally_reserve(struct tally *tally, struct arena *arena, uint32_t n);
/* After a reserve. What is due by now does not count. */
void tally_note(struct tally *tally, simtime due);
/* How many are later than `now`, which does not go back. */
uint64_t tally_count(struct tally *tally, struct arena *arena, simtime now);

#endif
