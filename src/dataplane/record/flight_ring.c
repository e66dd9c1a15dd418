/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/flight_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES_LEAST (UINT64_C(1) << 20)

/* Consecutive entries. */
struct flight_chunk {
	struct flight_chunk *next;
	uint32_t holders; /* references: the ring and the views */
	bool begins;      /* begins with a complete snapshot */
	simtime t_ns;     /* of that snapshot */
	uint64_t used, size, packets;
	uint8_t data[];
};

struct flight_ring {
	uint64_t bytes_max;
	simtime keep_ns;
	struct flight_chunk *first, *last;
	struct flight_chunk *arriving; /* begins with a snapshot that is still incomplete; or
	                                * NULL */
	struct flight_chunk *spare;    /* a free chunk of the least size; or NULL */
	uint64_t bytes;
	simtime latest_ns;
	bool met; /* an entry has arrived, and no mere gap */
	uint64_t n_changes, changes_room;
	struct flight_change *changes;
	bool changes_missing; /* a change is unknown: no view is valid any more */
};

struct flight_ring *flight_ring_make(uint64_t bytes_max, simtime keep_ns)
{
	struct flight_ring *ring = calloc(1, sizeof(*ring));

	if (ring) {
		ring->bytes_max = bytes_max;
		ring->keep_ns = keep_ns;
	}
	return ring;
}

/* ---- changes ---- */

static void change_note(struct flight_ring *ring, const struct tape_entry *entry)
{
	if (ring->n_changes == ring->changes_room) {
		const uint64_t room = 2 * ring->changes_room + 64;
		struct flight_change *changes = realloc(ring->changes, room * sizeof(*changes));

		if (!changes) {
			ring->changes_missing = true;
			return;
		}
		ring->changes = changes;
		ring->changes_room = room;
	}
	ring->changes[ring->n_changes++] = (struct flight_change){entry->number, entry->t_ns};
}

/* Notes a change whose entry has no place in the ring. */
static void change_pass(struct flight_ring *ring, const struct tape_entry *entry)
{
	if (entry->kind == TAPE_CHANGE)
		change_note(ring, entry);
}

/* ---- chunks ---- */

static const struct tape_entry *entry_in(const struct flight_chunk *chunk, uint64_t at)
{
	return (const struct tape_entry *)(const void *)(chunk->data + at);
}

static void chunk_let_go(struct flight_ring *ring, struct flight_chunk *chunk)
{
	if (--chunk->holders > 0)
		return;
	if (!ring->spare && chunk->size == CHUNK_BYTES_LEAST)
		ring->spare = chunk;
	else
		free(chunk);
}

/* Removes the oldest chunk, and notes its changes. */
static void drop_first(struct flight_ring *ring)
{
	struct flight_chunk *chunk = ring->first;

	for (uint64_t at = 0; at < chunk->used; at += entry_in(chunk, at)->bytes)
		change_pass(ring, entry_in(chunk, at));
	ring->first = chunk->next;
	if (!ring->first)
		ring->last = NULL;
	if (ring->arriving == chunk)
		ring->arriving = NULL;
	ring->bytes -= chunk->size;
	chunk_let_go(ring, chunk);
}

static void drop_until(struct flight_ring *ring, const struct flight_chunk *chunk)
{
	while (ring->first != chunk)
		drop_first(ring);
}

/* Appends a chunk with room for `bytes`. Returns NULL if there is no memory. */
static struct flight_chunk *chunk_add(struct flight_ring *ring, uint64_t bytes)
{
	const uint64_t size = bytes > CHUNK_BYTES_LEAST ? bytes : CHUNK_BYTES_LEAST;
	struct flight_chunk *chunk = NULL;

	if (size == CHUNK_BYTES_LEAST && ring->spare) {
		chunk = ring->spare;
		ring->spare = NULL;
	} else {
		chunk = malloc(sizeof(*chunk) + size);
	}
	if (!chunk)
		return NULL;
	*chunk = (struct flight_chunk){.holders = 1, .size = size};
	if (ring->last)
		ring->last->next = chunk;
	else
		ring->first = chunk;
	ring->last = chunk;
	ring->bytes += size;
	return chunk;
}

/* Returns the latest chunk that begins with a snapshot and reaches back far enough; or, if `any`,
 * the first chunk behind the oldest that begins with one. Returns NULL if there is none. */
static struct flight_chunk *new_first(const struct flight_ring *ring, bool any)
{
	struct flight_chunk *found = NULL;

	for (struct flight_chunk *chunk = ring->first ? ring->first->next : NULL; chunk;
	     chunk = chunk->next) {
		if (!chunk->begins)
			continue;
		if (any)
			return chunk;
		if (ring->latest_ns - chunk->t_ns >= ring->keep_ns)
			found = chunk;
	}
	return found;
}

/* Removes chunks that are too old, or exceed bytes_max. */
static void expire(struct flight_ring *ring)
{
	struct flight_chunk *chunk = ring->keep_ns ? new_first(ring, false) : NULL;

	if (chunk)
		drop_until(ring, chunk);
	while (ring->bytes > ring->bytes_max) {
		chunk = new_first(ring, true);
		/* An arriving snapshot may still replace what is there. */
		if (!chunk)
			chunk = ring->arriving;
		if (chunk == ring->first && chunk)
			return;
		drop_until(ring, chunk);
		if (!chunk)
			return;
	}
}

