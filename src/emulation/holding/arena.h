/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory in which packets are held, in chunks of one size. The chunk that was given back last
 * is given out first, so the chunks in use stay few and warm.
 *
 * Cost: O(1), no system call; the pages are touched by the code that allocates the memory.
 * Thread: the worker that owns the engine; `used_chunks` may be read by others.
 */
#ifndef WEIR_ARENA_H
#define WEIR_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#define CHUNK_BYTES 4096

/* Frames are copied in blocks of this size, so a copy may run past the frame's end by less than a
 * block: a chunk keeps that much room behind its last record. */
#define COPY_BLOCK_BYTES 64

struct chunk {
	struct chunk *next;
	uint8_t *end; /* of the last record; set when the log continues in another chunk */
	uint8_t records[];
};

struct arena {
	struct chunk *free;
	uint8_t *base, *fresh, *end; /* from `fresh` on: not yet given out */
	uint64_t used_chunks;
	bool live; /* packets come in real time */
};

static inline void arena_init(struct arena *arena, void *memory, size_t bytes)
{
	*arena = (struct arena){.base = memory, .fresh = memory, .end = (uint8_t *)memory + bytes};
}

/* Allocates memory of zeros for what stands beside the arena, to be freed; if packets come in real
 * time, with all its pages, so that no packet waits for one. Returns NULL if there is none.
 * Control. */
void *arena_beside(const struct arena *arena, size_t bytes);

/* Returns NULL if all chunks are in use. */
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

static inline void arena_put(struct arena *arena, struct chunk *chunk)
{
	chunk->next = arena->free;
	arena->free = chunk;
	arena->used_chunks--;
}

#endif
