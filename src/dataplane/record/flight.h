/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flight: the latest entries of the tapes of all workers, kept in memory (flight_ring.h,
 * flight_losses.h), and written to disk when something has happened.
 *
 * Thread: flight_put: the writer. flight_views and flight_write: any, one at a time, while the
 * writer continues.
 */
#ifndef WEIR_FLIGHT_H
#define WEIR_FLIGHT_H

#include "record/flight_ring.h"
#include "record/recording.h"

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
