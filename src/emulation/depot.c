/* SPDX-License-Identifier: BSD-3-Clause */
#include "depot.h"

_Static_assert(sizeof(struct parcel) == sizeof(struct chunk), "the arena lends both");

bool depot_extend(struct depot *depot, uint32_t number)
{
	struct depot_class *class = &depot->classes[number];
	struct chunk *chunk = arena_get(depot->arena);
	struct parcel *parcel = (struct parcel *)(void *)chunk;

	if (!chunk)
		return false;
	parcel->live = 0;
	parcel->class = number;
	class->write = parcel->records;
	class->limit = (uint8_t *)chunk + CHUNK_BYTES - COPY_BLOCK_BYTES;
	return true;
}

void depot_release(struct depot *depot, struct parcel *parcel)
{
	struct depot_class *class = &depot->classes[parcel->class];

	if (class->limit == (uint8_t *)parcel + CHUNK_BYTES - COPY_BLOCK_BYTES)
		class->write = class->limit = NULL;
	arena_put(depot->arena, (struct chunk *)(void *)parcel);
}
