/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory in which packets are held, in chunks of one size. A chunk that comes back is the next
 * to be given out: what is in use stays few and warm.
 *
 * Cost: O(1), no system call; pages are touched by whoever made the memory.
 * Thread: the worker that owns the engine; `used_chunks` may be read by others.
 */
#ifndef WEIR_ARENA_H
#define WEIR_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>

#define CHUNK_BYTES 4096

/* Frames are copied in blocks of this size, so a copy may run over its end by less than a block: a
 * chunk keeps that much room behind its last record. */
#define COPY_BLOCK_BYTES 64

struct chunk {
	struct chunk *next;
	uint8_t *end; /* behind its last record, once the log has gone on to another chunk */
	uint8_t records[];
};

struct arena {
	struct chunk *free;
	uint8_t *base, *fresh, *end; /* from `fresh` on nothing was given out yet */
	uint64_t used_chunks;
};

void arena_init(struct arena *arena, void *memory, size_t bytes);

/* NULL when all is in use. */
static inline struct chunk *arena_get(struct arena *arena)
{
	struct chunk *chunk = arena->free;

	if (likely(chunk != NULL)) {
		arena->free = chunk->next;
	} else {
		if (unlikely((size_t)(arena->end - arena->fresh) < CHUNK_BYTES))
			return NULL;
		chunk = (struct chunk *)arena->fresh;
		arena->fresh += CHUNK_BYTES;
	}
	arena->used_chunks++;
	return chunk;
}

/* How far it is from the chunk of `place` to the one that is the next to be given out. */
static inline uintptr_t arena_ahead(const struct arena *arena, const void *place)
{
	const uint8_t *next =
	        likely(arena->free != NULL) ? (const uint8_t *)arena->free : arena->fresh;
	uintptr_t into = ((uintptr_t)place - (uintptr_t)arena->base) % CHUNK_BYTES;

	return (uintptr_t)next - ((uintptr_t)place - into);
}

/* Fetches, to be written, two lines of the chunk that is the next to be given out: those as far
 * into it as `place` is into its own. So a chunk that is filled while packets come has the next one
 * fetched when it is full; a free chunk is cold if more came than left for a while. */
static inline void arena_fetch(const struct arena *arena, const void *place)
{
	uintptr_t next = (uintptr_t)place + arena_ahead(arena, place);

	rte_prefetch0_write((const void *)next);
	rte_prefetch0_write((const void *)(next + RTE_CACHE_LINE_SIZE));
}

static inline void arena_put(struct arena *arena, struct chunk *chunk)
{
	chunk->next = arena->free;
	arena->free = chunk;
	arena->used_chunks--;
}

#endif
