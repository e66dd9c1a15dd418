/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/super_frame.h"

#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "packet/headers.h"

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4 /* defined since Linux 6.2 */
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define TCP_BYTES_MIN 20
#define TCP_FLAGS     13
#define TCP_FIN_PSH   0x09
#define TCP_CWR       0x80
/* Ethernet, tags, IPv6 with extension headers, TCP with options. A super-frame with longer headers
 * is refused. */
#define HEADERS_BYTES_MAX 512

/* Adds bytes to a sum of RFC 1071. They begin at an even distance from the bytes already summed. */
static uint32_t sum_add(uint32_t sum, const void *bytes, uint32_t n)
{
	return sum + rte_raw_cksum(bytes, n);
}

static uint16_t sum_fold(uint32_t sum)
{
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)~sum;
}

static void put_sum(uint8_t *at, uint16_t sum)
{
	memcpy(at, &sum, sizeof(sum)); /* in memory order, as rte_raw_cksum sums */
}

/* In UDP, 0 means that there is no checksum (RFC 768), so a sum of 0 is sent as 0xffff. */
static uint16_t sum_of_udp(uint16_t sum)
{
	return sum == 0 ? 0xffff : sum;
}

static bool finish_checksum(const struct virtio_net_hdr *header, uint8_t *bytes, uint32_t length)
{
	uint32_t start = header->csum_start, at = start + header->csum_offset;
	uint16_t sum;

	if (start >= length || at + 2 > length)
		return false;
	sum = sum_fold(sum_add(0, bytes + start, length - start));
	if (header->csum_offset == offsetof(struct rte_udp_hdr, dgram_cksum))
		sum = sum_of_udp(sum);
	put_sum(bytes + at, sum);
	return true;
}

static bool find_parts(struct super_frame *frame, const struct virtio_net_hdr *header)
{
	uint8_t type = header->gso_type & ~VIRTIO_NET_HDR_GSO_ECN;
	struct headers headers;
	uint32_t transport_bytes;

	if (!headers_find(frame->bytes, frame->length, frame->length, &headers) ||
	    headers.transport == 0 || headers.fragment || header->gso_size == 0)
		return false;
	frame->udp = type == VIRTIO_NET_HDR_GSO_UDP_L4;
	frame->ipv6 = headers.ip == 6;
	if (headers.protocol != (frame->udp ? 17 : 6) ||
	    (!frame->udp && frame->ipv6 != (type == VIRTIO_NET_HDR_GSO_TCPV6)))
		return false;
	frame->network = headers.network;
	frame->transport = headers.transport;
	if (frame->udp) {
		transport_bytes = sizeof(struct rte_udp_hdr);
	} else {
		if (headers.transport_here < TCP_BYTES_MIN)
			return false;
		transport_bytes = (uint32_t)(frame->bytes[frame->transport + 12] >> 4) * 4;
		if (transport_bytes < TCP_BYTES_MIN)
			return false;
	}
	frame->payload = frame->transport + transport_bytes;
	frame->part_bytes = header->gso_size;
	return frame->payload < frame->length && frame->payload <= HEADERS_BYTES_MAX;
}

bool super_frame_open(struct super_frame *frame, const struct virtio_net_hdr *header,
                      uint8_t *bytes, uint32_t length)
{
	*frame = (struct super_frame){.bytes = bytes, .length = length, .open = length > 0};
	switch (header->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) {
	case VIRTIO_NET_HDR_GSO_NONE:
		if ((header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) &&
		    !finish_checksum(header, bytes, length))
			frame->open = false;
		break;
	case VIRTIO_NET_HDR_GSO_TCPV4:
	case VIRTIO_NET_HDR_GSO_TCPV6:
	case VIRTIO_NET_HDR_GSO_UDP_L4:
		frame->open = find_parts(frame, header);
		break;
	default:
		frame->open = false;
	}
	return frame->open;
}

