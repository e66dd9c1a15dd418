/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link of a cloud in operation: packets arrive, wait in its queues as the managements and the
 * scheduler decide, and leave it onto the line. What engine*.c calls is in cloud.h.
 *
 * A packet passes the link, or waits. One passes that conforms, or that has left the idle link
 * before the next one of its burst arrives; such packets enter the line together. Every other one
 * is held in the queue (hold.h: a small frame is copied, a large one stays in its mbuf), and moved
 * to the line when it departs.
 *
 * Packets of a burst that arrive at one instant pass or wait together, as far as they have one fate
 * and nobody needs them one by one. The next packet meets the link alone if it has another fate: if
 * there is no room for it in the queue, or in the chunk that the log writes, if it stays in its
 * mbuf, or if the management marks or drops it.
 *
 * A *run* (cloud_serve.c): heads that leave a plain link one after the other, with no event in
 * between. They go from the queue onto the line together, or, in a shared cloud whose line has no
 * effect, straight into the outlet (cloud_run_link). The outcome is that of single packets.
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

/* ---- between cloud_link.c and cloud_serve.c ---- */

/* Lets the idle link take its next head, if there is one. */
void cloud_take_head(struct cloud *cloud, simtime now);

#endif
