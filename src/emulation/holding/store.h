/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Held packets that leave in another order than they came: records in chunks of the arena, one
 * behind the other, and a chunk goes back when the last of its records has left.
 *
 * So that a packet that stays for seconds does not keep the memory of those that stay for
 * microseconds, there is a chunk being filled for each *class* of packets: those whose stay is
 * between two powers of two. A chunk therefore lives at most about twice as long as any of its
 * records, at a rate that fills chunks faster than packets leave.
 *
 * Memory is written in sequence, whatever the order of leaving.
 *
 * A packet of which there is nothing to say but its number, in a frame of about a cache line, takes
 * a *cell*, which is one: it is read cold, out of order, and a record is of two lines and a half on
 * average. What a record says in front of its frame, a chunk of cells says of all of them, but for
 * their numbers, which stand together at its beginning and are seldom read. Chunks of cells have
 * classes of their own. A cell takes no more memory than a record would.
 *
 * How many records of a chunk have not left, and its class, stand in arrays beside, not in the
 * chunk: the chunks' first lines are 4 KiB apart, so that of a processor's cache only a few sets
 * could hold them, and each packet that leaves would wait for one.
 *
 * Ownership: the arrays are the store's, made and freed by control; chunks are the arena's.
 * Thread: the worker that owns the arena.
 */
#ifndef WEIR_STORE_H
#define WEIR_STORE_H

#include "holding/log.h"

/* Stays up to 2^16 ns are of one class, up to 2^17 of the next, and so on up to 2^52. */
#define STORE_CLASSES 38

/* What a chunk of records, or of cells, begins with, as long as it is in use. */
struct parcel {
	uint32_t cloud;       /* of cells */
	uint32_t reserved[3]; /* as large as struct chunk */
	uint8_t records[];
};

#define CELL_BYTES COPY_BLOCK_BYTES
/* A frame no longer than that takes less memory in a record. */
#define CELL_FRAME_ABOVE 40u
#define CELLS_A_CHUNK    ((CHUNK_BYTES - sizeof(struct parcel)) / (CELL_BYTES + sizeof(uint32_t)))
/* Where in a chunk they begin. */
#define CELLS_AT (CHUNK_BYTES - CELLS_A_CHUNK * CELL_BYTES)

struct store_class {
	uint8_t *write, *limit; /* of the chunk that is being filled; NULL: none */
};

struct store {
	struct arena *arena;
	uint16_t *live; /* of each chunk of the arena: records that have not left */
	uint8_t *class; /* likewise: which of `classes` */
	uint8_t *cell;  /* likewise: the length of each frame in its cells; 0: it has records */
	struct store_class classes[2 * STORE_CLASSES]; /* of records, then of cells */
};

/* 0 or -ENOMEM; `depot` is all zero before. Control. */
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

/* Goes on to another chunk. False: the arena is empty. */
bool store_extend(struct store *store, uint32_t number);
/* Gives a chunk back that holds nothing any more. */
void store_release(struct store *store, uint64_t chunk);

/* Room for a record that stays about so long (ns); NULL: no memory. The caller fills it in. */
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

/* The record is not needed any more; it stays readable until something is appended in the arena. */
static inline void store_leave(struct store *store, const struct held *held)
{
	uint64_t chunk = store_chunk(store, held);

	if (unlikely(--store->live[chunk] == 0))
		store_release(store, chunk);
}

/* Room for a record for each frame, all of this class, as long as there is memory; how many.
 * Records of a class lie one behind the other, and what would be done for each is done once. */
uint16_t store_append_run(struct store *store, uint32_t number, struct rte_mbuf *const *mbufs,
                          uint16_t n, struct held **held);

/* Whether such a frame may take a cell of this class: the chunk that is being filled is for others,
 * perhaps. */
static inline bool store_takes_cells(const struct store *store, uint32_t number, uint32_t bytes)
{
	const struct store_class *class = &store->classes[STORE_CLASSES + number];

	return bytes > CELL_FRAME_ABOVE && bytes <= CELL_BYTES &&
	       (class->write == class->limit ||
	        store->cell[store_chunk(store, class->write)] == bytes);
}

/* A cell each for packets with these numbers (low halves) and frames of so many bytes, which
 * store_takes_cells, as long as there is memory; how many. */
uint16_t store_append_cells(struct store *store, uint32_t number, uint32_t cloud, uint32_t bytes,
                            const uint32_t *numbers, uint16_t n, struct held **cells);

/* The length of the frame in that cell; 0: it is a record. It may have left, as long as it is
 * readable. */
static inline uint32_t store_cell(const struct store *store, const void *place)
{
	return store->cell[store_chunk(store, place)];
}

/* What a record of the same packet would say of it, but for t_ns. */
void store_cell_read(const struct store *store, const void *cell, struct held *held);

/* Takes back what was appended last, with the same stay. */
static inline void store_retract(struct store *store, simtime stay, struct held *held,
                                 uint32_t stored_bytes)
{
	store->classes[store_class_of(stay)].write -= held_bytes(stored_bytes);
	store_leave(store, held);
}

#endif
