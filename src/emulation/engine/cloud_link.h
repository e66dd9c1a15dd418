/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cloud's link at work: packets meet it, wait in its queues as the managements and the scheduler
 * say, and leave it into the line. What of it is for others is in cloud.h.
 *
 * Two ways through, with the same outcome:
 *   passing    a packet that conforms, or has left the idle link when the next of its burst comes:
 *              it goes into the line with the others of its burst that do
 *   waiting    everything else: held in the queue (hold.h: a small frame is copied, a large one
 *              stays in its mbuf), and moved to the line when it departs
 * Those of a burst that pass, or wait, at one instant do so as a group where they can
 * (cloud_group.h), and heads that depart one after the other do so in a run where they can
 * (cloud_run.h).
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_LINK_H
#define WEIR_CLOUD_LINK_H

#include "engine/cloud.h"

/* Packets that have passed the stages; takes them all. The link is in use. */
void cloud_meet_link(struct cloud *cloud, struct burst *burst);

/* cloud.c's: n packets, from `from` on, enter the line at these instants; NULL: when they came.
 * Takes them all. */
void cloud_enter_line(struct cloud *cloud, struct burst *burst, uint16_t from, uint16_t n,
                      const simtime *enters_ns);

#endif
