/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The latest of what one worker's engine has met, in memory: a ring that begins with a snapshot of
 * the engine (TAPE_SNAPSHOT), so that what is in it can be run again.
 *
 * A ring cannot simply reach back: random draws, Markov chains, averages of queues and buckets
 * remember without end. So the worker puts a snapshot on its tape from time to time, and the oldest
 * entries go when a later snapshot can take their place: the ring always begins with one. What goes
 * leaves its changes behind, each with the instant at which it was taken over: an engine that reads
 * a snapshot has to have made them.
 *
 * It keeps at least `keep_ns`, if that is given, and at most `bytes_max`. Behind a gap it begins
 * anew. Without a snapshot in time it is empty until one comes.
 *
 * Thread: flight_ring_put the writer's; the others any, with a lock of the owner's around all of
 * them. A view is its holder's, and needs none.
 */
#ifndef WEIR_FLIGHT_RING_H
#define WEIR_FLIGHT_RING_H

#include <stdbool.h>

#include "record/tape_entry.h"

struct flight_ring;

/* NULL: no memory. `keep_ns` 0: as much as there is room for. */
struct flight_ring *flight_ring_make(uint64_t bytes_max, simtime keep_ns);
void flight_ring_free(struct flight_ring *ring); /* NULL is allowed */
void flight_ring_put(struct flight_ring *ring, const struct tape_entry *entry);

/* A change that was taken over ahead of what the ring has. */
struct flight_change {
	uint64_t number;
	simtime t_ns;
};

struct flight_chunk;

/* What the ring has at one moment; it may go on meanwhile. */
struct flight_view {
	uint64_t n_changes;
	struct flight_change *changes;
	struct flight_chunk *first;
	uint64_t end; /* of the last chunk: bytes that count */
	simtime from_ns, to_ns;
	uint64_t packets, bytes;
	uint64_t n_chunks;
};

/* 0; -ENODATA: it has nothing, for want of a snapshot; -ESTALE: a change is missing, for good;
 * -ENOMEM. */
int flight_ring_view(struct flight_ring *ring, struct flight_view *view);
/* Whether something has come since it was made. */
bool flight_ring_has_met(const struct flight_ring *ring);
/* With the lock. */
void flight_view_release(struct flight_ring *ring, struct flight_view *view);
/* One after the other, from NULL on: the changes, then all that the ring has. NULL: the end. */
struct flight_cursor {
	const struct flight_view *view;
	uint64_t change, chunk, at;
	const struct flight_chunk *here;
	struct tape_entry of_change;
};
void flight_cursor_begin(struct flight_cursor *cursor, const struct flight_view *view);
const struct tape_entry *flight_cursor_next(struct flight_cursor *cursor);

#endif