static bool append(struct rte_mbuf *head, struct rte_mempool *pool, const uint8_t *bytes,
                   uint32_t n)
{
	struct rte_mbuf *last = rte_pktmbuf_lastseg(head);

	while (n > 0) {
		uint16_t room = rte_pktmbuf_tailroom(last);
		uint16_t here = (uint16_t)RTE_MIN(n, (uint32_t)room);

		memcpy(rte_pktmbuf_mtod_offset(last, uint8_t *, last->data_len), bytes, here);
		last->data_len += here;
		head->pkt_len += here;
		bytes += here;
		n -= here;
		if (n == 0)
			break;
		last->next = rte_pktmbuf_alloc(pool);
		if (!last->next)
			return false;
		last = last->next;
		head->nb_segs++;
	}
	return true;
}

static void head_of_ip(const struct super_frame *frame, uint8_t *head, uint32_t transport_bytes)
{
	uint8_t *ip = head + frame->network;
	uint32_t bytes = frame->transport - frame->network + transport_bytes;

	if (frame->ipv6) {
		headers_put_u16(ip + 4, (uint16_t)(bytes - 40));
		return;
	}
	headers_put_u16(ip + 2, (uint16_t)bytes);
	headers_put_u16(ip + 4, (uint16_t)(headers_u16(ip + 4) + frame->parts));
	put_sum(ip + 10, 0);
	put_sum(ip + 10, sum_fold(sum_add(0, ip, frame->transport - frame->network)));
}

/* Returns the sum of the pseudo header: addresses, protocol, length. */
static uint32_t sum_of_addresses(const struct super_frame *frame, const uint8_t *head,
                                 uint32_t transport_bytes)
{
	const uint8_t *ip = head + frame->network;
	uint32_t sum = frame->ipv6 ? sum_add(0, ip + 8, 32) : sum_add(0, ip + 12, 8);

	return sum + rte_cpu_to_be_16(frame->udp ? 17 : 6) +
	       rte_cpu_to_be_16((uint16_t)transport_bytes);
}

static void head_of_transport(const struct super_frame *frame, uint8_t *head, uint32_t n)
{
	uint8_t *transport = head + frame->transport;
	uint32_t header_bytes = frame->payload - frame->transport, sum;
	uint32_t at = frame->udp ? 6 : 16;

	if (frame->udp) {
		headers_put_u16(transport + 4, (uint16_t)(header_bytes + n));
	} else {
		headers_put_u32(transport + 4, headers_u32(transport + 4) + frame->taken);
		if (frame->payload + frame->taken + n < frame->length)
			transport[TCP_FLAGS] &= (uint8_t)~TCP_FIN_PSH;
		if (frame->taken > 0)
			transport[TCP_FLAGS] &= (uint8_t)~TCP_CWR;
	}
	put_sum(transport + at, 0);
	sum = sum_of_addresses(frame, head, header_bytes + n);
	sum = sum_add(sum, transport, header_bytes);
	sum = sum_add(sum, frame->bytes + frame->payload + frame->taken, n);
	put_sum(transport + at, frame->udp ? sum_of_udp(sum_fold(sum)) : sum_fold(sum));
}

struct rte_mbuf *super_frame_take(struct super_frame *frame, struct rte_mempool *pool)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	uint8_t head[HEADERS_BYTES_MAX];
	uint32_t n = frame->length - frame->payload - frame->taken;
	bool whole;

	if (!mbuf)
		return NULL;
	if (frame->part_bytes == 0) {
		whole = append(mbuf, pool, frame->bytes, frame->length);
	} else {
		n = RTE_MIN(n, frame->part_bytes);
		memcpy(head, frame->bytes, frame->payload);
		head_of_ip(frame, head, frame->payload - frame->transport + n);
		head_of_transport(frame, head, n);
		whole = append(mbuf, pool, head, frame->payload) &&
		        append(mbuf, pool, frame->bytes + frame->payload + frame->taken, n);
	}
	if (!whole) {
		rte_pktmbuf_free(mbuf);
		return NULL;
	}
	frame->taken += n;
	frame->parts++;
	frame->open = frame->part_bytes > 0 && frame->payload + frame->taken < frame->length;
	return mbuf;
}

uint32_t super_frame_left(const struct super_frame *frame)
{
	if (!frame->open)
		return 0;
	if (frame->part_bytes == 0)
		return 1;
	return (frame->length - frame->payload - frame->taken + frame->part_bytes - 1) /
	       frame->part_bytes;
}
