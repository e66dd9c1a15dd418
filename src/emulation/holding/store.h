/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Held packets that leave in another order than they came: records in chunks of the arena, one
 * behind the other. A chunk is given back when its last record has left.
 *
 * Each *class* of packets, whose stay lies between two powers of two, has its own chunk that is
 * being filled. So a packet that stays for seconds does not keep the memory of packets that stay
 * for microseconds: a chunk lives at most about twice as long as any of its records, at a rate that
 * fills chunks faster than packets leave.
 *
 * Memory is written in sequence, whatever the order of leaving.
 *
 * If a packet has no property of its own but its number, and its frame is about a cache line long,
 * it takes a *cell* of one cache line: it is read cold, out of order, and a record takes two and a
 * half lines on average. A chunk of cells stores once the fields that a record has before its
 * frame, except the numbers: those stand together at the beginning of the chunk, and are seldom
 * read. Chunks of cells have classes of their own. A cell takes no more memory than a record.
 *
 * For each chunk, the number of records that have not left, and the class, are in separate arrays.
 * If they were in the chunks, whose first lines are 4 KiB apart, they would share a few sets of the
 * cache, and each packet that leaves would wait for one.
 *
 * Ownership: the arrays are the store's, made and freed by control; chunks are the arena's.
 * Thread: the worker that owns the arena.
 */
#ifndef WEIR_STORE_H
#define WEIR_STORE_H

#include "holding/log.h"

/* Stays up to 2^16 ns are in one class, up to 2^17 in the next, and so on up to 2^52. */
#define STORE_CLASSES 38

/* The header of a chunk of records, or of cells, while it is in use. */
struct parcel {
	uint32_t cloud;       /* of all its cells */
	uint32_t reserved[3]; /* for the size of struct chunk */
	uint8_t records[];
};

#define CELL_BYTES COPY_BLOCK_BYTES
/* A frame of at most this length takes less memory in a record. */
#define CELL_FRAME_ABOVE 40u
#define CELLS_A_CHUNK    ((CHUNK_BYTES - sizeof(struct parcel)) / (CELL_BYTES + sizeof(uint32_t)))
/* The offset of the first cell in a chunk. */
#define CELLS_AT (CHUNK_BYTES - CELLS_A_CHUNK * CELL_BYTES)

struct store_class {
	uint8_t *write, *limit; /* in the chunk that is being filled; NULL: none */
};

struct store {
	struct arena *arena;
	uint16_t *live; /* for each chunk of the arena: records that have not left */
	uint8_t *class; /* likewise: its index in `classes` */
	uint8_t *cell;  /* likewise: length of the frame in each cell; 0: has records */
	struct store_class classes[2 * STORE_CLASSES]; /* of records, then of cells */
};

/* Control: returns 0 or -ENOMEM. `store` must be all zero. */
int store_open(struct store *store, struct arena *arena);
void store_close(struct store *store);

static inline uint32_t store_class_of(simtime stay)
{
	uint32_t class = stay >> 16 ? 64 - (uint32_t)__builtin_clzll(stay >> 16) : 0;

	return class < STORE_CLASSES ? class : STORE_CLASSES - 1;
}

static inline uint64_t store_chunk(const struct store *store, const void *record)
{
	return (uint64_t)((const uint8_t *)record - store->arena->base) / CHUNK_BYTES;
}

/* Continues class `number` in another chunk. Returns false if the arena is empty. */
bool store_extend(struct store *store, uint32_t number);
/* Gives back a chunk from which all records have left. */
void store_release(struct store *store, uint64_t chunk);

/* Returns room for a record that stays about so long (ns), or NULL if there is no memory. The
 * caller fills it in. */
static inline struct held *store_append(struct store *store, simtime stay, uint32_t stored_bytes)
{
	uint32_t bytes = held_bytes(stored_bytes), number = store_class_of(stay);
	struct store_class *class = &store->classes[number];
	uint8_t *room;

	if (unlikely((size_t)(class->limit - class->write) < bytes)) {
		if (!store_extend(store, number))
			return NULL;
	}
	room = class->write;
	class->write += bytes;
	store->live[store_chunk(store, room)]++;
	return (struct held *)(void *)room;
}

/* Frees the record; it stays readable until something is appended in the arena. */
static inline void store_leave(struct store *store, const struct held *held)
{
	uint64_t chunk = store_chunk(store, held);

	if (unlikely(--store->live[chunk] == 0))
		store_release(store, chunk);
}

/* Makes room for a record for each frame, all of class `number`, as long as there is memory;
 * returns how many. Records of a class lie one behind the other, so their common work is done
 * once. */
uint16_t store_append_run(struct store *store, uint32_t number, struct rte_mbuf *const *mbufs,
                          uint16_t n, struct held **held);

/* Returns true if a frame of this length may take a cell of this class. The chunk that is being
 * filled may be for another length. */
static inline bool store_takes_cells(const struct store *store, uint32_t number, uint32_t bytes)
{
	const struct store_class *class = &store->classes[STORE_CLASSES + number];

	return bytes > CELL_FRAME_ABOVE && bytes <= CELL_BYTES &&
	       (class->write == class->limit ||
	        store->cell[store_chunk(store, class->write)] == bytes);
}

/* Makes a cell for each of n packets with these numbers (low halves) and frames of so many bytes,
 * for which store_takes_cells is true, as long as there is memory; returns how many. */
uint16_t store_append_cells(struct store *store, uint32_t number, uint32_t cloud, uint32_t bytes,
                            const uint32_t *numbers, uint16_t n, struct held **cells);

/* Returns the length of the frame if the place is a cell, or 0 if it is a record. The packet may
 * have left, as long as the place is readable. */
static inline uint32_t store_cell(const struct store *store, const void *place)
{
	return store->cell[store_chunk(store, place)];
}

/* Fills in a record of the packet in a cell, except t_ns. */
void store_cell_read(const struct store *store, const void *cell, struct held *held);

/* Takes back the latest store_append, which had the same stay. */
static inline void store_retract(struct store *store, simtime stay, struct held *held,
                                 uint32_t stored_bytes)
{
	store->classes[store_class_of(stay)].write -= held_bytes(stored_bytes);
	store_leave(store, held);
}

#endif
