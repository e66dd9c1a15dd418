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

void depot_release(struct depot *depot, uint64_t chunk)
{
	struct parcel *parcel = (struct parcel *)(void *)(depot->arena->base + chunk * CHUNK_BYTES);
	struct depot_class *class = &depot->classes[parcel->class];

	if (class->limit == (uint8_t *)parcel + CHUNK_BYTES - COPY_BLOCK_BYTES)
		class->write = class->limit = NULL;
	arena_put(depot->arena, (struct chunk *)(void *)parcel);
}
