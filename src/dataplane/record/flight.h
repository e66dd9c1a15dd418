/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flight: the latest of what the engines of all workers have met, in memory (flight_ring.h), to
 * be written down when something has happened.
 *
 * Thread: flight_put the writer's; flight_views and flight_write any, one at a time, while the
 * writer goes on.
 */
#ifndef WEIR_FLIGHT_H
#define WEIR_FLIGHT_H

#include "record/flight_ring.h"
#include "record/recording.h"

struct flight;

/* `bytes_max` and `keep_ns` of each worker. NULL: no memory. */
struct flight *flight_make(uint32_t workers, uint64_t bytes_max, simtime keep_ns);
void flight_free(struct flight *flight); /* NULL is allowed */
void flight_put(struct flight *flight, uint32_t worker, const struct tape_entry *entry);
/* What the rings have at this moment, until flight_views_release. 0; -ENODATA: nothing yet;
 * -ESTALE, as flight_ring_view; -ENOMEM. `dump` says what it is. */
int flight_views(struct flight *flight, struct recording_dump *dump);
void flight_views_release(struct flight *flight);
/* The file of a recording (recorded_file.h) with that, to this descriptor, which stays the
 * caller's. 0 or -errno. */
int flight_write(const struct flight *flight, const struct scenario *scenario, uint32_t snap,
                 int fd);

#endif
