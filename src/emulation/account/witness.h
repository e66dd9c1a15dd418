/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A witness gets reports of what becomes of packets. The log and the picture of a replay, a capture
 * and a trace are made from these reports, and from nothing else. Without a witness, reports cost
 * nothing.
 *
 * Every witness gets the fate of each packet when it is decided: a delivery at the moment when its
 * due time is fixed, which is before that time. A witness with a `way` also gets what happens on
 * the way there, when it happens, each event once:
 *
 *   FATE_ARRIVED    the packet arrives at the cloud, ahead of the first stage
 *   FATE_PASSED     a stage has let it pass
 *   FATE_QUEUED     it is let into the queue of the link, even if it need not wait there; it is
 *                   marked already if the management has marked it
 *   FATE_MARKED     it is marked as it leaves its queue, or by a stage
 *   FATE_LEFT       it leaves the cloud, at the port or into another cloud
 *   FATE_SENT       the device of its port has taken it. Only live, and only if the witness gets
 *                   FATE_LEFT, too: that gives the packet its name (port/tx_queue.h tells it)
 *
 * The name of a packet is its port and its number, in all of these reports, and in all clouds on
 * its way.
 *
 * If packets are handed to the engine one at a time, the order of the fates depends on nothing but
 * the input. Events of one instant are reported in the order in which they happen. Clouds that do
 * not interact are executed one after the other, so within one call of engine_advance, a later
 * event of one may be reported before an earlier event of another.
 *
 * Ownership: what a fate points to is valid until `tell` returns.
 * Thread: the worker's.
 */
#ifndef WEIR_WITNESS_H
#define WEIR_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "account/reason.h"
#include "simtime.h"

struct rte_mbuf;

#define FATE_NO_AVERAGE UINT64_MAX

enum fate_kind {
	FATE_DELIVERED,
	FATE_DROPPED,
	FATE_ARRIVED,
	FATE_PASSED,
	FATE_QUEUED,
	FATE_MARKED,
	FATE_LEFT,
	FATE_SENT,
	FATE_KINDS
};

/* The bytes of a packet, as they are at that moment. */
struct fate_frame {
	const uint8_t *data;
	uint32_t bytes;              /* of `data`; 0: the bytes are unknown */
	const struct rte_mbuf *more; /* its segments behind those bytes; or NULL */
};

struct fate {
	uint64_t packet;  /* ordinal at its ingress port, from 1; 0: no packet of that port */
	uint32_t port;    /* ingress port, index in the scenario */
	uint32_t to_port; /* where the cloud leads */
	enum fate_kind kind;
	enum reason reason; /* FATE_DROPPED; of a mark, why it would have been dropped */
	uint32_t wire_bytes;
	simtime at_ns;      /* when it happens, as the cloud sees it */
	simtime t_in_ns;    /* arrival at the cloud; FATE_LEFT: 0; FATE_SENT: when it was due */
	simtime t_out_ns;   /* FATE_DELIVERED: when it leaves */
	simtime entered_ns; /* FATE_DELIVERED: when it left the link, and entered the line */
	simtime late_ns;    /* FATE_DELIVERED, if `sent` */
	const char *cloud;  /* its name; FATE_SENT: that of the port */
	const char *stage;  /* statement of the stage that passes, drops or marks it; or NULL */
	bool changed;       /* FATE_PASSED: the stage has changed it */
	/* Live: the device has taken it, late_ns after it was to leave; else that is not known
	 * (control/fates/fate_order.h). */
	bool sent;
	uint8_t flags;        /* PACKET_COPY, PACKET_GENERATED, ... (packet.h) */
	uint64_t queue_bytes; /* waiting in the queues of the link at the decision */
	/* average queue as its management computes it (aqm.h); FATE_NO_AVERAGE: it does not */
	uint64_t queue_average_bytes;
	struct fate_frame frame;
};

struct witness {
	void (*tell)(struct witness *witness, const struct fate *fate);
	/* The kinds from FATE_ARRIVED on that it gets, as bits 1 << kind. */
	uint32_t way;
};

#endif
