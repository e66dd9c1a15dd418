/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flight: the latest entries of the tapes of all workers, kept in memory, and written to disk
 * when something has happened. It has a ring for each worker, and one list of real losses.
 *
 * Thread: flight_put: the writer. flight_views and flight_write: any, one at a time, while the
 * writer continues.
 */
#ifndef WEIR_FLIGHT_H
#define WEIR_FLIGHT_H

#include <stdbool.h>

#include "record/recording.h"
#include "record/tape_entry.h"

/*
 * The real losses of a flight (TAPE_UNSENT), of all workers.
 *
 * They are not in the rings. A ring begins with a snapshot of its worker's engine, but the worker
 * that sends a packet need not be the one whose engine the packet has left: in a pipeline it has no
 * engine. So these losses reach back to the earliest snapshot of any ring.
 *
 * Thread: as that of a ring, below.
 */
struct flight_loss {
	simtime due_ns;
	uint32_t bytes, digest; /* on the wire; digest_departure() */
	uint16_t port, worker;
};

struct flight_losses {
	struct flight_loss *list;
	uint64_t n, room, most; /* entries */
	simtime latest_ns;      /* the latest due time */
};

/* Sets up an empty list that takes at most `bytes_max`. */
void flight_losses_make(struct flight_losses *losses, uint64_t bytes_max);
void flight_losses_free(struct flight_losses *losses);
/* Adds a loss. If the list is full, it first removes packets that were due at `from_ns` or earlier,
 * but not those of the last second: the tape of the engine may be behind. Returns false if that
 * makes too little room: then the list is incomplete. */
bool flight_losses_put(struct flight_losses *losses, uint32_t worker,
                       const struct tape_entry *entry, simtime from_ns);
void flight_losses_clear(struct flight_losses *losses);
/* Copies the losses of packets that were due after `from_ns`. Returns 0 or -ENOMEM. Ownership:
 * flight_losses_free frees the copy. */
int flight_losses_copy(const struct flight_losses *losses, simtime from_ns,
                       struct flight_losses *copy);
/* Returns a loss as the entry that was put. Its `t_ns` is 0: the order of losses among other
 * entries has no meaning. */
struct tape_entry flight_loss_entry(const struct flight_loss *loss);

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

struct flight_ring;

/* Returns NULL if there is no memory. `keep_ns` 0: as far back as there is room. */
struct flight_ring *flight_ring_make(uint64_t bytes_max, simtime keep_ns);
void flight_ring_free(struct flight_ring *ring); /* NULL is allowed */
/* The entry is none of TAPE_UNSENT. */
void flight_ring_put(struct flight_ring *ring, const struct tape_entry *entry);

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

struct flight;

/* Returns NULL if there is no memory. `bytes_max` and `keep_ns` apply to the ring of each
 * worker. */
struct flight *flight_make(uint32_t workers, uint64_t bytes_max, simtime keep_ns);
void flight_free(struct flight *flight); /* NULL is allowed */
void flight_put(struct flight *flight, uint32_t worker, const struct tape_entry *entry);
/* Fixes what the rings contain at this moment, until flight_views_release, and describes it in
 * `dump`. Returns 0; -ENODATA if there is nothing yet; -ESTALE as flight_ring_view; or -ENOMEM. */
int flight_views(struct flight *flight, struct recording_dump *dump);
void flight_views_release(struct flight *flight);
/* Writes the fixed contents as the file of a recording (recorded_file.h). Ownership: the descriptor
 * stays the caller's. Returns 0 or -errno. */
int flight_write(const struct flight *flight, const struct scenario *scenario, uint32_t snap,
                 int fd);

#endif
