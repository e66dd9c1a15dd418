/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of a cloud to its witness (account/witness.h). Each event of a packet is reported at
 * exactly one place.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CLOUD_TELL_H
#define WEIR_CLOUD_TELL_H

#include "engine/cloud.h"

/* Returns true if there is a witness that gets this kind of fate. */
static inline bool cloud_tells(const struct cloud *cloud, enum fate_kind kind)
{
	return unlikely(cloud->witness != NULL) && (cloud->witness->way & (1u << kind));
}

/* ---- the functions below require a witness ---- */

/* Reports packet i of a burst. `fate` has its kind, the fields of that kind, and additional
 * flags. */
void cloud_tell(const struct cloud *cloud, const struct burst *burst, uint32_t i, struct fate fate);
/* Does the same for a packet in a record, at `now`; t_ns of the record is its arrival at the
 * cloud. */
void cloud_tell_held(const struct cloud *cloud, const struct held *held, simtime now,
                     struct fate fate);
/* Reports a packet without a frame as dropped, because there was no mbuf: one that was to be
 * generated, or to leave the line. */
void cloud_tell_lost(const struct cloud *cloud, simtime now, uint64_t number, uint32_t wire_bytes,
                     uint8_t flags);

static inline struct fate fate_dropped(enum reason reason)
{
	return (struct fate){.kind = FATE_DROPPED, .reason = reason};
}

static inline struct fate fate_delivered(simtime due, simtime entered_ns)
{
	return (struct fate){.kind = FATE_DELIVERED, .t_out_ns = due, .entered_ns = entered_ns};
}

/* Takes a burst through the stages; reports its arrival, and what each stage has let through. */
void cloud_tell_stages(struct cloud *cloud, struct burst *burst);

/* Reports a packet that leaves in this mbuf, and writes its name into the mbuf's struct packet.
 * Requires cloud_tells(cloud, FATE_LEFT). If the mbuf lies in an outlet, the caller calls
 * outlet_name(). */
void cloud_tell_left(const struct cloud *cloud, struct rte_mbuf *mbuf, const struct held *head,
                     simtime now);

/* Reports all packets of a cloud that is about to be cleared as removed. Each is reported with the
 * instant at which it entered the queue, or is due on the line, since the present time is not known
 * here. Drops the packets on the line. */
void cloud_tell_removed(struct cloud *cloud);

#endif
