/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a cloud tells its witness (account/witness.h). There is one function for each thing that
 * happens to a packet, and one place that calls it.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_TELL_H
#define WEIR_CLOUD_TELL_H

#include "engine/cloud.h"

/* Whether there is a witness that is told of this. */
static inline bool cloud_tells(const struct cloud *cloud, enum fate_kind kind)
{
	return unlikely(cloud->witness != NULL) && (cloud->witness->way & (1u << kind));
}

/* ---- those below: there is a witness ---- */

/* Packet i of a burst, with more flags than the burst says. */
void cloud_tell_drop(const struct cloud *cloud, const struct burst *burst, uint32_t i,
                     uint8_t flags, enum reason reason);
void cloud_tell_drop_held(const struct cloud *cloud, const struct held *held, enum reason reason,
                          simtime now);
/* A packet that could not even be made. */
void cloud_tell_unmade(const struct cloud *cloud, simtime now, uint64_t number);
void cloud_tell_delivery(const struct cloud *cloud, const struct burst *burst, uint32_t i,
                         simtime due);
/* t_ns of the record: when it came to the cloud. */
void cloud_tell_delivery_held(const struct cloud *cloud, const struct held *held, simtime due);

/* A burst passes the stages: tells that it has come, and what each stage has let through. */
void cloud_tell_stages(struct cloud *cloud, struct burst *burst);

/* ---- those below: the kind is told (cloud_tells) ---- */

/* `marked`: for which reason; or NULL. */
void cloud_tell_queued(const struct cloud *cloud, const struct burst *burst, uint32_t i,
                       const enum reason *marked);
void cloud_tell_queued_held(const struct cloud *cloud, const struct held *held,
                            const enum reason *marked);
void cloud_tell_marked(const struct cloud *cloud, const struct burst *burst, uint32_t i,
                       enum reason reason);
void cloud_tell_marked_held(const struct cloud *cloud, const struct held *held, enum reason reason,
                            simtime now);
/* It leaves in that mbuf, whose struct packet says its name from then on: if it lies in an outlet,
 * outlet_name() is the caller's. */
void cloud_tell_left(const struct cloud *cloud, struct rte_mbuf *mbuf, const struct held *head,
                     simtime now);

/* The cloud is about to be cleared: what it holds is removed, and told with the instant at which it
 * came into the queue, or is due on the line: what time it is nobody says. Some of it is dropped
 * here. */
void cloud_tell_removed(struct cloud *cloud);

#endif
