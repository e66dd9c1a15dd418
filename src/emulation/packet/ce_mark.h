/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion experienced (RFC 3168, section 5): the two bits of an IPv4 or IPv6 header that say
 * whether a transport understands marks, and whether a packet has one. The header checksum of IPv4
 * is updated incrementally.
 *
 * headers.h finds the IP header, also behind VLAN tags. A queue's management marks what it holds or
 * lets in (link/aqm.h). A stage marks packets of a burst instead of losing them, in bytes that are
 * not shared.
 *
 * Thread: the worker that owns the packet.
 */
#ifndef WEIR_CE_MARK_H
#define WEIR_CE_MARK_H

#include "packet/packet_bytes.h"

#define CE_CODEPOINT 3

/* Where a mark goes. */
struct ce_place {
	uint8_t *at;      /* the IP header */
	uint32_t version; /* of IP */
};

/* Returns 0: not capable; 1, 2: ECT(1), ECT(0); 3: marked; -1: there is no IP header, and `place`
 * is not set. */
int ce_codepoint(const struct packet_bytes *frame, struct ce_place *place);
/* Sets the mark. */
void ce_set(const struct ce_place *place);

enum ce_mark {
	CE_MARK_NOT_CAPABLE, /* not IP, or not ECT: the packet is as it was */
	CE_MARK_DONE,        /* marked now */
	CE_MARK_ALREADY,     /* it was marked before */
	CE_MARK_NO_BUFFER,   /* no memory for a copy: the packet is as it was */
};
/* Marks packet i of the burst, which may get another mbuf, from the pool. */
enum ce_mark ce_mark(struct rte_mempool *pool, struct burst *burst, uint32_t i);

#endif
