/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of an engine at an instant (snapshot.h): all that its clouds remember and hold.
 *
 * What control has made is not in it: the other engine has had the same changes, at the same
 * instants, and no packet. Nor is what only reports have: histograms of delays begin anew.
 *
 * Thread: the worker's.
 */
#ifndef WEIR_ENGINE_SNAPSHOT_H
#define WEIR_ENGINE_SNAPSHOT_H

#include "engine/engine.h"
#include "snapshot/snapshot.h"

/* Why there can be none at this instant; it passes by itself. NULL: there can. */
const char *engine_snapshot_waits(const struct engine *engine);

/* At `now`, up to which the engine has just advanced; its outlets are empty, and
 * engine_snapshot_waits has nothing to say. When it is read: into an engine that has advanced to
 * `now`, too, and has seen no packet. `snapshot->failed`: there was no room; or it is none of an
 * engine with this scenario, or there was no memory, and the engine can only be freed. */
void engine_snapshot(struct engine *engine, simtime now, struct snapshot *snapshot);

#endif
