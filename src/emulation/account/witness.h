/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is told what becomes of packets. The log and the picture of a replay, a capture and a trace
 * read what is told here, and nothing else. Without a witness it costs nothing.
 *
 * Every witness is told the fate of each packet when it is decided: a delivery at the moment when
 * its due time is fixed, which is before that time. A witness with a `way` is also told what
 * happens on the way there, when it happens, each thing once:
 *
 *   FATE_ARRIVED    it comes to the cloud, ahead of the first stage
 *   FATE_PASSED     a stage has let it through
 *   FATE_QUEUED     it is let into the queue of the link, be it that it need not wait there; it is
 *                   marked already if the management has marked it
 *   FATE_MARKED     it is marked in its queue, as it leaves that, or by a stage
 *   FATE_LEFT       it leaves the cloud, at the port or into another cloud
 *
 * The name of a packet is its port and its number, at all of them, and in all clouds on its way.
 *
 * With a witness, hand packets to the engine one at a time, and the order of the fates depends on
 * nothing but the input. What happens at one instant is told in the order in which it happens; the
 * clouds that have nothing to do with each other are executed one after the other, so of two of
 * them the later may be told first, within one call of engine_advance.
 *
 * Ownership: what a fate points to is there until `tell` returns. Thread: the worker's.
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
	FATE_KINDS
};

/* The bytes of a packet, as they are at that moment. */
struct fate_frame {
	const uint8_t *data;
	uint32_t bytes;              /* of `data`; 0: nothing is known of it */
	const struct rte_mbuf *more; /* its segments behind those bytes; or NULL */
};

struct fate {
	uint64_t packet;  /* ordinal at its ingress port, from 1; 0: no packet of that port */
	uint32_t port;    /* ingress port, index in the scenario */
	uint32_t to_port; /* to which the cloud leads */
	enum fate_kind kind;
	enum reason reason; /* FATE_DROPPED; of a mark, for what it would have been dropped */
	uint32_t wire_bytes;
	simtime at_ns;        /* when it happens, as the cloud sees it */
	simtime t_in_ns;      /* arrival at the cloud; FATE_LEFT: 0 */
	simtime t_out_ns;     /* FATE_DELIVERED: when it leaves */
	const char *cloud;    /* its name */
	const char *stage;    /* that lets it pass, drops or marks it: its statement; or NULL */
	bool changed;         /* FATE_PASSED: the stage has changed it */
	uint8_t flags;        /* PACKET_COPY, PACKET_GENERATED, ... (packet.h) */
	uint64_t queue_bytes; /* held by the link of the cloud at the decision */
	/* what its management takes the queue to be (aqm.h); FATE_NO_AVERAGE: it keeps none */
	uint64_t queue_average_bytes;
	struct fate_frame frame;
};

struct witness {
	void (*tell)(struct witness *witness, const struct fate *fate);
	/* Of the kinds from FATE_ARRIVED on, those that are told, as bits 1 << kind. */
	uint32_t way;
};

#endif
