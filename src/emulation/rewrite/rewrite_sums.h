/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checksums of a packet, corrected after some of its bytes were overwritten: those of the IPv4
 * header, TCP, UDP, ICMP and ICMPv6, incrementally (checksum.h), so that no payload is read.
 *
 *   - A checksum covers what it covers by its RFC: header, or transport and pseudo-header
 *     (addresses and protocol). With a routing header that has segments left the destination in the
 *     IPv6 header is not the one in the pseudo-header, and writing it changes nothing.
 *   - A UDP checksum of 0 says that there is none, and stays 0; one that becomes 0 is written
 *     0xffff.
 *   - A checksum field that is overwritten itself keeps what was written.
 *   - Fragments but the first have no transport header, and none is changed; nor one that is cut
 *     off.
 *   - A length that is overwritten counts as data: what the transport's checksum covers is as
 *     before.
 *
 * Thread: the worker that owns the packet.
 */
#ifndef WEIR_REWRITE_SUMS_H
#define WEIR_REWRITE_SUMS_H

#include "packet/checksum.h"
#include "rewrite/rewrite_place.h"

/* Of which sums all bytes of a place are part, as far as that can be said without a packet. */
enum rewrite_summed {
	SUMMED_HEADER = 0x1, /* that of the IPv4 header */
	SUMMED_PSEUDO = 0x2, /* the transport's, by its pseudo-header */
	SUMMED_DATA = 0x4,   /* the transport's */
	SUMMED_ASK = 0x8,    /* it depends on the packet */
};

/* A set of them, 0 for none; if the place is found in a packet. Control. */
uint8_t rewrite_summed(const struct rewrite_place *place);

#define REWRITE_IPV4_SUM 10 /* its offset */

/* What bytes that end there add to a sum when they become others. Every word that a checksum sums
 * begins at an even offset of the frame, since Ethernet, tags and headers all have an even
 * length. */
static inline uint32_t rewrite_growth(uint32_t end, uint64_t before, uint64_t after)
{
	return end & 1 ? checksum_growth_odd(before, after) : checksum_growth(before, after);
}

/* The header of IPv4 is whole in the first segment. */
static inline void rewrite_grow_ipv4(const struct rewrite_view *view, uint32_t growth)
{
	uint8_t *sum =
	        rte_pktmbuf_mtod(view->mbuf, uint8_t *) + view->headers.network + REWRITE_IPV4_SUM;

	if (growth)
		headers_put_u16(sum, checksum_grown(headers_u16(sum), growth));
}

/* `width` bytes at `at` were `before`, as a number, and are `after` now, which is another.
 * `summed`: of their place, or SUMMED_ASK. */
void rewrite_sums_slow(const struct rewrite_view *view, uint8_t summed, uint32_t at, uint32_t width,
                       uint64_t before, uint64_t after);
/* Here what is part of the IPv4 header's alone. */
static inline void rewrite_sums(const struct rewrite_view *view, uint8_t summed, uint32_t at,
                                uint32_t width, uint64_t before, uint64_t after)
{
	if (summed == SUMMED_HEADER)
		rewrite_grow_ipv4(view, rewrite_growth(at + width, before, after));
	else if (summed)
		rewrite_sums_slow(view, summed, at, width, before, after);
}

#endif
