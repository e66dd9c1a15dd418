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
 * Ownership: a log belongs to one worker; its chunks come from that worker's arena.
 */
#ifndef WEIR_LOG_H
#define WEIR_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "holding/arena.h"
#include "simtime.h"

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

/* Continues in another chunk. Returns false if the arena is empty. */
bool log_extend(struct log *log, struct arena *arena);
/* Gives back the first chunk, all of which was read. */
void log_next_chunk(struct log *log, struct arena *arena);
/* Appends the records of `from` to `log`; `from` is empty then. */
void log_join(struct log *log, struct log *from, struct arena *arena);
/* Gives back all chunks. The packets of the records must have been taken before. */
void log_clear(struct log *log, struct arena *arena);

/* Returns room for `bytes`, a multiple of 8, at the end, or NULL if there is no memory. */
static inline void *log_reserve(struct log *log, struct arena *arena, uint32_t bytes)
{
	uint8_t *room;

	if (unlikely((size_t)(log->limit - log->write) < bytes)) {
		if (!log_extend(log, arena))
			return NULL;
	}
	room = log->write;
	log->write += bytes;
	log->records++;
	return room;
}

/* Returns room for one packet at the end, or NULL if there is no memory. The caller fills in the
 * other fields. */
static inline struct held *log_append(struct log *log, struct arena *arena, uint32_t stored_bytes)
{
	struct held *held = log_reserve(log, arena, held_bytes(stored_bytes));

	if (likely(held != NULL)) {
		held->n = 1;
		held->gone = 0;
	}
	return held;
}

/* Takes back the latest reservation. */
static inline void log_retract(struct log *log, uint32_t bytes)
{
	log->write -= bytes;
	log->records--;
}

/* Returns the oldest record. Only if records > 0. */
static inline struct held *log_front(const struct log *log)
{
	return (struct held *)log->read;
}

/* Walks from the oldest record to the latest, without removing any. A walk, log_pop and
 * log_pop_past are for logs in which each record has one packet: not for that of a line
 * (train.h). */
struct log_walk {
	const struct log *log;
	const struct chunk *chunk;
	const uint8_t *at;
	uint64_t left;
};

/* Begins a walk. Returns the oldest record, or NULL if there is none. */
static inline const struct held *log_walk_first(struct log_walk *walk, const struct log *log)
{
	*walk = (struct log_walk){
	        .log = log, .chunk = log->head, .at = log->read, .left = log->records};
	return walk->left ? log_front(log) : NULL;
}

/* Returns the next record, or NULL if there is none. */
static inline const struct held *log_walk_next(struct log_walk *walk)
{
	walk->at += held_bytes(((const struct held *)walk->at)->stored_bytes);
	if (--walk->left && walk->chunk != walk->log->tail && walk->at == walk->chunk->end) {
		walk->chunk = walk->chunk->next;
		walk->at = walk->chunk->records;
	}
	return walk->left ? (const struct held *)walk->at : NULL;
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

static inline void log_pop(struct log *log, struct arena *arena)
{
	log_remove(log, arena, held_bytes(log_front(log)->stored_bytes));
}

/* Removes the records that the walk has passed. */
static inline void log_pop_past(struct log *log, struct arena *arena, const struct log_walk *walk)
{
	while (log->head != (walk->left ? walk->chunk : log->tail))
		log_next_chunk(log, arena);
	log->records = walk->left;
	log->read = (uint8_t *)(uintptr_t)walk->at;
	if (walk->left == 0)
		log->read = log->write = log->head->records;
}

#endif
