/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cloud's link at work: packets meet it, wait in its queues as the managements and the scheduler
 * say, and leave it into the line. What of it is for others is in cloud.h.
 *
 * Three ways through, from cheap to dear, with the same outcome:
 *   together   those of a burst that conform to an idle token bucket, or find the link idle and
 *              have left it when the next of the burst comes, if nobody but the shaper has to know
 *              of them (link_is_open), go into the line together
 *   passing    one that conforms where a management or a watch wants to be told, or on a shared
 *              line
 *   waiting    everything else: copied into the queue, and from there into the line when it
 *              departs; or into the outlet, if it leaves the line at once, too, and comes next
 *              (cloud_run_link)
 * Those of a burst that pass, or wait, at one instant do so as a group where they can
 * (cloud_group.h), and heads that go into the outlet one after the other leave in a run
 * (cloud_run.h).
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_LINK_H
#define WEIR_CLOUD_LINK_H

#include "engine/cloud.h"

/* Packets that have passed the stages, t_ns in order; takes them all. The link is in use. */
void cloud_meet_link(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n);

/* cloud.c's: packets enter the line at these instants; NULL: at their t_ns. */
void cloud_enter_line(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n,
                      const simtime *enters_ns);

/* Whether bursts may do so without a look at their struct packet: cloud_passes_link. */
bool cloud_link_may_pass(const struct cloud *cloud);
/* Whether packets that come now, as long as that together, leave the link now: its bucket has the
 * tokens. They have gone through then. */
bool cloud_passes_link(struct cloud *cloud, uint64_t bytes, simtime now);

#endif
