/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of a router about a packet: ICMP errors (RFC 792, RFC 1191, RFC 1812) and ICMPv6
 * errors (RFC 4443), as whole frames, and the answer to an echo request.
 *
 * A frame goes back to where the packet came from. Its Ethernet addresses are those of the packet,
 * exchanged, because an emulated router has none and resolves none. Its VLAN tags are the packet's.
 *
 *   IPv4   no options, type of service 0xc0 (internetwork control, RFC 1812 4.3.2.5), TTL 64, DF
 *          not set, identification from a counter of the router. It quotes the packet from its IP
 *          header on, as it came, as much as fits into 576 bytes (RFC 1812 4.3.2.3).
 *   IPv6   traffic class and flow label 0, hop limit 64. It quotes as much as fits into 1280 bytes
 *          (RFC 4443 2.4).
 *
 * A source quench is the shortest that RFC 792 allows: it quotes the IP header and 8 bytes, so that
 * one about a packet without options has 56 bytes. IPv6 has none; the router sends type 200, code
 * 0, which is for private experimentation (RFC 4443 2.1), with the same layout: a word of the
 * caller's, the IPv6 header, and the 8 bytes behind it. That type counts as an error: no message is
 * sent about one.
 *
 * Padding behind the IP packet is not quoted, nor bytes that a capture has cut off.
 *
 * Thread: pure functions of their arguments, any.
 */
#ifndef WEIR_ICMP_H
#define WEIR_ICMP_H

#include "packet/headers.h"

/* The longest frame: an IPv6 error with all its tags. Also the number of bytes of a packet that are
 * needed to quote it in full. */
#define ICMP_FRAME_MAX (14 + 4 * HEADERS_TAGS_MAX + 1280)

#define ICMP_TTL 64

enum icmp_error {
	ICMP_TIME_EXCEEDED,    /* in transit */
	ICMP_TOO_BIG,          /* `rest`: the MTU of the next hop */
	ICMP_PORT_UNREACHABLE, /* at the router's own address */
	ICMP_SOURCE_QUENCH,    /* `rest`: of the caller's choice */
};

/* The router that sends. */
struct icmp_source {
	uint8_t v4[4];
	uint8_t v6[16];          /* all 0: none, and it sends nothing about IPv6 packets */
	uint16_t identification; /* of the next IPv4 packet */
};

/* Returns true if an error may be sent about the packet whose first `bytes` are at `frame`. It may
 * not be about an ICMP error or redirect, a fragment other than the first, a packet to a group or
 * to all, in Ethernet or in IP, a packet whose source is not the address of one node, or one with a
 * wrong header checksum (RFC 1812 4.3.2.7, RFC 4443 2.4 e), nor about an ICMP packet whose type is
 * cut off. */
bool icmp_may_tell(const struct headers *headers, const uint8_t *frame, uint32_t bytes);

/* Returns true if the router has an IPv6 address. */
bool icmp_has_v6(const struct icmp_source *source);

/* Returns true if the router has an address of that IP version, and that version has the
 * message. */
bool icmp_can_tell(const struct icmp_source *source, enum icmp_error error,
                   const struct headers *headers);

/* Writes the frame to `to`, which has room for ICMP_FRAME_MAX bytes, and returns its length.
 * icmp_can_tell and icmp_may_tell must hold. `bytes` are at `frame`, more than the headers. */
uint32_t icmp_error_write(struct icmp_source *source, enum icmp_error error, uint32_t rest,
                          const struct headers *headers, const uint8_t *frame, uint32_t bytes,
                          uint8_t *to);

/* Returns true if the packet is an echo request, and whole. */
bool icmp_is_echo_request(const struct headers *headers, const uint8_t *frame);
/* Turns it into the reply, from the address that it was sent to. `frame`: its first segment. */
void icmp_echo_turn(struct icmp_source *source, const struct headers *headers, uint8_t *frame);

/* Returns true if the checksum of the IPv4 header is right. */
bool icmp_header_is_right(const struct headers *headers, const uint8_t *frame);

#endif
