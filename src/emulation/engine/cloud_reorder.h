/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reordering in operation: how packets enter the line of a cloud that has a rule (reorder.h), and
 * how some of them are held back there.
 *
 * Packets that are held back lie in a log of their own, oldest first, each with a note in a log
 * beside it; they count as held on the line. Such a packet moves on, to the line's log or wheel,
 * when the packets that it waits for have entered, or at `back_deadline` of the line, which is an
 * event of the cloud like the departure from its link. All this happens at instants of packets and
 * deadlines, one packet after the other, so it does not depend on bursts.
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

/* Lets n packets, beginning with `from`, enter the line of their cloud when they arrive. Takes
 * ownership of all. */
void reorder_enter(struct cloud *cloud, struct burst *burst, uint16_t from, uint16_t n);
/* Lets the packet at the head of the link enter the line at `now`. */
void reorder_enter_held(struct cloud *cloud, const struct held *held, simtime now);
/* Releases the oldest packet that is held back, at its deadline. */
void reorder_expire(struct cloud *cloud);
/* Releases all packets that are held back, at `now`. */
void reorder_flush(struct cloud *cloud, simtime now);

#endif
