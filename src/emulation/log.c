/* SPDX-License-Identifier: BSD-3-Clause */
#include "log.h"

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
