/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv4 packets in fragments, as a router makes them (RFC 791, section 3.2; RFC 815 puts them
 * together).
 *
 * Each fragment is the frame's Ethernet header and tags, the IP header, and as much of the data, in
 * units of 8 bytes, as the MTU allows. The first has all options; the others have those whose
 * copied bit is set, padded with zeros to whole words. A fragment can be divided again: its offset
 * and its "more fragments" continue. Identification, type of service, TTL and addresses are the
 * packet's; lengths and checksums are computed for each fragment. Padding behind the IP packet is
 * removed. Of a packet that a capture has cut, each fragment has what is there of it, and its
 * length on the wire.
 *
 * Thread: the worker that owns the packet.
 */
#ifndef WEIR_IP_FRAGMENT_H
#define WEIR_IP_FRAGMENT_H

#include "packet/headers.h"

/* How many fragments it takes to send an IPv4 packet that is longer than `mtu` (at least 68);
 * UINT32_MAX: their places cannot be said in 13 bits, as of a fragment that ends beyond 65535
 * bytes, or of what a card was to cut. */
uint32_t ip_fragments(const struct rte_mbuf *packet, const struct headers *headers, uint32_t mtu);

/* Fragments of an IPv4 packet that is longer than `mtu` (at least 68), in mbufs of the pool. On the
 * wire each is as long as its IP header says. The packet stays the caller's, unchanged. How many;
 * 0: there are not enough mbufs, and there are none. `fragments` has room for ip_fragments(). */
uint32_t ip_fragment(const struct rte_mbuf *packet, const struct headers *headers, uint32_t mtu,
                     struct rte_mempool *pool, struct rte_mbuf **fragments);

#endif
