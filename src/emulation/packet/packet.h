/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What weir knows of a packet beside its bytes. It lies in the private area of the mbuf, so every
 * mempool that feeds the engine is made with PACKET_PRIVATE_BYTES of it.
 *
 * Ownership: whoever owns the mbuf. Written at ingress, before the engine sees the packet.
 */
#ifndef WEIR_PACKET_H
#define WEIR_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "simtime.h"

/* The most packets that one call hands to the engine, and the room a stage may fill: a stage that
 * copies packets can give back more than it got. */
#define BURST_MAX  32
#define BURST_ROOM (2 * BURST_MAX)

struct packet {
	simtime t_ns;        /* the instant of its latest event */
	uint64_t number;     /* ordinal at its ingress port, from 1 */
	uint32_t wire_bytes; /* length on the wire; more than the mbuf holds if a capture cut it */
	uint16_t port;       /* ingress port, index in the scenario */
	uint8_t flags;
	uint8_t headers_known; /* what headers.h keeps behind this is what the frame says: headers.h; 0: it is not */
	uint32_t age_ns; /* how long before t_ns its device received it, if known (port_time.h) */
};

#define PACKET_COPY      0x01 /* made by a duplicator: it never meets one again */
#define PACKET_GENERATED 0x02 /* made by weir itself: a quench, an ICMP answer */
#define PACKET_BACK      0x04 /* generated: goes back to where its cause came from */
#define PACKET_FOREIGN   0x08 /* generated: no packet of this port has its number; told as 0 */
#define PACKET_MARKED    0x10 /* in a queue and behind it: the queue has marked it */

/* A whole cache line, so that behind it and the headroom a frame begins at one: of 64 bytes it lies in
 * one then, and not in two. */
#define PACKET_PRIVATE_BYTES RTE_CACHE_LINE_SIZE

_Static_assert(sizeof(struct packet) <= PACKET_PRIVATE_BYTES, "it has room");

static inline struct packet *packet_of(struct rte_mbuf *mbuf)
{
	return (struct packet *)rte_mbuf_to_priv(mbuf);
}

#endif