/* ---- entries ---- */

static void append(struct flight_ring *ring, const struct tape_entry *entry)
{
	struct flight_chunk *chunk = ring->last;

	if (!chunk || chunk->size - chunk->used < entry->bytes) {
		chunk = chunk_add(ring, entry->bytes);
		if (!chunk) {
			/* Without this entry, the entries behind it cannot be run again. */
			drop_until(ring, NULL);
			change_pass(ring, entry);
			return;
		}
		expire(ring);
		if (!ring->last) {
			change_pass(ring, entry);
			return;
		}
	}
	memcpy(ring->last->data + ring->last->used, entry, entry->bytes);
	ring->last->used += entry->bytes;
	if (entry->kind == TAPE_PACKETS)
		ring->last->packets += entry->n;
}

static void put_snapshot(struct flight_ring *ring, const struct tape_entry *entry)
{
	if (entry->n == 0) {
		ring->arriving = chunk_add(ring, entry->bytes);
		if (ring->arriving)
			ring->arriving->t_ns = entry->t_ns;
	}
	if (!ring->arriving)
		return;
	append(ring, entry);
	if (ring->arriving && (entry->flags & TAPE_LAST)) {
		ring->arriving->begins = true;
		ring->arriving = NULL;
		if (!ring->first->begins)
			drop_until(ring, new_first(ring, true));
		expire(ring);
	}
}

void flight_ring_put(struct flight_ring *ring, const struct tape_entry *entry)
{
	ring->latest_ns = entry->t_ns;
	ring->met |= entry->kind != TAPE_GAP;
	if (entry->kind == TAPE_SNAPSHOT) {
		put_snapshot(ring, entry);
		return;
	}
	/* The parts of a snapshot are consecutive, so an incomplete one will not be completed. */
	ring->arriving = NULL;
	/* The entries before a gap do not lead to those behind it. */
	if (entry->kind == TAPE_GAP)
		drop_until(ring, NULL);
	/* A change may be missing, which an engine that reads a later snapshot has to have made. */
	ring->changes_missing |= entry->kind == TAPE_GAP && (entry->flags & TAPE_BLIND);
	if (ring->first)
		append(ring, entry);
	else
		change_pass(ring, entry);
}

void flight_ring_clear(struct flight_ring *ring)
{
	drop_until(ring, NULL);
}

simtime flight_ring_begin_ns(const struct flight_ring *ring)
{
	return ring->first ? ring->first->t_ns : SIMTIME_NEVER;
}

void flight_ring_free(struct flight_ring *ring)
{
	if (!ring)
		return;
	drop_until(ring, NULL);
	free(ring->spare);
	free(ring->changes);
	free(ring);
}

/* ---- views ---- */

bool flight_ring_has_met(const struct flight_ring *ring)
{
	return ring->met;
}

int flight_ring_view(struct flight_ring *ring, struct flight_view *view)
{
	*view = (struct flight_view){0};
	if (ring->changes_missing)
		return -ESTALE;
	if (!ring->first || !ring->first->begins)
		return -ENODATA;
	view->changes = malloc((ring->n_changes + 1) * sizeof(*view->changes));
	if (!view->changes)
		return -ENOMEM;
	if (ring->n_changes > 0)
		memcpy(view->changes, ring->changes, ring->n_changes * sizeof(*view->changes));
	view->n_changes = ring->n_changes;
	view->first = ring->first;
	view->from_ns = ring->first->t_ns;
	view->to_ns = ring->latest_ns;
	for (struct flight_chunk *chunk = ring->first; chunk; chunk = chunk->next) {
		chunk->holders++;
		view->n_chunks++;
		view->packets += chunk->packets;
		view->bytes += chunk->used;
		view->end = chunk->used;
	}
	return 0;
}

void flight_view_release(struct flight_ring *ring, struct flight_view *view)
{
	struct flight_chunk *chunk = view->first, *next;

	for (uint64_t i = 0; i < view->n_chunks; i++, chunk = next) {
		next = chunk->next;
		chunk_let_go(ring, chunk);
	}
	free(view->changes);
	*view = (struct flight_view){0};
}

void flight_cursor_begin(struct flight_cursor *cursor, const struct flight_view *view)
{
	*cursor = (struct flight_cursor){.view = view, .here = view->first};
}

const struct tape_entry *flight_cursor_next(struct flight_cursor *cursor)
{
	const struct flight_view *view = cursor->view;
	const struct tape_entry *entry;

	if (cursor->change < view->n_changes) {
		const struct flight_change *change = &view->changes[cursor->change++];

		cursor->of_change = (struct tape_entry){.bytes = sizeof(cursor->of_change),
		                                        .kind = TAPE_CHANGE,
		                                        .t_ns = change->t_ns,
		                                        .number = change->number};
		return &cursor->of_change;
	}
	while (cursor->chunk < view->n_chunks) {
		const bool last = cursor->chunk + 1 == view->n_chunks;

		if (cursor->at < (last ? view->end : cursor->here->used)) {
			entry = entry_in(cursor->here, cursor->at);
			cursor->at += entry->bytes;
			return entry;
		}
		cursor->chunk++;
		cursor->at = 0;
		if (!last)
			cursor->here = cursor->here->next;
	}
	return NULL;
}
