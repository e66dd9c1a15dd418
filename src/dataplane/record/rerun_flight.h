/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flight that is run again: the engine of a worker, which has made the changes and met no packet,
 * reads the snapshot that the flight begins with. In place of a digest of each packet that left, a
 * flight has, at each port, how many did and the sum of their due times.
 *
 * Thread: the rerun's.
 */
#ifndef WEIR_RERUN_FLIGHT_H
#define WEIR_RERUN_FLIGHT_H

#include "record/rerun_engine.h"

/* A part of a snapshot; with the last one the engine reads it. Another one later is passed over. 0,
 * or -errno with problem: it cannot be read. */
int rerun_flight_begin(struct rerun_engine *rerun_engine, const struct recorded *recorded,
                       struct problem *problem);
/* Of a flight, ahead of an entry that only an engine with a snapshot can meet: 0, or -errno with
 * problem: there was none. */
int rerun_flight_check(const struct rerun_engine *rerun_engine, const struct tape_entry *entry,
                       struct problem *problem);
/* A packet has left. */
static inline void rerun_flight_left(struct rerun_engine *rerun_engine, uint32_t port,
                                     simtime due_ns)
{
	rerun_engine->account.departed[port]++;
	rerun_engine->account.sums[port] += due_ns;
}
/* With an entry TAPE_SUM. */
void rerun_flight_compare(struct rerun_engine *rerun_engine, const struct tape_entry *entry);

#endif
