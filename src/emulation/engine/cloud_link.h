/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link of a cloud in operation: packets arrive, wait in its queues as the managements and the
 * scheduler decide, and leave it onto the line. What engine*.c calls is in cloud.h.
 *
 * Two paths, with the same outcome:
 *   passing    a packet that conforms, or that has left the idle link before the next one of its
 *              burst arrives; such packets enter the line together
 *   waiting    every other packet: held in the queue (hold.h: a small frame is copied, a large one
 *              stays in its mbuf), and moved to the line when it departs
 *
 * A *group* (cloud_group.c): packets of a burst that arrive at one instant, and meet the link
 * together. Either all of them wait behind the head, or all of them conform to an idle token
 * bucket; and the management passes each. The checks that are otherwise made for each packet are
 * then made once. A group ends before the first packet that may have another fate: one without room
 * in the queue, or in the chunk that the log writes, one that stays in its mbuf, one that the
 * management marks or drops. That packet meets the link by itself.
 *
 * A *run* (cloud_serve.c): heads that leave a plain link one after the other, with no event in
 * between. They go from the queue onto the line together, or, in a shared cloud whose line has no
 * effect, straight into the outlet (cloud_run_link). Groups and runs have the same outcome as
 * single packets.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_LINK_H
#define WEIR_CLOUD_LINK_H

#include "engine/cloud.h"
#include "link/aqm.h"

/* Hands packets that have passed the stages to the link, which is in use. Takes ownership of
 * all. */
void cloud_meet_link(struct cloud *cloud, struct burst *burst);

/* Puts n packets, beginning with `from`, onto the line at these instants; NULL: when they arrived.
 * Takes ownership of all. In cloud.c. */
void cloud_enter_line(struct cloud *cloud, struct burst *burst, uint16_t from, uint16_t n,
                      const simtime *enters_ns);

/* ---- between cloud_link.c, cloud_group.c and cloud_serve.c ---- */

/* Appends a group of packets, beginning with `from`, to the queue. Returns their number. Sets
 * `decided` if the packet behind them has got this verdict from the management. */
uint16_t cloud_group_waits(struct cloud *cloud, struct burst *burst, uint16_t from,
                           struct aqm_verdict *verdict, bool *decided);
/* Lets a group of packets, beginning with `from`, pass the link at their instant; the caller puts
 * them onto the line. Returns their number. `verdict` and `decided` as above. */
uint16_t cloud_group_passes(struct cloud *cloud, struct burst *burst, uint16_t from,
                            struct aqm_verdict *verdict, bool *decided);

/* Lets the idle link take its next head, if there is one. */
void cloud_take_head(struct cloud *cloud, simtime now);

#endif
