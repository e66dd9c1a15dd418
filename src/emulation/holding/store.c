/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct parcel) == sizeof(struct chunk), "the arena lends both");

_Static_assert(CHUNK_BYTES / sizeof(struct held) < UINT16_MAX, "so many fit into a chunk at most");
_Static_assert(sizeof(struct parcel) + CELLS_A_CHUNK * sizeof(uint32_t) <= CELLS_AT,
               "their numbers stand in front of the cells");

int store_open(struct store *store, struct arena *arena)
{
	size_t chunks = (size_t)(arena->end - arena->base) / CHUNK_BYTES;

	store->arena = arena;
	store->live = arena_beside(arena, chunks * sizeof(*store->live) + 1);
	store->cell = arena_beside(arena, chunks * sizeof(*store->cell) + 1);
	store->class = arena_beside(arena, chunks * sizeof(*store->class) + 1);
	if (!store->live || !store->cell || !store->class)
		return -ENOMEM;
	return 0;
}

void store_close(struct store *store)
{
	free(store->live);
	free(store->cell);
	free(store->class);
}

/* Returns the end of the usable part of a chunk of this class. */
static uint8_t *limit_of(struct parcel *parcel, uint64_t number)
{
	uint8_t *end = (uint8_t *)parcel + CHUNK_BYTES;

	return number < STORE_CLASSES ? end - COPY_BLOCK_BYTES : end;
}

bool store_extend(struct store *store, uint32_t number)
{
	struct store_class *class = &store->classes[number];
	struct chunk *chunk = arena_get(store->arena);
	struct parcel *parcel = (struct parcel *)(void *)chunk;

	if (!chunk)
		return false;
	store->class[store_chunk(store, parcel)] = (uint8_t)number;
	class->write = parcel->records;
	class->limit = limit_of(parcel, number);
	store->cell[store_chunk(store, parcel)] = 0;
	return true;
}

/* Makes room for as many records as fit the chunk that is being filled; there is one. Returns how
 * many. */
static uint16_t append_here(struct store *store, struct store_class *class,
                            struct rte_mbuf *const *mbufs, uint16_t n, struct held **held)
{
	uint8_t *write = class->write;
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
	store->live[store_chunk(store, class->write)] += i;
	class->write = write;
	return i;
}

uint16_t store_append_run(struct store *store, uint32_t number, struct rte_mbuf *const *mbufs,
                          uint16_t n, struct held **held)
{
	struct store_class *class = &store->classes[number];
	uint16_t done = 0;

	for (;;) {
		if (likely(class->write != NULL))
			done += append_here(store, class, &mbufs[done], n - done, &held[done]);
		if (done == n || unlikely(!store_extend(store, number)))
			return done;
	}
}

/* Continues in another chunk of cells. Returns false if the arena is empty. */
static bool cells_extend(struct store *store, uint32_t number, uint32_t cloud, uint32_t bytes)
{
	struct store_class *class = &store->classes[STORE_CLASSES + number];
	struct parcel *parcel;

	if (!store_extend(store, STORE_CLASSES + number))
		return false;
	parcel = (struct parcel *)(void *)(class->limit - CHUNK_BYTES);
	parcel->cloud = cloud;
	class->write = (uint8_t *)parcel + CELLS_AT;
	store->cell[store_chunk(store, parcel)] = (uint8_t)bytes;
	return true;
}

/* Returns where the number of the packet in a cell is stored. */
static uint32_t *cell_number(const struct store *store, const void *cell)
{
	uint64_t chunk = store_chunk(store, cell);
	struct parcel *parcel = (struct parcel *)(void *)(store->arena->base + chunk * CHUNK_BYTES);
	size_t index = (size_t)((const uint8_t *)cell - (uint8_t *)parcel - CELLS_AT) / CELL_BYTES;

	return (uint32_t *)(void *)parcel->records + index;
}

uint16_t store_append_cells(struct store *store, uint32_t number, uint32_t cloud, uint32_t bytes,
                            const uint32_t *numbers, uint16_t n, struct held **cells)
{
	struct store_class *class = &store->classes[STORE_CLASSES + number];
	uint16_t done = 0;

	while (done < n) {
		uint8_t *write;
		uint16_t here;

		if (class->write == class->limit && !cells_extend(store, number, cloud, bytes))
			break;
		write = class->write;
		here = (uint16_t)RTE_MIN((size_t)(n - done),
		                         (size_t)(class->limit - write) / CELL_BYTES);
		memcpy(cell_number(store, write), &numbers[done], here * sizeof(*numbers));
		for (uint16_t i = 0; i < here; i++)
			cells[done + i] = (struct held *)(void *)(write + i * CELL_BYTES);
		store->live[store_chunk(store, write)] += here;
		class->write = write + here * CELL_BYTES;
		done = (uint16_t)(done + here);
	}
	return done;
}

void store_cell_read(const struct store *store, const void *cell, struct held *held)
{
	uint64_t chunk = store_chunk(store, cell);
	const struct parcel *parcel =
	        (const struct parcel *)(const void *)(store->arena->base + chunk * CHUNK_BYTES);

	held->wire_bytes = held->stored_bytes = store->cell[chunk];
	held->flags = 0;
	held->cloud = parcel->cloud;
	held->number = *cell_number(store, cell);
	memcpy(held->data, cell, CELL_BYTES);
}

void store_release(struct store *store, uint64_t chunk)
{
	struct parcel *parcel = (struct parcel *)(void *)(store->arena->base + chunk * CHUNK_BYTES);
	uint32_t number = store->class[chunk];
	struct store_class *class = &store->classes[number];

	if (class->limit == limit_of(parcel, number))
		class->write = class->limit = NULL;
	arena_put(store->arena, (struct chunk *)(void *)parcel);
}
