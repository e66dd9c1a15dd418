/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From one scenario of an engine to the next, in two halves: control prepares, and the worker puts
 * in force.
 */
#ifndef WEIR_CHANGE_H
#define WEIR_CHANGE_H

#include "engine/engine.h"

struct change;

/* Control: everything that must be allocated, read or computed so that the engine can go from its
 * present scenario to `next`, without touching the running engine. `owned` says, for each port of
 * the scenario, whether clouds from it belong to this engine (NULL: all). One change at a time.
 * 0, -ENOMEM, or -EINVAL with `problem`. */
int change_prepare(struct engine *engine, const struct scenario *next, const bool *owned,
                   struct change **change, struct problem *problem);
/* Whether it takes clouds away, and with them what they have counted: those that are not in the
 * next scenario, and those that are others there, though of the same name. */
bool change_removes(const struct change *change);
/* Worker, between bursts: takes the change over at an instant; cannot fail, keeps every packet in
 * flight. */
void engine_apply(struct engine *engine, struct change *change, simtime now);
/* Control: frees what the change has replaced, or, if it was never applied, what it had prepared.
 */
void change_free(struct change *change);

#endif
