/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Key lists: the packets that are due in a slot of the wheel, in the order of insertion. A key is
 * the due time and the place of the record; until a packet leaves, only its key is touched.
 *
 * A key list consists of blocks of 15 keys, and a chunk of the arena has 15 blocks: a slot with one
 * packet takes 256 bytes, and keys are read in sequence.
 *
 * A place in the arena is a `wheel_link`, in units of 8 bytes. 0 means none: every chunk begins
 * with a header.
 *
 * Thread: the worker that owns the arena.
 */
#ifndef WEIR_KEY_LIST_H
#define WEIR_KEY_LIST_H

#include <stdbool.h>

#include "holding/log.h"
#include "simtime.h"

typedef uint32_t wheel_link;

/* The memory that a link can address. */
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
	wheel_link write; /* where the next key goes; at the end of a block: into a new one */
};

/* The header of a chunk of blocks, in the place of the first block. */
struct key_list_chunk {
	struct key_list_chunk *next, *prev; /* in the list of chunks that have a free block */
	uint32_t free;                      /* bit i: block i is free */
};

struct key_list_pool {
	struct arena *arena;
	struct key_list_chunk *partial; /* chunks that have a free block */
};

static inline void *link_at(const struct arena *arena, wheel_link link)
{
	return arena->base + (uint64_t)link * 8;
}

static inline wheel_link link_of(const struct arena *arena, const void *place)
{
	return (wheel_link)((uint64_t)((const uint8_t *)place - arena->base) / 8);
}

/* Continues in another block. Returns false if there is no memory. */
bool key_list_extend(struct key_list_pool *pool, struct key_list *key_list);
/* Gives back all blocks; the key list is empty then. */
void key_list_clear(struct key_list_pool *pool, struct key_list *key_list);

/* Returns room for a key, or NULL if there is no memory. The caller fills it in. */
static inline struct wheel_key *key_list_add(struct key_list_pool *pool, struct key_list *key_list)
{
	struct wheel_key *key;

	if (unlikely(key_list->write % KEY_LIST_BLOCK_UNITS == 0)) {
		if (!key_list_extend(pool, key_list))
			return NULL;
	}
	key = link_at(pool->arena, key_list->write);
	key_list->write += sizeof(struct wheel_key) / 8;
	return key;
}

/* Returns the place of the first key. */
static inline wheel_link key_list_begin(const struct key_list *key_list)
{
	return key_list->first ? key_list->first + sizeof(struct wheel_key) / 8 : 0;
}

/* Returns the key at a place in the key list, which may be behind the last key of a block, and
 * moves `*place` behind that key. Returns NULL if there is no key (yet). */
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
