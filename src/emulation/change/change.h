/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes an engine from one scenario to the next, in two halves: control prepares a change, and the
 * worker puts it in force.
 */
#ifndef WEIR_CHANGE_H
#define WEIR_CHANGE_H

#include "engine/engine.h"

struct change;

/* Allocates, reads and computes everything that the engine needs to go from its present scenario to
 * `next`, without touching the running engine. `owned[port]` tells whether clouds from this port of
 * the scenario belong to this engine (NULL: all do). One change at a time. Returns 0, -ENOMEM, or
 * -EINVAL with `problem`. Thread: control. */
int change_prepare(struct engine *engine, const struct scenario *next, const bool *owned,
                   struct change **change, struct problem *problem);
/* Returns true if the change removes clouds, and their counts with them: clouds that the next
 * scenario lacks, and clouds that it replaces by others of the same name. */
bool change_removes(const struct change *change);
/* Returns true if the engine's present cloud of this name stays: the change neither removes it, nor
 * replaces it by another of the same name. */
bool change_keeps(const struct change *change, const char *name);
/* Puts the change in force at `now`, between bursts. Cannot fail, and keeps every packet in flight.
 * Thread: worker. */
void engine_apply(struct engine *engine, struct change *change, simtime now);
/* Does all of it, where one thread is control and worker: prepares the change, puts it in force at
 * `now`, and frees it. Returns what change_prepare returns. */
int change_at_once(struct engine *engine, const struct scenario *next, const bool *owned,
                   simtime now, struct problem *problem);
/* Frees what the change has replaced, or, if it was never applied, what it had prepared.
 * Thread: control. */
void change_free(struct change *change);

#endif
