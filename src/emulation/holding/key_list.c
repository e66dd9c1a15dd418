/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/key_list.h"

#define BLOCKS_PER_CHUNK (CHUNK_BYTES / KEY_LIST_BLOCK_BYTES)
#define ALL_FREE         ((1u << BLOCKS_PER_CHUNK) - 2) /* the first block is the chunk's header */

_Static_assert(sizeof(struct key_list_block) == KEY_LIST_BLOCK_BYTES, "a block is what it says");
_Static_assert(sizeof(struct key_list_chunk) <= KEY_LIST_BLOCK_BYTES, "the header is a block");

static void partial_add(struct key_list_pool *pool, struct key_list_chunk *chunk)
{
	chunk->prev = NULL;
	chunk->next = pool->partial;
	if (chunk->next)
		chunk->next->prev = chunk;
	pool->partial = chunk;
}

static void partial_remove(struct key_list_pool *pool, struct key_list_chunk *chunk)
{
	if (chunk->next)
		chunk->next->prev = chunk->prev;
	if (chunk->prev)
		chunk->prev->next = chunk->next;
	else
		pool->partial = chunk->next;
}

static struct key_list_block *block_get(struct key_list_pool *pool)
{
	struct key_list_chunk *chunk = pool->partial;
	uint32_t i;

	if (!chunk) {
		chunk = (struct key_list_chunk *)(void *)arena_get(pool->arena);
		if (!chunk)
			return NULL;
		chunk->free = ALL_FREE;
		partial_add(pool, chunk);
	}
	i = (uint32_t)__builtin_ctz(chunk->free);
	chunk->free &= chunk->free - 1;
	if (chunk->free == 0)
		partial_remove(pool, chunk);
	return (struct key_list_block *)(void *)((uint8_t *)chunk + i * KEY_LIST_BLOCK_BYTES);
}

static void block_put(struct key_list_pool *pool, wheel_link block)
{
	uint64_t place = (uint64_t)block * 8;
	struct key_list_chunk *chunk =
	        (struct key_list_chunk *)(void *)(pool->arena->base +
	                                          place / CHUNK_BYTES * CHUNK_BYTES);

	if (chunk->free == 0)
		partial_add(pool, chunk);
	chunk->free |= 1u << place % CHUNK_BYTES / KEY_LIST_BLOCK_BYTES;
	if (chunk->free == ALL_FREE) {
		partial_remove(pool, chunk);
		arena_put(pool->arena, (struct chunk *)(void *)chunk);
	}
}

bool key_list_extend(struct key_list_pool *pool, struct key_list *key_list)
{
	struct key_list_block *block = block_get(pool);

	if (!block)
		return false;
	block->next = 0;
	if (key_list->first) {
		struct key_list_block *last =
		        link_at(pool->arena, key_list->write - KEY_LIST_BLOCK_UNITS);

		last->next = link_of(pool->arena, block);
	} else {
		key_list->first = link_of(pool->arena, block);
	}
	key_list->write = link_of(pool->arena, block->keys);
	return true;
}

void key_list_clear(struct key_list_pool *pool, struct key_list *key_list)
{
	wheel_link next;

	for (wheel_link block = key_list->first; block; block = next) {
		next = ((const struct key_list_block *)link_at(pool->arena, block))->next;
		block_put(pool, block);
	}
	key_list->first = key_list->write = 0;
}
