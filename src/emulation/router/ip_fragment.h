/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragments IPv4 packets as a router does (RFC 791, section 3.2; RFC 815 reassembles them).
 *
 * Each fragment has the frame's Ethernet header and tags, the IP header, and as much of the data,
 * in units of 8 bytes, as the MTU allows. The first has all options; the others have those with the
 * copied bit, padded with zeros to whole words. A fragment can be fragmented again: its offset and
 * its "more fragments" continue. Identification, type of service, TTL and addresses are the
 * packet's; lengths and checksums are computed for each fragment. Padding behind the IP packet is
 * removed. If a capture has cut the packet, each fragment has what is there of its part, and its
 * full length on the wire.
 *
 * Thread: the worker that owns the packet.
 */
#ifndef WEIR_IP_FRAGMENT_H
#define WEIR_IP_FRAGMENT_H

#include "packet/headers.h"

/* Returns how many fragments an IPv4 packet makes that is longer than `mtu` (at least 68), or
 * UINT32_MAX if 13 bits cannot express their offsets: for a fragment that ends beyond 65535 bytes,
 * or a frame that a card was to segment. */
uint32_t ip_fragments(const struct rte_mbuf *packet, const struct headers *headers, uint32_t mtu);

/* Fragments an IPv4 packet that is longer than `mtu` (at least 68) into mbufs of the pool.
 * `fragments` has room for ip_fragments(). On the wire each is as long as its IP header says. The
 * caller keeps the packet, which does not change. Returns their number; 0 if there are not enough
 * mbufs, and then none is taken. */
uint32_t ip_fragment(const struct rte_mbuf *packet, const struct headers *headers, uint32_t mtu,
                     struct rte_mempool *pool, struct rte_mbuf **fragments);

#endif
