/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Held packets in a snapshot (snapshot.h): each with its instant, length, flags, number and frame,
 * or the beginning of the frame. Packets in a record, a cell or an mbuf are written alike.
 * A packet that is read is put where an arriving packet would be.
 *
 * Errors: if what is read is not valid, or there is no memory for it, snapshot->failed is set.
 * Thread: the worker that owns the holder.
 */
#ifndef WEIR_HOLD_SNAPSHOT_H
#define WEIR_HOLD_SNAPSHOT_H

#include "holding/hold.h"
#include "holding/wheel.h"
#include "snapshot/snapshot.h"

/* The clouds of the packets on a wheel, by the index that they had when the snapshot was
 * written. */
struct snapshot_clouds {
	uint32_t n;
	const uint32_t *index; /* their present indices; UINT32_MAX: the cloud is gone */
};

/* Writes or reads a log of packets. `in_order`: their instants do not decrease. */
void log_snapshot(struct log *log, struct holder *holder, bool in_order, struct snapshot *snapshot);
/* The same for a log whose records are not packets: integers without gaps. */
void notes_snapshot(struct log *log, struct holder *holder, struct snapshot *snapshot);
/* The same for a wheel. A wheel that is read into must be empty, and is advanced to `now`. `clouds`
 * is NULL for a wheel that a line has to itself; then all packets belong to `cloud`. */
void wheel_snapshot(struct wheel *wheel, struct holder *holder, uint32_t cloud, simtime now,
                    const struct snapshot_clouds *clouds, struct snapshot *snapshot);

#endif
