/* SPDX-License-Identifier: BSD-3-Clause */
#include "depot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct parcel) == sizeof(struct chunk), "the arena lends both");

_Static_assert(CHUNK_BYTES / sizeof(struct held) < UINT16_MAX, "so many fit into a chunk at most");

int depot_open(struct depot *depot, struct arena *arena)
{
	size_t bytes = (size_t)(arena->end - arena->base) / CHUNK_BYTES * sizeof(*depot->live);

	depot->arena = arena;
	/* Written: the pages must be there before packets come. */
	depot->live = malloc(bytes + 1);
	if (!depot->live)
		return -ENOMEM;
	memset(depot->live, 0, bytes);
	return 0;
}

void depot_close(struct depot *depot)
{
	free(depot->live);
}

bool depot_extend(struct depot *depot, uint32_t number)
{
	struct depot_class *class = &depot->classes[number];
	struct chunk *chunk = arena_get(depot->arena);
	struct parcel *parcel = (struct parcel *)(void *)chunk;

	if (!chunk)
		return false;
	parcel->class = number;
	class->write = parcel->records;
	class->limit = (uint8_t *)chunk + CHUNK_BYTES - COPY_BLOCK_BYTES;
	return true;
}

/* The chunk that is filled next is fetched for as many bytes as this one is being filled with. */
static void chunk_fetch(const struct arena *arena, const uint8_t *from, const uint8_t *to)
{
	for (; from < to; from += 2 * RTE_CACHE_LINE_SIZE)
		arena_fetch(arena, from);
}

/* As many as find room in the chunk that is being filled; there is one. */
static uint16_t append_here(struct depot *depot, struct depot_class *class,
                            struct rte_mbuf *const *mbufs, uint16_t n, struct held **held)
{
	uint8_t *begin = class->write, *write = begin;
	size_t room = (size_t)(class->limit - write);
	uint16_t i;

	for (i = 0; i < n; i++) {
		uint32_t bytes = held_bytes(mbufs[i]->data_len);

		if (unlikely(room < bytes))
			break;
		held[i] = (struct held *)(void *)write;
		write += bytes;
		room -= bytes;
	}
	depot->live[depot_chunk(depot, begin)] += i;
	class->write = write;
	chunk_fetch(depot->arena, begin, write);
	return i;
}

uint16_t depot_append_run(struct depot *depot, uint32_t number, struct rte_mbuf *const *mbufs,
                          uint16_t n, struct held **held)
{
	struct depot_class *class = &depot->classes[number];
	uint16_t done = 0;

	for (;;) {
		if (likely(class->write != NULL))
			done += append_here(depot, class, &mbufs[done], n - done, &held[done]);
		if (done == n || unlikely(!depot_extend(depot, number)))
			return done;
	}
}

void depot_release(struct depot *depot, uint64_t chunk)
{
	struct parcel *parcel = (struct parcel *)(void *)(depot->arena->base + chunk * CHUNK_BYTES);
	struct depot_class *class = &depot->classes[parcel->class];

	if (class->limit == (uint8_t *)parcel + CHUNK_BYTES - COPY_BLOCK_BYTES)
		class->write = class->limit = NULL;
	arena_put(depot->arena, (struct chunk *)(void *)parcel);
}
