/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Key lists: which packets are due in a slot of the wheel, in the order of their insertion.
 * A key is the due time and the place of the record; only keys are touched until a packet leaves.
 *
 * A key list lies in blocks of 15 keys, and 15 blocks in a chunk of the arena: a slot with one
 * packet takes 256 bytes, and keys are read in sequence.
 *
 * A place in the arena is a `wheel_link`, in units of 8 bytes; 0 is none, for chunks begin with a
 * header.
 *
 * Thread: the worker that owns the arena.
 */
#ifndef WEIR_KEY_LIST_H
#define WEIR_KEY_LIST_H

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

#define KEY_LIST_BLOCK_BYTES 256u
#define KEY_LIST_BLOCK_KEYS  (KEY_LIST_BLOCK_BYTES / sizeof(struct wheel_key) - 1)
#define KEY_LIST_BLOCK_UNITS (KEY_LIST_BLOCK_BYTES / 8)

struct key_list_block {
	wheel_link next; /* the next block of the key list */
	uint32_t reserved[3];
	struct wheel_key keys[KEY_LIST_BLOCK_KEYS];
};

struct key_list {
	wheel_link first; /* block; 0: the key list is empty */
	wheel_link write; /* where the next key goes; the end of a block: into a new one */
};

/* A chunk of blocks; it lies in the place of the first. */
struct key_list_chunk {
	struct key_list_chunk *next, *prev; /* of those that have a free block */
	uint32_t free;                      /* bit i: block i is */
};

struct key_list_yard {
	struct arena *arena;
	struct key_list_chunk *partial; /* those that have a free block */
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
bool key_list_extend(struct key_list_yard *yard, struct key_list *key_list);
/* Gives all blocks back; the key list is empty then. */
void key_list_clear(struct key_list_yard *yard, struct key_list *key_list);

/* Room for a key; NULL: no memory. The caller fills it in. */
static inline struct wheel_key *key_list_add(struct key_list_yard *yard, struct key_list *key_list)
{
	struct wheel_key *key;

	if (unlikely(key_list->write % KEY_LIST_BLOCK_UNITS == 0)) {
		if (!key_list_extend(yard, key_list))
			return NULL;
	}
	key = link_at(yard->arena, key_list->write);
	key_list->write += sizeof(struct wheel_key) / 8;
	return key;
}

/* The place of the first key. */
static inline wheel_link key_list_begin(const struct key_list *key_list)
{
	return key_list->first ? key_list->first + sizeof(struct wheel_key) / 8 : 0;
}

/* From a place in the key list, perhaps behind the last key of a block, to the key there; NULL:
 * there is none (yet). Moves `*place` behind it. */
static inline struct wheel_key *key_list_walk(const struct arena *arena,
                                              const struct key_list *key_list, wheel_link *place)
{
	struct wheel_key *key;

	if (*place == key_list->write)
		return NULL;
	if (*place % KEY_LIST_BLOCK_UNITS == 0) {
		const struct key_list_block *done = link_at(arena, *place - KEY_LIST_BLOCK_UNITS);

		*place = done->next + sizeof(struct wheel_key) / 8;
	}
	key = link_at(arena, *place);
	*place += sizeof(struct wheel_key) / 8;
	return key;
}

#endif
