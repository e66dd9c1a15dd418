/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pushes bursts onto a wheel, and pops them from it.
 *
 * Packets of a burst differ in their due times, and in hardly anything else: their mbufs come from
 * one pool and look alike, and their stays are of one class of the store, so their records lie one
 * behind the other. What follows from this is decided once for a run of such packets; for each
 * packet only its frame is copied, and its key written. A packet that breaks the run is pushed
 * alone, or begins the next run.
 *
 * Thread: the worker that owns the engine.
 */
#ifndef WEIR_WHEEL_BURST_H
#define WEIR_WHEEL_BURST_H

#include "holding/hold.h"
#include "holding/wheel.h"
#include "packet/burst.h"
#include "packet/outlet.h"

/* Pushes n packets of that cloud, from `from` on, in order, each with its own due time
 * (wheel_append). `cells`: packets that are alike may take cells (store.h): the wheel is this
 * cloud's alone. Returns how many found memory, from the first on. */
uint16_t wheel_burst_push(struct wheel *wheel, struct holder *holder, uint32_t cloud,
                          const struct burst *burst, uint16_t from, uint16_t n,
                          const simtime *due_ns, bool cells);

/* Moves up to `most` packets that are due by `now`, in order, into the outlet, as far as it has
 * room; returns the sum of their lengths. If the pool has no mbufs, the rest stays. */
uint64_t wheel_burst_pop(struct wheel *wheel, struct holder *holder, simtime now,
                         struct outlet *outlet, uint32_t most);

/* Drops all packets; returns their number. `wheel` may be NULL. */
uint64_t wheel_burst_drop(struct wheel *wheel, struct holder *holder);

#endif
