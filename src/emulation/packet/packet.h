/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What weir knows of a packet beside its bytes, where it crosses from one worker to another, and
 * behind the engine if something reads it there (engine/cloud_tell.h). It lies in the private area
 * of the mbuf, so every mempool that feeds the engine is made with PACKET_PRIVATE_BYTES of it.
 *
 * Inside the engine, a burst has these values (burst.h); behind it, an outlet (outlet.h).
 * Ownership: the mbuf's.
 */
#ifndef WEIR_PACKET_H
#define WEIR_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "simtime.h"

/* The maximum length of a packet, in an mbuf or a chain of them: the longest record of a capture of
 * Ethernet that libpcap reads. Buffers and captures are large enough for it, drivers hand over no
 * longer packet, and code that makes a packet longer calls packet_may_grow first. */
#define PACKET_BYTES_MAX UINT32_C(262144)

/* The most packets that one call hands to the engine, and the room that a stage may fill: a stage
 * that copies packets can return more than it got. */
#define BURST_MAX  32
#define BURST_ROOM (2 * BURST_MAX)

struct packet {
	simtime t_ns;        /* the instant of its latest event */
	uint64_t number;     /* ordinal at its ingress port, from 1 */
	uint32_t wire_bytes; /* length on the wire; more than in the mbuf if a capture cut it */
	uint16_t port;       /* ingress port, index in the scenario */
	uint8_t flags;
	uint32_t age_ns; /* how long before t_ns its device received it, if known (port_time.h) */
};

#define PACKET_COPY      0x01 /* made by a duplicator: it is never duplicated again */
#define PACKET_GENERATED 0x02 /* made by weir itself: a quench, an ICMP answer */
#define PACKET_BACK      0x04 /* generated: goes back to where its cause came from */
#define PACKET_FOREIGN   0x08 /* generated: has no number of this port; reported as 0 */
#define PACKET_MARKED    0x10 /* in a queue and behind it: the queue has marked it */
#define PACKET_TOLD      0x20 /* the same: its sender has got a quench for the mark */
#define PACKET_DAMAGED   0x40 /* corrupted by its flow: its headers may name another (flows.h) */

/* A whole cache line, so that the frame, which lies behind it and the headroom, begins at a cache
 * line: a frame of 64 bytes lies in one then, and not in two. */
#define PACKET_PRIVATE_BYTES RTE_CACHE_LINE_SIZE

_Static_assert(sizeof(struct packet) <= PACKET_PRIVATE_BYTES, "it has room");

static inline struct packet *packet_of(struct rte_mbuf *mbuf)
{
	return (struct packet *)rte_mbuf_to_priv(mbuf);
}

/* Returns true if a packet of `wire_bytes` on the wire may grow by `bytes`. A packet for which a
 * capture claims more than PACKET_BYTES_MAX on the wire does not grow: its length is a number with
 * a limit, too. */
static inline bool packet_may_grow(const struct rte_mbuf *mbuf, uint32_t wire_bytes, uint32_t bytes)
{
	uint32_t longest = RTE_MAX(mbuf->pkt_len, wire_bytes);

	return bytes <= PACKET_BYTES_MAX && longest <= PACKET_BYTES_MAX - bytes;
}

#endif
