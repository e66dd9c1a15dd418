/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reordering at work: how packets enter the line of a cloud that has a rule (reorder.h), and those
 * that are held back there.
 *
 * What is held back lies in a log of its own, oldest first, with a note beside it; it counts as
 * held on the line. It moves on, to the line's log or wheel, when the packets it waits for have
 * entered, or at `deadline`, which is an event of the cloud like the departure from its link. All
 * that happens here happens at instants of packets and deadlines, one packet after the other, so it
 * does not depend on bursts.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_REORDER_H
#define WEIR_CLOUD_REORDER_H

#include <stdint.h>

#include "simtime.h"

struct burst;
struct cloud;
struct held;

/* n packets, from `from` on, enter the line of their cloud when they come. Takes them all. */
void reorder_enter(struct cloud *cloud, struct burst *burst, uint16_t from, uint16_t n);
/* The packet at the head of its link does, at `now`. */
void reorder_enter_held(struct cloud *cloud, const struct held *held, simtime now);
/* Time is up for the oldest, at its deadline. */
void reorder_expire(struct cloud *cloud);
/* All that is held back goes, at `now`. */
void reorder_flush(struct cloud *cloud, simtime now);

#endif
