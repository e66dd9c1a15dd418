/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Held packets, in the order in which they were held: a log of records in chunks.
 *
 * Why: holding a packet is expensive not because of the instructions, but because its mbuf,
 * untouched for the length of the delay, is cold in the cache. A small frame is copied from its
 * mbuf into the log, one record behind the other, and the mbuf is reused at once: a few hundred
 * mbufs circulate and stay in the cache, and held packets are written and read in sequence, so the
 * processor prefetches them. A large frame stays in its mbuf, and the record holds its address.
 *
 * A held packet is a `struct held *`, valid until it is popped. `data` has its frame, or with
 * HELD_MBUF the address of its mbuf: packet_bytes_of_held (hold.h) finds the bytes in either case.
 *
 * All that waits lies in chunks of one size, of an arena. The chunk that was given back last is
 * given out first, so the chunks in use stay few and warm. Giving and taking cost no system call;
 * the pages are touched by the code that allocates the memory.
 *
 * Ownership: an arena belongs to one worker, and so do the logs whose chunks come from it.
 * Thread: that worker; `used_chunks` may be read by others.
 */
#ifndef WEIR_LOG_H
#define WEIR_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "simtime.h"

/* ---- the memory ---- */

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

/* ---- records ---- */

struct held {
	/* in a queue: its arrival; on a line: when it is due; on a wheel, whose key has the due
	 * time: its number in the order of insertion */
	simtime t_ns;
	uint32_t wire_bytes;   /* length on the wire */
	uint16_t stored_bytes; /* of each packet: the frame, or the address of its mbuf */
	uint16_t flags;        /* HELD_...; the low byte has the flags of struct packet */
	union {
		/* in a log: how many packets it has, and how many, from the first on, have left */
		struct {
			uint16_t n, gone;
		};
		uint32_t cloud; /* on a wheel: index of the cloud that holds its one packet */
	};
	uint32_t number; /* low half of the number of the first packet; others have the next ones */
	uint8_t data[];  /* for each packet, at a multiple of 8 */
};

#define HELD_MBUF  0x0100 /* data is a struct rte_mbuf * */
#define HELD_NAMED 0x0400 /* in an mbuf, whose struct packet holds its name (outlet.h) */

struct log {
	uint8_t *read, *read_end; /* read_end: end of the first chunk; NULL: it is the last */
	uint8_t *write, *limit;
	struct chunk *head, *tail;
	uint64_t records;
};

static inline uint32_t held_bytes(uint32_t stored_bytes)
{
	return (uint32_t)sizeof(struct held) + RTE_ALIGN_CEIL(stored_bytes, 8u);
}

/* Returns the distance from one packet of the record to the next. */
static inline uint32_t held_stride(const struct held *held)
{
	return RTE_ALIGN_CEIL((uint32_t)held->stored_bytes, 8u);
}

/* Returns the bytes of a record in a log, with all its packets. */
static inline uint32_t held_bytes_of_all(const struct held *held)
{
	return (uint32_t)sizeof(*held) + held->n * held_stride(held);
}

static inline struct rte_mbuf *held_mbuf(const struct held *held)
{
	return *(struct rte_mbuf *const *)(const void *)held->data;
}

/* The largest frame that fits a chunk. */
#define LOG_STORED_MAX (CHUNK_BYTES - sizeof(struct chunk) - sizeof(struct held) - COPY_BLOCK_BYTES)

/* Appends the records of `from` to `log`; `from` is empty then. */
void log_join(struct log *log, struct log *from, struct arena *arena);
/* Gives back all chunks. The packets of the records must have been taken before. */
void log_clear(struct log *log, struct arena *arena);

/* ---- at the end ---- */

/* Continues in another chunk. Returns false if the arena is empty. */
static __attribute__((noinline, unused)) bool log_extend(struct log *log, struct arena *arena)
{
	struct chunk *chunk = arena_get(arena);

	if (!chunk)
		return false;
	chunk->next = NULL;
	if (log->tail) {
		log->tail->end = log->write;
		log->tail->next = chunk;
		if (log->head == log->tail)
			log->read_end = log->write;
	} else {
		log->head = chunk;
		log->read = chunk->records;
		log->read_end = NULL;
	}
	log->tail = chunk;
	log->write = chunk->records;
	log->limit = (uint8_t *)chunk + CHUNK_BYTES - COPY_BLOCK_BYTES;
	return true;
}

/* Returns room for one packet at the end, or NULL if there is no memory. The caller fills in the
 * other fields. */
static inline struct held *log_append(struct log *log, struct arena *arena, uint32_t stored_bytes)
{
	const uint32_t bytes = held_bytes(stored_bytes);
	struct held *held;

	if (unlikely((size_t)(log->limit - log->write) < bytes)) {
		if (!log_extend(log, arena))
			return NULL;
	}
	held = (struct held *)(void *)log->write;
	log->write += bytes;
	log->records++;
	held->n = 1;
	held->gone = 0;
	return held;
}

/* Takes back what was appended last. */
static inline void log_retract(struct log *log, uint32_t bytes)
{
	log->write -= bytes;
	log->records--;
}

/* ---- from the front ---- */

/* Returns the oldest record. Only if records > 0. */
static inline struct held *log_front(const struct log *log)
{
	return (struct held *)log->read;
}

/* Walks from the oldest record to the latest, without removing any. */
struct log_walk {
	const struct log *log;
	const struct chunk *chunk; /* has the record that log_walk_next has returned */
	const uint8_t *at;         /* behind it */
};

static inline struct log_walk log_walk(const struct log *log)
{
	return (struct log_walk){.log = log, .chunk = log->head, .at = log->read};
}

/* Returns the next record, or NULL if there is none yet. */
static inline const struct held *log_walk_next(struct log_walk *walk)
{
	const struct held *held;

	if (walk->chunk != walk->log->tail && walk->at == walk->chunk->end) {
		walk->chunk = walk->chunk->next;
		walk->at = walk->chunk->records;
	}
	if (walk->at == walk->log->write)
		return NULL;
	held = (const struct held *)walk->at;
	walk->at += held_bytes_of_all(held);
	return held;
}

/* Gives back the first chunk, all of which was read. */
static __attribute__((noinline, unused)) void log_next_chunk(struct log *log, struct arena *arena)
{
	struct chunk *done = log->head;

	log->head = done->next;
	log->read = log->head->records;
	log->read_end = log->head == log->tail ? NULL : log->head->end;
	arena_put(arena, done);
}

/* Removes the oldest record, which has so many bytes. Its memory stays readable until the next
 * append. */
static inline void log_remove(struct log *log, struct arena *arena, uint32_t bytes)
{
	log->read += bytes;
	if (--log->records == 0) {
		/* Start over in this chunk, which is warm. It is the last, hence the only one. */
		log->read = log->write = log->head->records;
	} else if (log->read == log->read_end) {
		log_next_chunk(log, arena);
	}
}

/* log_pop and log_pop_past are for logs in which each record has one packet: not for that of a line
 * (train.h). */
static inline void log_pop(struct log *log, struct arena *arena)
{
	log_remove(log, arena, held_bytes(log_front(log)->stored_bytes));
}

/* Removes the n oldest records. The walk has returned the one behind them last, or NULL: there is
 * none. */
static inline void log_pop_past(struct log *log, struct arena *arena, uint64_t n,
                                const struct log_walk *walk, const struct held *behind)
{
	while (log->head != walk->chunk)
		log_next_chunk(log, arena);
	log->records -= n;
	log->read = behind ? (uint8_t *)(uintptr_t)behind : log->head->records;
	if (!behind)
		log->write = log->read;
}

#endif
