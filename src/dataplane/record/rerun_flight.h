/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a flight again. The engine of a worker, which has made the changes and met no packet, reads
 * the snapshot with which the flight begins. In place of a digest of each departure, a flight has
 * the number of departures at each port, and the sum of their due times.
 *
 * Thread: the rerun's.
 */
#ifndef WEIR_RERUN_FLIGHT_H
#define WEIR_RERUN_FLIGHT_H

#include "record/rerun_engine.h"

/* Takes a part of a snapshot; with the last part, the engine reads the snapshot. Later snapshots
 * are skipped. Returns 0, or -errno with problem if it cannot be read. */
int rerun_flight_begin(struct rerun_engine *rerun_engine, const struct recorded *recorded,
                       struct problem *problem);
/* Checks, before an entry that needs an engine with a snapshot, that there was one. Returns 0, or
 * -errno with problem. */
int rerun_flight_check(const struct rerun_engine *rerun_engine, const struct tape_entry *entry,
                       struct problem *problem);
/* Counts a packet that has left. */
static inline void rerun_flight_left(struct rerun_engine *rerun_engine, uint32_t port,
                                     simtime due_ns)
{
	rerun_engine->account.departed[port]++;
	rerun_engine->account.sums[port] += due_ns;
}
/* Compares departures with an entry TAPE_SUM. */
void rerun_flight_compare(struct rerun_engine *rerun_engine, const struct tape_entry *entry);

#endif
