/* SPDX-License-Identifier: BSD-3-Clause */
#include "router/hop.h"

#include <string.h>

#include "packet/checksum.h"

#define IPV4_BYTES   20
#define HEADER_MOST  60
#define MORE         0x2000
#define OFFSET       0x1fff
#define UNIT         8
#define OPTION_END   0
#define OPTION_NONE  1
#define OPTION_STAYS 0x80 /* the copied bit */

/* A fragment: its part of the packet's data, and its header. */
struct part {
	const uint8_t *ip; /* the header before lengths and checksum are set */
	uint32_t ip_bytes;
	uint32_t from, bytes; /* in the data */
	bool last;
};

static void put_u16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Writes the header of all fragments but the first. Returns its length. */
static uint32_t header_reduce(const uint8_t *ip, uint8_t *to)
{
	uint32_t end = (ip[0] & 0xfu) * 4, at = IPV4_BYTES, bytes = IPV4_BYTES;

	memset(to, OPTION_END, HEADER_MOST);
	memcpy(to, ip, IPV4_BYTES);
	while (at < end && ip[at] != OPTION_END) {
		uint32_t length = 1;

		if (ip[at] != OPTION_NONE) {
			/* A malformed option ends the list. */
			if (at + 1 == end || ip[at + 1] < 2 || at + ip[at + 1] > end)
				break;
			length = ip[at + 1];
		}
		if (ip[at] & OPTION_STAYS) {
			memcpy(to + bytes, ip + at, length);
			bytes += length;
		}
		at += length;
	}
	bytes = RTE_ALIGN_CEIL(bytes, 4u);
	to[0] = (uint8_t)(0x40 | bytes / 4);
	return bytes;
}

static void header_finish(uint8_t *ip, const struct part *part, uint16_t word)
{
	uint32_t offset = (word & OFFSET) + part->from / UNIT;
	uint64_t sum = 0;

	put_u16(ip + 2, part->ip_bytes + part->bytes);
	put_u16(ip + 6, (word & ~(OFFSET | MORE)) | offset | (part->last ? word & MORE : MORE));
	put_u16(ip + 10, 0);
	for (uint32_t i = 0; i < part->ip_bytes; i += 2)
		sum += headers_u16(ip + i);
	put_u16(ip + 10, (uint16_t)~checksum_fold(sum));
}

static struct rte_mbuf *part_make(const struct rte_mbuf *packet, const struct headers *headers,
                                  const struct part *part, struct rte_mempool *pool)
{
	const uint8_t *frame = rte_pktmbuf_mtod(packet, const uint8_t *);
	const uint8_t *ip = frame + headers->network;
	uint32_t from = headers->network + (ip[0] & 0xfu) * 4 + part->from;
	uint32_t header_bytes = headers->network + part->ip_bytes;
	struct rte_mbuf *mbuf;
	char *to;

	/* Bytes that a capture has cut off cannot be copied. */
	mbuf = from < packet->pkt_len ? rte_pktmbuf_copy(packet, pool, from, part->bytes)
	                              : rte_pktmbuf_alloc(pool);
	if (!mbuf)
		return NULL;
	to = rte_pktmbuf_prepend(mbuf, (uint16_t)header_bytes);
	if (!to) {
		rte_pktmbuf_free(mbuf);
		return NULL;
	}
	memcpy(to, frame, headers->network);
	memcpy(to + headers->network, part->ip, part->ip_bytes);
	header_finish((uint8_t *)to + headers->network, part, headers_u16(ip + 6));
	return mbuf;
}

/* Returns how much data a fragment takes, unless it is the last, with a header of `ip_bytes`. */
static uint32_t fits(uint32_t mtu, uint32_t ip_bytes)
{
	return (mtu - ip_bytes) / UNIT * UNIT;
}

uint32_t ip_fragments(const struct rte_mbuf *packet, const struct headers *headers, uint32_t mtu)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(packet, const uint8_t *, headers->network);
	uint32_t ip_bytes = (ip[0] & 0xfu) * 4, data_bytes = headers->network_bytes - ip_bytes;
	uint32_t first = (headers_u16(ip + 6) & OFFSET) * UNIT, rest_bytes;
	uint8_t reduced[HEADER_MOST];

	if (data_bytes > UINT16_MAX || first + data_bytes > UINT16_MAX)
		return UINT32_MAX;
	rest_bytes = header_reduce(ip, reduced);
	if (data_bytes <= mtu - ip_bytes)
		return 1;
	data_bytes -= fits(mtu, ip_bytes);
	/* The last fragment takes any length that fits, in whole units or not. */
	if (data_bytes <= mtu - rest_bytes)
		return 2;
	return 2 + (data_bytes - (mtu - rest_bytes) + fits(mtu, rest_bytes) - 1) /
	                   fits(mtu, rest_bytes);
}

uint32_t ip_fragment(const struct rte_mbuf *packet, const struct headers *headers, uint32_t mtu,
                     struct rte_mempool *pool, struct rte_mbuf **fragments)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(packet, const uint8_t *, headers->network);
	uint32_t ip_bytes = (ip[0] & 0xfu) * 4, data_bytes = headers->network_bytes - ip_bytes;
	uint8_t reduced[HEADER_MOST];
	uint32_t reduced_bytes = header_reduce(ip, reduced);
	struct part part = {.ip = ip, .ip_bytes = ip_bytes};
	uint32_t n = 0;

	do {
		uint32_t left = data_bytes - part.from;

		part.last = left <= mtu - part.ip_bytes;
		part.bytes = part.last ? left : fits(mtu, part.ip_bytes);
		fragments[n] = part_make(packet, headers, &part, pool);
		if (!fragments[n]) {
			rte_pktmbuf_free_bulk(fragments, n);
			return 0;
		}
		n++;
		part.from += part.bytes;
		part.ip = reduced;
		part.ip_bytes = reduced_bytes;
	} while (!part.last);
	return n;
}
