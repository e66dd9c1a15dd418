/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The latest entries of one worker's tape, in memory: a ring that begins with a snapshot of the
 * engine (TAPE_SNAPSHOT), so that its contents can be run again.
 *
 * A ring of entries alone cannot reach back far enough: random draws, Markov chains, averages of
 * queues and buckets depend on everything before. So the worker puts a snapshot on its tape from
 * time to time. The oldest entries are removed when a later snapshot can replace them: the ring
 * always begins with a snapshot. Changes in removed entries are noted, each with the instant at
 * which it was taken over, because an engine that reads a snapshot has to have made them.
 *
 * The ring covers at least `keep_ns`, if that is given, and takes at most `bytes_max`. Behind a gap
 * it begins anew. If no snapshot comes in time, it is empty until one comes.
 *
 * Thread: flight_ring_put: the writer. The other functions: any, with a lock of the owner's around
 * all of them. A view belongs to its holder, and needs no lock.
 */
#ifndef WEIR_FLIGHT_RING_H
#define WEIR_FLIGHT_RING_H

#include <stdbool.h>

#include "record/tape_entry.h"

struct flight_ring;

/* Returns NULL if there is no memory. `keep_ns` 0: as far back as there is room. */
struct flight_ring *flight_ring_make(uint64_t bytes_max, simtime keep_ns);
void flight_ring_free(struct flight_ring *ring); /* NULL is allowed */
/* The entry is none of TAPE_UNSENT. */
void flight_ring_put(struct flight_ring *ring, const struct tape_entry *entry);
/* Removes all entries. The ring begins anew with the next snapshot. */
void flight_ring_clear(struct flight_ring *ring);
/* Returns the instant of the snapshot with which the ring begins, or will begin, if it is still
 * incomplete; SIMTIME_NEVER if the ring is empty. */
simtime flight_ring_begin_ns(const struct flight_ring *ring);

/* A change that was taken over before the entries in the ring. */
struct flight_change {
	uint64_t number;
	simtime t_ns;
};

struct flight_chunk;

/* What the ring contains at one moment. The ring may continue meanwhile. */
struct flight_view {
	uint64_t n_changes;
	struct flight_change *changes;
	struct flight_chunk *first;
	uint64_t end; /* bytes of the last chunk that belong to the view */
	simtime from_ns, to_ns;
	uint64_t packets, bytes;
	uint64_t n_chunks;
};

/* Returns 0; -ENODATA if the ring is empty because it has no snapshot; -ESTALE if a change is
 * missing, which is permanent; or -ENOMEM. */
int flight_ring_view(struct flight_ring *ring, struct flight_view *view);
/* Returns true if an entry other than a gap has arrived since the ring was made. */
bool flight_ring_has_met(const struct flight_ring *ring);
/* With the lock held. */
void flight_view_release(struct flight_ring *ring, struct flight_view *view);
/* Iterates over a view: first the changes, then all entries. flight_cursor_next returns NULL at the
 * end. */
struct flight_cursor {
	const struct flight_view *view;
	uint64_t change, chunk, at;
	const struct flight_chunk *here;
	struct tape_entry of_change;
};
void flight_cursor_begin(struct flight_cursor *cursor, const struct flight_view *view);
const struct tape_entry *flight_cursor_next(struct flight_cursor *cursor);

#endif
