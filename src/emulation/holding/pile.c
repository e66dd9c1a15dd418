/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/pile.h"

#define BLOCKS_PER_CHUNK (CHUNK_BYTES / PILE_BLOCK_BYTES)
#define ALL_FREE         ((1u << BLOCKS_PER_CHUNK) - 2) /* the first is the chunk's header */

_Static_assert(sizeof(struct pile_block) == PILE_BLOCK_BYTES, "a block is what it says");
_Static_assert(sizeof(struct pile_chunk) <= PILE_BLOCK_BYTES, "the header is a block");

static void partial_add(struct pile_yard *yard, struct pile_chunk *chunk)
{
	chunk->prev = NULL;
	chunk->next = yard->partial;
	if (chunk->next)
		chunk->next->prev = chunk;
	yard->partial = chunk;
}

static void partial_remove(struct pile_yard *yard, struct pile_chunk *chunk)
{
	if (chunk->next)
		chunk->next->prev = chunk->prev;
	if (chunk->prev)
		chunk->prev->next = chunk->next;
	else
		yard->partial = chunk->next;
}

static struct pile_block *block_get(struct pile_yard *yard)
{
	struct pile_chunk *chunk = yard->partial;
	uint32_t i;

	if (!chunk) {
		chunk = (struct pile_chunk *)(void *)arena_get(yard->arena);
		if (!chunk)
			return NULL;
		chunk->free = ALL_FREE;
		partial_add(yard, chunk);
	}
	i = (uint32_t)__builtin_ctz(chunk->free);
	chunk->free &= chunk->free - 1;
	if (chunk->free == 0)
		partial_remove(yard, chunk);
	return (struct pile_block *)(void *)((uint8_t *)chunk + i * PILE_BLOCK_BYTES);
}

static void block_put(struct pile_yard *yard, wheel_link block)
{
	uint64_t place = (uint64_t)block * 8;
	struct pile_chunk *chunk = (struct pile_chunk *)(void *)(yard->arena->base +
	                                                         place / CHUNK_BYTES * CHUNK_BYTES);

	if (chunk->free == 0)
		partial_add(yard, chunk);
	chunk->free |= 1u << place % CHUNK_BYTES / PILE_BLOCK_BYTES;
	if (chunk->free == ALL_FREE) {
		partial_remove(yard, chunk);
		arena_put(yard->arena, (struct chunk *)(void *)chunk);
	}
}

bool pile_extend(struct pile_yard *yard, struct pile *pile)
{
	struct pile_block *block = block_get(yard);

	if (!block)
		return false;
	block->next = 0;
	if (pile->first) {
		struct pile_block *last = link_at(yard->arena, pile->write - PILE_BLOCK_UNITS);

		last->next = link_of(yard->arena, block);
	} else {
		pile->first = link_of(yard->arena, block);
	}
	pile->write = link_of(yard->arena, block->keys);
	return true;
}

void pile_clear(struct pile_yard *yard, struct pile *pile)
{
	wheel_link next;

	for (wheel_link block = pile->first; block; block = next) {
		next = ((const struct pile_block *)link_at(yard->arena, block))->next;
		block_put(yard, block);
	}
	pile->first = pile->write = 0;
}
