/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Held packets in a snapshot (snapshot.h): each with its instant, its length, flags and number, and
 * its frame, or the beginning of it. Whatever holds them, a record, a cell, a train or an mbuf,
 * they are written alike; and when they are read, they are put where a packet that came in would
 * be.
 *
 * Errors: there is no memory for what is read, or it cannot be: snapshot->failed.
 * Thread: the worker that owns the holder.
 */
#ifndef WEIR_HOLD_SNAPSHOT_H
#define WEIR_HOLD_SNAPSHOT_H

#include "holding/hold.h"
#include "holding/wheel.h"
#include "snapshot/snapshot.h"

/* The clouds that packets of a wheel belong to, by the index that they had when it was written. */
struct snapshot_clouds {
	uint32_t n;
	const uint32_t *index; /* that they have now; UINT32_MAX: there is none */
};

/* A log of records that `cloud` holds. */
void log_snapshot(struct log *log, struct holder *holder, uint32_t cloud,
                  struct snapshot *snapshot);
/* A log whose records hold something else than packets: integers without gaps. */
void notes_snapshot(struct log *log, struct holder *holder, struct snapshot *snapshot);
/* A log of trains. */
void train_snapshot(struct log *log, struct holder *holder, struct snapshot *snapshot);
/* A wheel, which is empty before it is read, and is brought to `now`. `clouds`: NULL for one that a
 * line has to itself; then all are `cloud`'s. */
void wheel_snapshot(struct wheel *wheel, struct holder *holder, uint32_t cloud, simtime now,
                    const struct snapshot_clouds *clouds, struct snapshot *snapshot);

#endif
