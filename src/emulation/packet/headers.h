/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Positions of the headers of a frame: Ethernet, VLAN tags (802.1Q, 802.1ad and the old 0x9100;
 * QinQ is two of them), IPv4 with options, IPv6 with extension headers, and the transport behind.
 *
 * Only the first segment of an mbuf is examined, and never beyond its data: a header that is cut
 * off counts as absent. So does a header whose lengths contradict each other. Padding behind the
 * end of the IP packet belongs to no header.
 *
 * The positions are read once for the packets of a burst, and kept there (burst.h).
 *
 * Cost: proportional to the number of headers; at most HEADERS_TAGS_MAX tags and
 * HEADERS_EXTENSIONS_MAX extension headers are passed.
 * Thread: any.
 */
#ifndef WEIR_HEADERS_H
#define WEIR_HEADERS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

#define HEADERS_TAGS_MAX       8
#define HEADERS_EXTENSIONS_MAX 16

struct headers {
	uint8_t ip;             /* 4 or 6; 0: no IP */
	uint8_t protocol;       /* of the transport: 6 is TCP; in a fragment, of the whole packet */
	uint8_t n_tags;         /* VLAN tags */
	bool fragment;          /* not the first part of a packet: it has no transport header */
	uint16_t ethertype;     /* behind the tags */
	uint16_t tag[2];        /* identifiers (12 bits) of the outermost and the second */
	uint16_t unused;        /* 0: there is no padding, and structs compare as bytes */
	uint32_t network;       /* offset of the IP header from the start of the frame */
	uint32_t network_bytes; /* from there to the end of the IP packet, according to IP */
	uint32_t transport;     /* offset of the header behind it; 0: there is none */
	/* From `transport` to the end of the IP packet, according to IP, and how much of that is in
	 * the first segment. */
	uint32_t transport_bytes;
	uint32_t transport_here;
};

/* Finds the headers of a frame. `data` has its first `bytes`; `wire_bytes` is the length of the
 * frame. Fills in all of `headers`. Returns true if there is an IP header. */
bool headers_find(const uint8_t *data, uint32_t bytes, uint32_t wire_bytes,
                  struct headers *headers);

/* Does the same for an IP packet that begins at the offset `at` of the frame, whatever precedes it:
 * the ethertype stays 0, and there are no tags. */
bool headers_find_ip(const uint8_t *data, uint32_t bytes, uint32_t wire_bytes, uint32_t at,
                     struct headers *headers);

/* Returns true if the number is that of an IPv6 extension header, which headers_find passes. */
bool headers_is_extension(uint8_t protocol);

/* Offsets of the headers of a usual packet: IPv4 without tags and options, not a later fragment,
 * with a transport. */
#define HEADERS_USUAL_IP        14
#define HEADERS_USUAL_TRANSPORT 34

static inline uint16_t headers_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t headers_u32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Does the same as headers_find for a usual packet. Returns false for any other packet, and leaves
 * `headers` unchanged. */
static inline bool headers_find_usual(const uint8_t *data, uint32_t bytes, struct headers *headers)
{
	static const struct headers usual = {
	        .ip = 4,
	        .ethertype = 0x0800,
	        .network = HEADERS_USUAL_IP,
	        .transport = HEADERS_USUAL_TRANSPORT,
	};
	const uint32_t header_bytes = HEADERS_USUAL_TRANSPORT - HEADERS_USUAL_IP;
	const uint8_t *ip = data + HEADERS_USUAL_IP;
	uint32_t total, here;

	/* The ethertype, and version and length of the IP header, in one word. */
	if (bytes <= HEADERS_USUAL_TRANSPORT || headers_u32(ip - 2) >> 8 != 0x080045)
		return false;
	total = headers_u16(ip + 2);
	if (total <= header_bytes || headers_u16(ip + 6) & 0x1fff)
		return false;
	total -= header_bytes;
	here = bytes - HEADERS_USUAL_TRANSPORT;
	*headers = usual;
	headers->protocol = ip[9];
	headers->network_bytes = total + header_bytes;
	headers->transport_bytes = total;
	headers->transport_here = total < here ? total : here;
	return true;
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
