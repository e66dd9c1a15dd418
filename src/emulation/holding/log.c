/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/log.h"

#include <string.h>

bool log_extend(struct log *log, struct arena *arena)
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

void log_next_chunk(struct log *log, struct arena *arena)
{
	struct chunk *done = log->head;

	log->head = done->next;
	log->read = log->head->records;
	log->read_end = log->head == log->tail ? NULL : log->head->end;
	arena_put(arena, done);
}

void log_join(struct log *log, struct log *from, struct arena *arena)
{
	if (from->records == 0) {
		log_clear(from, arena);
		return;
	}
	if (log->records == 0) {
		log_clear(log, arena);
		*log = *from;
	} else {
		uint8_t *begins = from->head->records;

		/* A chunk is read from its beginning. If records of this chunk were read already,
		 * the others are moved there. */
		if (from->read != begins) {
			const size_t bytes = (size_t)((from->head == from->tail ? from->write
			                                                        : from->head->end) -
			                              from->read);

			memmove(begins, from->read, bytes);
			if (from->head == from->tail)
				from->write = begins + bytes;
			else
				from->head->end = begins + bytes;
		}
		log->tail->end = log->write;
		log->tail->next = from->head;
		if (log->head == log->tail)
			log->read_end = log->write;
		log->tail = from->tail;
		log->write = from->write;
		log->limit = from->limit;
		log->records += from->records;
	}
	memset(from, 0, sizeof(*from));
}

void log_clear(struct log *log, struct arena *arena)
{
	struct chunk *chunk = log->head;

	while (chunk) {
		struct chunk *next = chunk->next;

		arena_put(arena, chunk);
		chunk = next;
	}
	memset(log, 0, sizeof(*log));
}
