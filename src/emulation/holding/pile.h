/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Piles of keys: which packets are due in a slot of the wheel, in the order of their insertion. A key
 * is the due time and the place of the record; only keys are touched until a packet leaves.
 *
 * A pile lies in blocks of 15 keys, and 15 blocks in a chunk of the arena: a slot with one packet
 * takes 256 bytes, and keys are read in sequence.
 *
 * A place in the arena is a `wheel_link`, in units of 8 bytes; 0 is none, for chunks begin with a
 * header.
 *
 * Thread: the worker that owns the arena.
 */
#ifndef WEIR_PILE_H
#define WEIR_PILE_H

#include <stdbool.h>

#include "holding/arena.h"
#include "simtime.h"

typedef uint32_t wheel_link;

/* The memory that a link can reach. */
#define WHEEL_MEMORY_MAX (UINT64_C(8) << 32)

struct wheel_key {
	simtime t_ns;
	wheel_link held; /* a struct held */
	wheel_link next; /* the next key of a list */
};

#define PILE_BLOCK_BYTES 256u
#define PILE_BLOCK_KEYS  (PILE_BLOCK_BYTES / sizeof(struct wheel_key) - 1)
#define PILE_BLOCK_UNITS (PILE_BLOCK_BYTES / 8)

struct pile_block {
	wheel_link next; /* the next block of the pile */
	uint32_t reserved[3];
	struct wheel_key keys[PILE_BLOCK_KEYS];
};

struct pile {
	wheel_link first; /* block; 0: the pile is empty */
	wheel_link write; /* where the next key goes; the end of a block: into a new one */
};

/* A chunk of blocks; it lies in the place of the first. */
struct pile_chunk {
	struct pile_chunk *next, *prev; /* of those that have a free block */
	uint32_t free;                  /* bit i: block i is */
};

struct pile_yard {
	struct arena *arena;
	struct pile_chunk *partial; /* those that have a free block */
};

static inline void *link_at(const struct arena *arena, wheel_link link)
{
	return arena->base + (uint64_t)link * 8;
}

static inline wheel_link link_of(const struct arena *arena, const void *place)
{
	return (wheel_link)((uint64_t)((const uint8_t *)place - arena->base) / 8);
}

/* Goes on to another block. False: no memory. */
bool pile_extend(struct pile_yard *yard, struct pile *pile);
/* Gives all blocks back; the pile is empty then. */
void pile_clear(struct pile_yard *yard, struct pile *pile);

/* Room for a key; NULL: no memory. The caller fills it in. */
static inline struct wheel_key *pile_add(struct pile_yard *yard, struct pile *pile)
{
	struct wheel_key *key;

	if (unlikely(pile->write % PILE_BLOCK_UNITS == 0)) {
		if (!pile_extend(yard, pile))
			return NULL;
	}
	key = link_at(yard->arena, pile->write);
	pile->write += sizeof(struct wheel_key) / 8;
	return key;
}

/* The place of the first key. */
static inline wheel_link pile_begin(const struct pile *pile)
{
	return pile->first ? pile->first + sizeof(struct wheel_key) / 8 : 0;
}

/* From a place in the pile, perhaps behind the last key of a block, to the key there; NULL: there is
 * none (yet). Moves `*place` behind it. */
static inline struct wheel_key *pile_walk(const struct arena *arena, const struct pile *pile,
                                          wheel_link *place)
{
	struct wheel_key *key;

	if (*place == pile->write)
		return NULL;
	if (*place % PILE_BLOCK_UNITS == 0) {
		const struct pile_block *done = link_at(arena, *place - PILE_BLOCK_UNITS);

		*place = done->next + sizeof(struct wheel_key) / 8;
	}
	key = link_at(arena, *place);
	*place += sizeof(struct wheel_key) / 8;
	return key;
}

#endif
