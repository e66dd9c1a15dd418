/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion experienced (RFC 3168): an IPv4 or IPv6 packet of a transport that can say so is
 * marked in the place of being lost. The header checksum of IPv4 is made right incrementally.
 *
 * Where the IP header is: headers.h, so VLAN tags are seen through. A packet that somebody else
 * sees too is copied first. Thread: the worker that owns the cloud.
 */
#ifndef WEIR_CE_MARK_H
#define WEIR_CE_MARK_H

#include "packet/burst.h"

enum ce_mark {
	CE_MARK_NOT_CAPABLE, /* not IP, or not ECT: the packet is as it was */
	CE_MARK_DONE,        /* marked now */
	CE_MARK_ALREADY,     /* it was marked before */
	CE_MARK_NO_BUFFER,   /* no memory for a copy: the packet is as it was */
};
/* Packet i of the burst, which may get another mbuf, of the pool. */
enum ce_mark ce_mark(struct rte_mempool *pool, struct burst *burst, uint32_t i);

#endif
