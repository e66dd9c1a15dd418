/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cloud's link at work: packets meet it, wait in its queues as the managements and the scheduler
 * say, and leave it into the line. What of it is for others is in cloud.h.
 *
 * Two ways through, with the same outcome:
 *   passing    a packet that conforms, or that has left the idle link before the next of its burst
 *              comes; such packets enter the line together
 *   waiting    everything else: held in the queue (hold.h: a small frame is copied, a large one
 *              stays in its mbuf), and moved to the line when it departs
 *
 * A *group* (cloud_group.c): packets of a burst that come at one instant, and meet the link
 * together. All of them wait behind the head, or all of them conform to an idle token bucket; the
 * management lets each pass. What is asked for each packet otherwise is asked once then. A group
 * ends ahead of the first packet that may have another fate: one without room in the queue, or in
 * the chunk that the log writes, one that stays in its mbuf, one that the management marks or
 * drops. That one meets the link by itself.
 *
 * A *run* (cloud_run.c): heads that leave a plain link one after the other, with nothing between.
 * They go from the queue onto the line together, or, where the line is nothing, straight into the
 * outlet. The outcome of both is that of one by one.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_LINK_H
#define WEIR_CLOUD_LINK_H

#include "engine/cloud.h"
#include "link/aqm.h"

/* Packets that have passed the stages; takes them all. The link is in use. */
void cloud_meet_link(struct cloud *cloud, struct burst *burst);

/* cloud.c's: n packets, from `from` on, enter the line at these instants; NULL: when they came.
 * Takes them all. */
void cloud_enter_line(struct cloud *cloud, struct burst *burst, uint16_t from, uint16_t n,
                      const simtime *enters_ns);

/* ---- between the three files ---- */

/* How many packets of the burst, from `from` on, are in the queue now. `decided`: whether the one
 * behind them has this verdict of the management. */
uint16_t cloud_group_waits(struct cloud *cloud, struct burst *burst, uint16_t from,
                           struct aqm_verdict *verdict, bool *decided);
/* How many packets of the burst, from `from` on, have left the link at their instant, and are about
 * to enter the line. */
uint16_t cloud_group_passes(struct cloud *cloud, struct burst *burst, uint16_t from,
                            struct aqm_verdict *verdict, bool *decided);

struct outlet;

/* The heads that leave up to and at `until`; of a shared cloud as long as the shared wheel is known
 * to have nothing before, and as far as the outlet, if there is one, has room. More
 * heads may be due when it returns. If it returns false, none has left, and the next has to leave
 * alone. */
bool cloud_run_depart(struct cloud *cloud, simtime until, struct outlet *outlet);

#endif
