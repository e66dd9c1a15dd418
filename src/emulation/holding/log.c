/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/log.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u

void *arena_beside(const struct arena *arena, size_t bytes)
{
	uint8_t *memory = calloc(1, bytes);

	/* A loop that the compiler does not know to be calloc's. */
	for (size_t at = 0; memory && arena->live && at < bytes; at += PAGE_BYTES)
		*(volatile uint8_t *)(memory + at) = 0;
	return memory;
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
