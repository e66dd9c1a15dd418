/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts on their way onto a wheel, and off it.
 *
 * Packets of a burst differ in their due times, and in hardly anything else: their mbufs come from
 * one pool and look alike, their stays are of one class of the store, so that their records lie one
 * behind the other. What that decides is decided once for a run of such packets; of each one only
 * its frame is copied, and its key written. A packet that breaks the run goes alone, or begins the
 * next.
 *
 * Thread: the worker that owns the engine.
 */
#ifndef WEIR_WHEEL_BURST_H
#define WEIR_WHEEL_BURST_H

#include "holding/hold.h"
#include "holding/wheel.h"
#include "packet/burst.h"
#include "packet/outlet.h"

/* Takes n packets, from `from` on, of that cloud, in order, each due at its instant (wheel_append).
 * `cells`: those that are alike may lie in cells (store.h): the wheel is this cloud's alone.
 * Returns how many there was memory for: the first ones. */
uint16_t wheel_burst_push(struct wheel *wheel, struct holder *holder, uint32_t cloud,
                          const struct burst *burst, uint16_t from, uint16_t n,
                          const simtime *due_ns, bool cells);

/* Packets that are due at `now` or before, in order, into the outlet, as far as it has room and
 * there are mbufs. Returns their lengths together. */
uint64_t wheel_burst_pop(struct wheel *wheel, struct holder *holder, simtime now,
                         struct outlet *outlet);

#endif
