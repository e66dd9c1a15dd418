/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a cloud tells its witness (account/witness.h). Of each thing that happens to a packet one
 * place tells.
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

/* Packet i of a burst; `fate` has its kind, what goes with that, and further flags. */
void cloud_tell(const struct cloud *cloud, const struct burst *burst, uint32_t i, struct fate fate);
/* The same of one in a record, at `now`; t_ns of the record: when it came to the cloud. */
void cloud_tell_held(const struct cloud *cloud, const struct held *held, simtime now,
                     struct fate fate);
/* A packet that could not even be made. */
void cloud_tell_unmade(const struct cloud *cloud, simtime now, uint64_t number);

static inline struct fate fate_dropped(enum reason reason)
{
	return (struct fate){.kind = FATE_DROPPED, .reason = reason};
}

static inline struct fate fate_delivered(simtime due)
{
	return (struct fate){.kind = FATE_DELIVERED, .t_out_ns = due};
}

/* A burst passes the stages: tells that it has come, and what each stage has let through. */
void cloud_tell_stages(struct cloud *cloud, struct burst *burst);

/* The kind is told. It leaves in that mbuf, whose struct packet says its name from then on: if it
 * lies in an outlet, outlet_name() is the caller's. */
void cloud_tell_left(const struct cloud *cloud, struct rte_mbuf *mbuf, const struct held *head,
                     simtime now);

/* The cloud is about to be cleared: what it holds is removed, and told with the instant at which it
 * came into the queue, or is due on the line: what time it is nobody says. Some of it is dropped
 * here. */
void cloud_tell_removed(struct cloud *cloud);

#endif
