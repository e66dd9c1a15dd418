/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the headers of a frame are: Ethernet, VLAN tags (802.1Q, 802.1ad and the old 0x9100; QinQ
 * is two of them), IPv4 with options, IPv6 with extension headers, and the transport behind.
 *
 * Only the first segment of an mbuf is looked at, and never beyond its data: a header that is cut
 * off is not there. Lengths that contradict themselves mean that the header is not there either.
 * Padding behind the end of the IP packet belongs to no header.
 *
 * Of a packet they are read once, and kept behind its struct packet for all stages that it passes.
 *
 * Cost: proportional to the number of headers; at most HEADERS_TAGS_MAX tags and
 * HEADERS_EXTENSIONS_MAX extension headers are passed. Thread: headers_find any, the rest the owner
 * of the packet.
 */
#ifndef WEIR_HEADERS_H
#define WEIR_HEADERS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

#include "packet/packet.h"

#define HEADERS_TAGS_MAX       8
#define HEADERS_EXTENSIONS_MAX 16

struct headers {
	uint8_t ip;             /* 4 or 6; 0: no IP */
	uint8_t protocol;       /* of the transport: 6 is TCP; in a fragment that of the whole */
	uint8_t n_tags;         /* VLAN tags */
	bool fragment;          /* not the first part of a packet: it has no transport header */
	uint16_t ethertype;     /* behind the tags */
	uint16_t tag[2];        /* identifiers (12 bits) of the outermost and the second */
	uint16_t unused;        /* 0: there is no gap, and they can be compared as bytes */
	uint32_t network;       /* offset of the IP header from the start of the frame */
	uint32_t network_bytes; /* from there to the end of the IP packet, as IP says */
	uint32_t transport;     /* offset of the header behind it; 0: there is none */
	/* From `transport` to the end of the IP packet, as IP says, and how much of that is in the
	 * first segment. */
	uint32_t transport_bytes;
	uint32_t transport_here;
};

/* `data` is the frame's first `bytes`; `wire_bytes` is the length of the whole. Fills in all of
 * `headers`; true if there is an IP header. */
bool headers_find(const uint8_t *data, uint32_t bytes, uint32_t wire_bytes,
                  struct headers *headers);

_Static_assert(sizeof(struct packet) + sizeof(struct headers) <= PACKET_PRIVATE_BYTES,
               "it has room");

/* What is known of a packet, beside 0: nothing. */
enum headers_known {
	HEADERS_KNOWN = 1,
	/* And that it is a usual one: IPv4 without tags and options, not a later fragment, with a
	 * transport, in an mbuf that nobody else sees (copy.h). Its headers lie where those of all
	 * such packets do. */
	HEADERS_USUAL,
};

#define HEADERS_USUAL_IP        14
#define HEADERS_USUAL_TRANSPORT 34

/* Where they are kept. */
static inline struct headers *headers_place(struct rte_mbuf *mbuf)
{
	return (struct headers *)(packet_of(mbuf) + 1);
}

/* Reads those of the packet, and keeps them. */
const struct headers *headers_read(struct rte_mbuf *mbuf);
/* The same of all of a burst whose headers are not known yet. */
void headers_read_burst(struct rte_mbuf *const *mbufs, uint32_t n);
/* Ends the process if what is kept is not what the frame says. */
void headers_check(struct rte_mbuf *mbuf);

/* Whether it is a usual one; false: it is not, or not for certain. */
static inline bool headers_usual(struct rte_mbuf *mbuf)
{
	if (unlikely(packet_of(mbuf)->headers_known != HEADERS_USUAL)) {
		if (packet_of(mbuf)->headers_known)
			return false;
		headers_read(mbuf);
		return packet_of(mbuf)->headers_known == HEADERS_USUAL;
	}
#ifdef __SANITIZE_ADDRESS__
	headers_check(mbuf);
#endif
	return true;
}

/* Those of a packet, as long as it has this mbuf and nobody writes to it; `ip` 0: there is no IP
 * header. */
static inline const struct headers *headers_at(struct rte_mbuf *mbuf)
{
	if (unlikely(!packet_of(mbuf)->headers_known))
		return headers_read(mbuf);
#ifdef __SANITIZE_ADDRESS__
	headers_check(mbuf);
#endif
	return headers_place(mbuf);
}

/* The same, for who goes on writing. True if there is an IP header. */
static inline bool headers_of(struct rte_mbuf *mbuf, struct headers *headers)
{
	*headers = *headers_at(mbuf);
	return headers->ip != 0;
}

/* To be called by who has written to a packet what they say - types, tags, lengths, protocols - or
 * has moved where its frame begins. A new struct packet says so by itself. */
static inline void headers_forget(struct rte_mbuf *mbuf)
{
	packet_of(mbuf)->headers_known = 0;
}

static inline uint16_t headers_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t headers_u32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline void headers_put_u16(uint8_t *at, uint16_t value)
{
	value = rte_cpu_to_be_16(value);
	memcpy(at, &value, sizeof(value));
}

static inline void headers_put_u32(uint8_t *at, uint32_t value)
{
	value = rte_cpu_to_be_32(value);
	memcpy(at, &value, sizeof(value));
}

#endif
