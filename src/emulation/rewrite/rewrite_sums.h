/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Corrects the checksums of a packet after some of its bytes were overwritten: those of the IPv4
 * header, TCP, UDP, ICMP and ICMPv6. It does so incrementally (checksum.h), so that no payload is
 * read.
 *
 *   - A checksum covers what its RFC says: the header, or transport and pseudo-header (addresses
 *     and protocol). If a routing header has segments left, the destination in the IPv6 header is
 *     not the one in the pseudo-header, and writing it changes no transport checksum.
 *   - A UDP checksum of 0 means that there is none, and stays 0. One that becomes 0 is written as
 *     0xffff.
 *   - A checksum field that is overwritten itself keeps the written value.
 *   - A fragment other than the first has no transport header: no transport checksum is changed.
 *     Nor is one that was cut off.
 *   - A length that is overwritten counts as data: the transport's checksum covers the same bytes
 *     as before.
 *
 * Thread: the worker that owns the packet.
 */
#ifndef WEIR_REWRITE_SUMS_H
#define WEIR_REWRITE_SUMS_H

#include "packet/checksum.h"
#include "rewrite/rewrite_field.h"

/* The checksums that cover all bytes of a place, as far as the place alone determines them. */
enum rewrite_summed {
	SUMMED_HEADER = 0x1, /* that of the IPv4 header */
	SUMMED_PSEUDO = 0x2, /* the transport's, by its pseudo-header */
	SUMMED_DATA = 0x4,   /* the transport's */
	SUMMED_ASK = 0x8,    /* depends on the packet */
};

/* Returns a set of them, 0 for none, valid if the place is found in a packet. Thread: control. */
uint8_t rewrite_summed(const struct rewrite_place *place);

#define REWRITE_IPV4_SUM 10 /* its offset in the header */

/* Returns what a change of the bytes that end at `end` adds to a sum. Every word that a checksum
 * sums begins at an even offset of the frame, because Ethernet, tags and headers all have an even
 * length. */
static inline uint32_t rewrite_growth(uint32_t end, uint64_t before, uint64_t after)
{
	return end & 1 ? checksum_growth_odd(before, after) : checksum_growth(before, after);
}

/* Adds to the IPv4 header checksum. The header is whole in the first segment. */
static inline void rewrite_grow_ipv4(const struct rewrite_view *view, uint32_t growth)
{
	uint8_t *sum =
	        rte_pktmbuf_mtod(view->mbuf, uint8_t *) + view->headers.network + REWRITE_IPV4_SUM;

	if (growth)
		headers_put_u16(sum, checksum_grown(headers_u16(sum), growth));
}

/* Corrects the checksums after `width` bytes at `at` have become `after`, which differs from
 * `before`. `summed` is that of their place, or SUMMED_ASK. */
void rewrite_sums_slow(const struct rewrite_view *view, uint8_t summed, uint32_t at, uint32_t width,
                       uint64_t before, uint64_t after);
/* The same; handles inline what only the IPv4 header checksum covers. */
static inline void rewrite_sums(const struct rewrite_view *view, uint8_t summed, uint32_t at,
                                uint32_t width, uint64_t before, uint64_t after)
{
	if (summed == SUMMED_HEADER)
		rewrite_grow_ipv4(view, rewrite_growth(at + width, before, after));
	else if (summed)
		rewrite_sums_slow(view, summed, at, width, before, after);
}

#endif
