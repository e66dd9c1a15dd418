/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of a cloud asks its management (link/aqm.h): when a packet comes, when the link takes
 * one, and when there is no room.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_AQM_H
#define WEIR_CLOUD_AQM_H

#include "link/aqm.h"

/* How many packets of the group come to the queue and pass, from the first; no management: all.
 * They are the caller's to append; then the one behind them, if there is one, comes with this
 * verdict (aqm_admit). Only to one that takes groups. */
uint16_t aqm_arrive(struct cloud *cloud, struct queue *queue, const struct aqm_group *group,
                    struct aqm_verdict *verdict);

/* A packet that comes to the queue. */
struct aqm_arrival {
	simtime now;
	uint32_t wire_bytes;
	/* that it has from aqm_arrive; NULL: it has to be asked for */
	const struct aqm_verdict *verdict;
	bool marked;        /* out: it was */
	enum reason reason; /* out: for which it would have been dropped */
	/* Out: to which it is to be appended, if that is a band; then the management is told by
	 * aqm_entered(). */
	struct log *log;
};
/* Asks about it, packet i of the burst, looks whether there is room, and marks. False: it was
 * dropped, and counted. */
bool aqm_admit(struct cloud *cloud, struct queue *queue, struct burst *burst, uint16_t i,
               struct aqm_arrival *arrival);
/* Asks about the head until one passes or none is left; the head waits. Only then. */
void aqm_take(struct cloud *cloud, struct queue *queue, simtime now);
/* `drop head`: makes room for a packet of this length on the wire, if that can be. */
bool aqm_push_out(struct cloud *cloud, struct queue *queue, uint32_t wire_bytes, simtime now);
/* In the place of the one that is there; returns that one. */
struct aqm *aqm_exchange(struct queue *queue, struct aqm *aqm, simtime now);

/* For arrive() and depart(): the bytes that wait before the link, those of its other classes
 * too. */
uint64_t aqm_link_waiting(const struct aqm *aqm, const struct aqm_view *view);
/* For depart(): whether what is held can be marked. */
enum marking aqm_look(const struct aqm *aqm, struct held *held);

#endif
