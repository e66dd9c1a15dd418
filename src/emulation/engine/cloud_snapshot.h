/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a cloud in a snapshot (engine_snapshot.h). Thread: the worker that owns it. */
#ifndef WEIR_CLOUD_SNAPSHOT_H
#define WEIR_CLOUD_SNAPSHOT_H

#include "engine/cloud.h"
#include "snapshot/snapshot.h"

/* Writes or reads all that a cloud remembers and holds at `now`, up to which it has been advanced.
 * The engine handles its packets on the shared wheel. */
void cloud_snapshot(struct cloud *cloud, simtime now, struct snapshot *snapshot);

#endif
