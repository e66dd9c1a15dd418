/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/flight.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "record/recorded_file.h"

#define ROOM_AT_FIRST 1024

void flight_losses_make(struct flight_losses *losses, uint64_t bytes_max)
{
	*losses = (struct flight_losses){.most = bytes_max / sizeof(*losses->list)};
}

void flight_losses_free(struct flight_losses *losses)
{
	free(losses->list);
	*losses = (struct flight_losses){0};
}

void flight_losses_clear(struct flight_losses *losses)
{
	losses->n = 0;
}

/* Copies what was due after `from_ns`; the destination may be the list itself. Returns the
 * number. */
static uint64_t copy_since(const struct flight_losses *losses, simtime from_ns,
                           struct flight_loss *to)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < losses->n; i++) {
		if (losses->list[i].due_ns > from_ns)
			to[n++] = losses->list[i];
	}
	return n;
}

/* Makes room for one more. Grows the list if less than half of it could be removed; if it may not
 * grow, a quarter must have been. So the work for a loss is O(1) on average. */
static bool make_room(struct flight_losses *losses, simtime from_ns)
{
	const simtime second_ago =
	        losses->latest_ns > SIMTIME_S ? losses->latest_ns - SIMTIME_S : 0;
	uint64_t room = losses->room ? 2 * losses->room : ROOM_AT_FIRST;
	struct flight_loss *list;

	losses->n = copy_since(losses, simtime_min(from_ns, second_ago), losses->list);
	if (losses->n < losses->room / 2)
		return true;
	if (room > losses->most)
		room = losses->most;
	list = room > losses->room ? realloc(losses->list, room * sizeof(*list)) : NULL;
	if (!list)
		return losses->n < losses->room - losses->room / 4;
	losses->list = list;
	losses->room = room;
	return true;
}

bool flight_losses_put(struct flight_losses *losses, uint32_t worker,
                       const struct tape_entry *entry, simtime from_ns)
{
	if (losses->n == losses->room && !make_room(losses, from_ns))
		return false;
	losses->list[losses->n++] = (struct flight_loss){.due_ns = entry->number,
	                                                 .bytes = entry->n,
	                                                 .digest = entry->word,
	                                                 .port = entry->port,
	                                                 .worker = (uint16_t)worker};
	losses->latest_ns = simtime_max(losses->latest_ns, entry->number);
	return true;
}

int flight_losses_copy(const struct flight_losses *losses, simtime from_ns,
                       struct flight_losses *copy)
{
	*copy = (struct flight_losses){.room = losses->n, .most = losses->n};
	copy->list = malloc((losses->n + 1) * sizeof(*copy->list));
	if (!copy->list)
		return -ENOMEM;
	copy->n = copy_since(losses, from_ns, copy->list);
	return 0;
}

struct tape_entry flight_loss_entry(const struct flight_loss *loss)
{
	return (struct tape_entry){.bytes = sizeof(struct tape_entry),
	                           .kind = TAPE_UNSENT,
	                           .port = loss->port,
	                           .n = loss->bytes,
	                           .word = loss->digest,
	                           .number = loss->due_ns};
}

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

struct flight {
	pthread_mutex_t lock; /* protects the rings and the losses */
	uint32_t workers;
	struct flight_ring **rings;
	struct flight_view *views;
	struct flight_losses losses, losses_view;
};

struct flight *flight_make(uint32_t workers, uint64_t bytes_max, simtime keep_ns)
{
	struct flight *flight = calloc(1, sizeof(*flight));

	if (!flight)
		return NULL;
	pthread_mutex_init(&flight->lock, NULL);
	flight_losses_make(&flight->losses, workers * bytes_max / RECORDING_FLIGHT_LOSSES);
	flight->rings = calloc(workers, sizeof(struct flight_ring *));
	flight->views = calloc(workers, sizeof(*flight->views));
	while (flight->rings && flight->views && flight->workers < workers) {
		flight->rings[flight->workers] = flight_ring_make(bytes_max, keep_ns);
		if (!flight->rings[flight->workers])
			break;
		flight->workers++;
	}
	if (flight->workers == workers)
		return flight;
	flight_free(flight);
	return NULL;
}

void flight_free(struct flight *flight)
{
	if (!flight)
		return;
	if (flight->views)
		flight_views_release(flight);
	for (uint32_t i = 0; i < flight->workers; i++)
		flight_ring_free(flight->rings[i]);
	flight_losses_free(&flight->losses);
	pthread_mutex_destroy(&flight->lock);
	free(flight->rings);
	free(flight->views);
	free(flight);
}

