/* SPDX-License-Identifier: BSD-3-Clause */
#include "header/oq_header.h"

#include <string.h>

#include "packet/checksum.h"
#include "packet/packet.h"

#define FRAGMENT_HEADER       44
#define AUTHENTICATION_HEADER 51
#define IPV6_BYTES            40

/* Returns the offset of the field with the transport's protocol; 0 if it is in a chain of headers
 * that must not be changed. */
static uint32_t protocol_place(const struct headers *headers, const uint8_t *frame)
{
	uint32_t place = headers->network + 6, at = headers->network + IPV6_BYTES;

	if (headers->ip == 4)
		return headers->network + 9;
	/* headers.h has checked this chain. */
	while (at < headers->transport) {
		if (frame[place] == FRAGMENT_HEADER || frame[place] == AUTHENTICATION_HEADER)
			return 0;
		place = at;
		at += (frame[at + 1] + 1u) * 8;
	}
	return place;
}

/* Checks what inserting and removing both need. The total length 0, of a packet that a NIC is to
 * cut into segments, counts as none. */
static bool is_plain(const struct headers *headers, const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	const uint8_t *ip = frame + headers->network;

	if (headers->ip == 0 || headers->fragment || headers->transport == 0)
		return false;
	if (headers->ip == 4)
		return (headers_u16(ip + 6) & 0x3fff) == 0 && headers_u16(ip + 2) != 0 &&
		       headers->protocol != AUTHENTICATION_HEADER;
	return headers_u16(ip + 4) != 0 && protocol_place(headers, frame) != 0;
}

bool header_room_fits(const struct headers *headers, const struct burst *burst, uint32_t i,
                      uint32_t bytes)
{
	const struct rte_mbuf *mbuf = burst->mbuf[i];
	/* A copy, if one is made, has the default headroom. */
	uint32_t room =
	        RTE_MIN((uint32_t)rte_pktmbuf_headroom(mbuf), (uint32_t)RTE_PKTMBUF_HEADROOM);

	return is_plain(headers, mbuf) && bytes <= room &&
	       packet_may_grow(mbuf, burst_wire_bytes(burst, i), bytes) &&
	       headers->network_bytes + bytes <= UINT16_MAX;
}

bool header_room_spares(const struct headers *headers, const struct rte_mbuf *mbuf, uint32_t bytes)
{
	return is_plain(headers, mbuf) && bytes <= headers->transport_here;
}

static void put_u16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Writes a new length and protocol into the IP header of the packet at `frame`. */
static void set_ip(const struct headers *headers, uint8_t *frame, uint32_t network_bytes,
                   uint8_t protocol)
{
	uint8_t *ip = frame + headers->network;
	uint32_t growth;

	if (headers->ip == 6) {
		frame[protocol_place(headers, frame)] = protocol;
		put_u16(ip + 4, network_bytes - IPV6_BYTES);
		return;
	}
	growth = checksum_growth(headers_u16(ip + 2), network_bytes) +
	         checksum_growth(ip[9], protocol);
	put_u16(ip + 2, network_bytes);
	ip[9] = protocol;
	put_u16(ip + 10, checksum_grown(headers_u16(ip + 10), growth));
}

uint8_t *header_room_make(const struct headers *headers, struct burst *burst, uint32_t i,
                          uint32_t bytes, uint8_t protocol)
{
	uint8_t *frame = (uint8_t *)(void *)rte_pktmbuf_prepend(burst->mbuf[i], (uint16_t)bytes);

	memmove(frame, frame + bytes, headers->transport);
	set_ip(headers, frame, headers->network_bytes + bytes, protocol);
	burst_grow(burst, i, (int32_t)bytes);
	burst_headers_forget(burst, i);
	return frame + headers->transport;
}

void header_room_close(const struct headers *headers, struct burst *burst, uint32_t i,
                       uint32_t bytes, uint8_t protocol)
{
	uint8_t *frame = burst_frame(burst, i);

	memmove(frame + bytes, frame, headers->transport);
	rte_pktmbuf_adj(burst->mbuf[i], (uint16_t)bytes);
	set_ip(headers, frame + bytes, headers->network_bytes - bytes, protocol);
	burst_grow(burst, i, -(int32_t)bytes);
	burst_headers_forget(burst, i);
}
