/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/depot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct parcel) == sizeof(struct chunk), "the arena lends both");

_Static_assert(CHUNK_BYTES / sizeof(struct held) < UINT16_MAX, "so many fit into a chunk at most");
_Static_assert(sizeof(struct parcel) + CELLS_A_CHUNK * sizeof(uint32_t) <= CELLS_AT,
               "their numbers stand in front of the cells");

int depot_open(struct depot *depot, struct arena *arena)
{
	size_t chunks = (size_t)(arena->end - arena->base) / CHUNK_BYTES;

	depot->arena = arena;
	/* Written: the pages must be there before packets come. */
	depot->live = malloc(chunks * sizeof(*depot->live) + 1);
	depot->cell = malloc(chunks * sizeof(*depot->cell) + 1);
	depot->class = malloc(chunks * sizeof(*depot->class) + 1);
	if (!depot->live || !depot->cell || !depot->class)
		return -ENOMEM;
	memset(depot->live, 0, chunks * sizeof(*depot->live));
	memset(depot->cell, 0, chunks * sizeof(*depot->cell));
	memset(depot->class, 0, chunks * sizeof(*depot->class));
	return 0;
}

void depot_close(struct depot *depot)
{
	free(depot->live);
	free(depot->cell);
	free(depot->class);
}

/* The end of what a chunk of this class has room in. */
static uint8_t *limit_of(struct parcel *parcel, uint64_t number)
{
	uint8_t *end = (uint8_t *)parcel + CHUNK_BYTES;

	return number < DEPOT_CLASSES ? end - COPY_BLOCK_BYTES : end;
}

bool depot_extend(struct depot *depot, uint32_t number)
{
	struct depot_class *class = &depot->classes[number];
	struct chunk *chunk = arena_get(depot->arena);
	struct parcel *parcel = (struct parcel *)(void *)chunk;

	if (!chunk)
		return false;
	depot->class[depot_chunk(depot, parcel)] = (uint8_t)number;
	class->write = parcel->records;
	class->limit = limit_of(parcel, number);
	depot->cell[depot_chunk(depot, parcel)] = 0;
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

/* Goes on to another chunk of cells. False: the arena is empty. */
static bool cells_extend(struct depot *depot, uint32_t number, uint32_t cloud, uint32_t bytes)
{
	struct depot_class *class = &depot->classes[DEPOT_CLASSES + number];
	struct parcel *parcel = (struct parcel *)(void *)arena_get(depot->arena);

	if (!parcel)
		return false;
	depot->class[depot_chunk(depot, parcel)] = (uint8_t)(DEPOT_CLASSES + number);
	parcel->cloud = cloud;
	class->write = (uint8_t *)parcel + CELLS_AT;
	class->limit = limit_of(parcel, DEPOT_CLASSES + number);
	depot->cell[depot_chunk(depot, parcel)] = (uint8_t)bytes;
	return true;
}

/* Of a chunk of cells. */
static uint32_t *cell_number(const struct depot *depot, const void *cell)
{
	uint64_t chunk = depot_chunk(depot, cell);
	struct parcel *parcel = (struct parcel *)(void *)(depot->arena->base + chunk * CHUNK_BYTES);
	size_t index = (size_t)((const uint8_t *)cell - (uint8_t *)parcel - CELLS_AT) / CELL_BYTES;

	return (uint32_t *)(void *)parcel->records + index;
}

uint16_t depot_append_cells(struct depot *depot, uint32_t number, uint32_t cloud, uint32_t bytes,
                            const uint32_t *numbers, uint16_t n, struct held **cells)
{
	struct depot_class *class = &depot->classes[DEPOT_CLASSES + number];
	uint16_t done = 0;

	while (done < n) {
		uint32_t *number_of;
		uint8_t *write;
		uint16_t here;

		if (class->write == class->limit && !cells_extend(depot, number, cloud, bytes))
			break;
		write = class->write;
		here = (uint16_t)RTE_MIN((size_t)(n - done),
		                         (size_t)(class->limit - write) / CELL_BYTES);
		number_of = cell_number(depot, write);
		memcpy(number_of, &numbers[done], here * sizeof(*numbers));
		for (uint16_t i = 0; i < here; i++)
			cells[done + i] = (struct held *)(void *)(write + i * CELL_BYTES);
		depot->live[depot_chunk(depot, write)] += here;
		class->write = write + here * CELL_BYTES;
		chunk_fetch(depot->arena, write, class->write);
		chunk_fetch(depot->arena, (const uint8_t *)number_of,
		            (const uint8_t *)(number_of + here));
		done = (uint16_t)(done + here);
	}
	return done;
}

void depot_cell_read(const struct depot *depot, const void *cell, struct held *held)
{
	uint64_t chunk = depot_chunk(depot, cell);
	const struct parcel *parcel =
	        (const struct parcel *)(const void *)(depot->arena->base + chunk * CHUNK_BYTES);

	held->wire_bytes = held->stored_bytes = depot->cell[chunk];
	held->flags = 0;
	held->cloud = parcel->cloud;
	held->number = *cell_number(depot, cell);
	memcpy(held->data, cell, CELL_BYTES);
}

void depot_release(struct depot *depot, uint64_t chunk)
{
	struct parcel *parcel = (struct parcel *)(void *)(depot->arena->base + chunk * CHUNK_BYTES);
	uint32_t number = depot->class[chunk];
	struct depot_class *class = &depot->classes[number];

	if (class->limit == limit_of(parcel, number))
		class->write = class->limit = NULL;
	arena_put(depot->arena, (struct chunk *)(void *)parcel);
}