static simtime earliest(const struct flight *flight)
{
	simtime from_ns = SIMTIME_NEVER;

	for (uint32_t i = 0; i < flight->workers; i++) {
		if (flight->rings[i]->first)
			from_ns = simtime_min(from_ns, flight->rings[i]->first->t_ns);
	}
	return from_ns;
}

/* Removes everything, because a loss may be missing, of a packet of any engine: without it, the
 * repetition would send that packet. */
static void begin_anew(struct flight *flight)
{
	flight_losses_clear(&flight->losses);
	for (uint32_t i = 0; i < flight->workers; i++)
		drop_until(flight->rings[i], NULL);
}

void flight_put(struct flight *flight, uint32_t worker, const struct tape_entry *entry)
{
	bool whole = entry->kind != TAPE_GAP;

	pthread_mutex_lock(&flight->lock);
	if (entry->kind == TAPE_UNSENT)
		whole = flight_losses_put(&flight->losses, worker, entry, earliest(flight));
	else
		flight_ring_put(flight->rings[worker], entry);
	if (!whole)
		begin_anew(flight);
	pthread_mutex_unlock(&flight->lock);
}

static void account(const struct flight_view *view, struct recording_dump *dump)
{
	dump->from_ns =
	        dump->workers == 0 ? view->from_ns : simtime_min(dump->from_ns, view->from_ns);
	dump->to_ns = simtime_max(dump->to_ns, view->to_ns);
	dump->packets += view->packets;
	dump->bytes += view->bytes;
	dump->workers++;
}

int flight_views(struct flight *flight, struct recording_dump *dump)
{
	int rc = 0;

	*dump = (struct recording_dump){0};
	pthread_mutex_lock(&flight->lock);
	for (uint32_t i = 0; i < flight->workers && (rc == 0 || rc == -ENODATA); i++) {
		rc = flight_ring_view(flight->rings[i], &flight->views[i]);
		if (rc == 0)
			account(&flight->views[i], dump);
		else if (flight->rings[i]->met)
			dump->without++;
	}
	/* A worker without clouds has no entries. */
	if (rc == 0 || rc == -ENODATA)
		rc = dump->workers > 0 ? 0 : -ENODATA;
	if (rc == 0)
		rc = flight_losses_copy(&flight->losses, dump->from_ns, &flight->losses_view);
	pthread_mutex_unlock(&flight->lock);
	if (rc < 0)
		flight_views_release(flight);
	return rc;
}

void flight_views_release(struct flight *flight)
{
	pthread_mutex_lock(&flight->lock);
	for (uint32_t i = 0; i < flight->workers; i++)
		flight_view_release(flight->rings[i], &flight->views[i]);
	pthread_mutex_unlock(&flight->lock);
	flight_losses_free(&flight->losses_view);
}

/* Ends the part of a worker. It is unsettled, because the worker itself has not ended. */
static void put_end(struct block_writer *to, uint32_t worker, simtime t_ns)
{
	const struct tape_entry end = {
	        .bytes = sizeof(end), .kind = TAPE_END, .flags = TAPE_UNSETTLED, .t_ns = t_ns};

	recorded_put(to, worker, &end);
}

/* Writes a view. Skips all snapshots but the first: they serve flights that begin later. */
static void put_view(struct block_writer *to, uint32_t worker, const struct flight_view *view)
{
	const struct tape_entry *entry;
	struct flight_cursor cursor;
	bool begun = false;

	flight_cursor_begin(&cursor, view);
	while ((entry = flight_cursor_next(&cursor)) != NULL) {
		if (entry->kind == TAPE_SNAPSHOT && begun)
			continue;
		begun |= entry->kind == TAPE_SNAPSHOT && (entry->flags & TAPE_LAST);
		recorded_put(to, worker, entry);
	}
	if (view->n_chunks > 0)
		put_end(to, worker, view->to_ns);
}

static void put_losses(struct block_writer *to, const struct flight_losses *losses)
{
	for (uint64_t i = 0; i < losses->n; i++) {
		const struct tape_entry entry = flight_loss_entry(&losses->list[i]);

		recorded_put(to, losses->list[i].worker, &entry);
	}
}

int flight_write(const struct flight *flight, const struct scenario *scenario, uint32_t snap,
                 int fd)
{
	struct block_writer to = {0};
	int rc = block_writer_open(&to, fd, NULL);

	if (rc < 0)
		return rc;
	recorded_begin(&to, scenario, snap);
	for (uint32_t i = 0; i < flight->workers; i++)
		put_view(&to, i, &flight->views[i]);
	put_losses(&to, &flight->losses_view);
	rc = -block_writer_flush(&to);
	block_writer_close(&to);
	return rc;
}
