/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a queue of a cloud calls its management (link/aqm.h): when a packet arrives, when the link
 * takes one, and when there is no room.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_AQM_H
#define WEIR_CLOUD_AQM_H

#include "link/aqm.h"

/* Presents a group of arriving packets to the management of the queue, which must accept groups.
 * Returns how many of them pass, from the first. The caller appends these packets. It then admits
 * the packet behind them, if there is one, with this verdict (aqm_admit). */
uint16_t aqm_arrive_group(struct cloud *cloud, struct queue *queue, const struct aqm_group *group,
                          struct aqm_verdict *verdict);

/* A packet that arrives at the queue. */
struct aqm_arrival {
	simtime now;
	uint32_t wire_bytes;
	/* from aqm_arrive_group; NULL: the management has not been called */
	const struct aqm_verdict *verdict;
	bool marked;        /* out: it was marked */
	enum reason reason; /* out: why it would have been dropped */
	/* Out: the log to append it to. If that is a band, aqm_entered() is called afterwards. */
	struct log *log;
};
/* Presents packet i of the burst to the management, checks whether there is room, and marks the
 * packet if that is the verdict. Returns false if it was dropped, and counted. */
bool aqm_admit(struct cloud *cloud, struct queue *queue, struct burst *burst, uint16_t i,
               struct aqm_arrival *arrival);
/* Presents the head to the management until one passes or none is left. To be called only while the
 * head waits. */
void aqm_take(struct cloud *cloud, struct queue *queue, simtime now);
/* Makes room for a packet of this length on the wire in a queue with `drop head`. Returns false if
 * that is impossible. */
bool aqm_push_out(struct cloud *cloud, struct queue *queue, uint32_t wire_bytes, simtime now);
/* Replaces the management of the queue; returns the previous one. `now` as in
 * aqm_take_over. */
struct aqm *aqm_exchange(struct queue *queue, struct aqm *aqm, simtime now);
/* Calls idle() of the managements of all queues, which are empty, at `now`: the template comes into
 * force. begin() has been called when they were installed (setting_install). */
void aqm_idle_all(struct cloud *cloud, simtime now);

/* Returns the bytes that wait before the link, including those of its other classes. For arrive()
 * and depart(). */
uint64_t aqm_link_waiting(const struct aqm *aqm, const struct aqm_view *view);
/* Returns whether a held packet can be marked. For depart(). */
enum marking aqm_look(const struct aqm *aqm, struct held *held);

#endif
