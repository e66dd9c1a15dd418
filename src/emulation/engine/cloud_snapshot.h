/* SPDX-License-Identifier: BSD-3-Clause */
/* What a cloud remembers and holds (engine_snapshot.h). Thread: the worker that owns it. */
#ifndef WEIR_CLOUD_SNAPSHOT_H
#define WEIR_CLOUD_SNAPSHOT_H

#include "engine/cloud.h"
#include "snapshot/snapshot.h"

/* At `now`, up to which it has been advanced. Its packets on the shared wheel are the engine's. */
void cloud_snapshot(struct cloud *cloud, simtime now, struct snapshot *snapshot);

#endif
