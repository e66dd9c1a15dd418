/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of an engine at an instant (snapshot.h): all that its clouds remember and hold.
 *
 * It excludes what control has made: the other engine has had the same changes, at the same
 * instants, and no packet. It also excludes what only reports use: histograms of delays begin anew.
 *
 * Thread: the worker's.
 */
#ifndef WEIR_ENGINE_SNAPSHOT_H
#define WEIR_ENGINE_SNAPSHOT_H

#include "engine/engine.h"
#include "snapshot/snapshot.h"

/* Returns the reason why there can be no snapshot at this instant; it passes by itself. Returns
 * NULL if there can be one. */
const char *engine_snapshot_waits(const struct engine *engine);

/* Writes or reads a snapshot at `now`, up to which the engine has just advanced. The engine's
 * outlets are empty, and engine_snapshot_waits returns NULL. A snapshot is read into an engine that
 * has advanced to `now`, too, and has seen no packet. Sets `snapshot->failed` if there was no room
 * to write; or, when reading, if the snapshot does not fit this scenario or there was no memory:
 * then the engine can only be freed. */
void engine_snapshot(struct engine *engine, simtime now, struct snapshot *snapshot);

#endif
