/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/super_frame.h"

#include <string.h>

#include <rte_ip.h>

#include "packet/headers.h"

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4 /* defined since Linux 6.2 */
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif
#define GSO_ACCECN 0x10 /* proposed to OASIS: CWR stays, as it does without GSO_ECN */
#define GSO_FLAGS  (VIRTIO_NET_HDR_GSO_ECN | GSO_ACCECN)

#define TCP_FLAGS   13
#define TCP_FIN_PSH 0x09
#define TCP_CWR     0x80
#define UDP_SUM     6
#define SCTP_SUM    8 /* no other protocol has its checksum there */
/* Ethernet, tags, and two IPv6 headers with extensions. A super-frame with longer headers is
 * refused. */
#define HEADERS_BYTES_MAX 512

#define HOP_BY_HOP   0
#define IPV6_BYTES   40
#define JUMBO_BYTES  8
#define OPTION_JUMBO 0xc2
#define CRC32C_BEGIN 0xffffffff

/* RFC 9260, appendix A, by half bytes: SCTP that leaves this to a device is rare. */
static uint32_t crc32c(const uint8_t *bytes, uint32_t n)
{
	static const uint32_t of_half[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
	                                     0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	                                     0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	                                     0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
	uint32_t crc = CRC32C_BEGIN;

	while (n-- > 0) {
		crc ^= *bytes++;
		crc = crc >> 4 ^ of_half[crc & 15];
		crc = crc >> 4 ^ of_half[crc & 15];
	}
	return ~crc;
}

static bool finish_checksum(const struct virtio_net_hdr *header, uint8_t *bytes, uint32_t length)
{
	uint32_t start = header->csum_start, at = start + header->csum_offset, crc;
	uint16_t sum;

	if (start >= length || at + (header->csum_offset == SCTP_SUM ? 4 : 2) > length)
		return false;
	if (header->csum_offset == SCTP_SUM) {
		memset(bytes + at, 0, sizeof(crc));
		crc = rte_cpu_to_le_32(crc32c(bytes + start, length - start));
		memcpy(bytes + at, &crc, sizeof(crc));
		return true;
	}
	sum = (uint16_t)~rte_raw_cksum(bytes + start, length - start);
	if (header->csum_offset == UDP_SUM && sum == 0)
		sum = 0xffff; /* 0 means that there is none (RFC 768) */
	memcpy(bytes + at, &sum, sizeof(sum));
	return true;
}

/* Takes out the hop-by-hop header of the IPv6 header at `ip`, if a length above 64 KiB is all that
 * is in it: the headers move behind it. */
static void take_out_jumbo(struct super_frame *frame, uint32_t ip)
{
	uint8_t *bytes = frame->bytes, *option = bytes + ip + IPV6_BYTES;

	if (bytes[ip + 6] != HOP_BY_HOP || option[1] != 0 || option[2] != OPTION_JUMBO ||
	    option[3] != 4)
		return;
	bytes[ip + 6] = option[0];
	memmove(bytes + JUMBO_BYTES, bytes, ip + IPV6_BYTES);
	frame->bytes += JUMBO_BYTES;
	frame->length -= JUMBO_BYTES;
	frame->layers.payload -= JUMBO_BYTES;
	frame->layers.layer[frame->layers.n - 1].at -= JUMBO_BYTES;
}

static bool find_parts(struct super_frame *frame, const struct virtio_net_hdr *header, uint8_t type)
{
	uint32_t transport = header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM ? header->csum_start : 0;
	struct layers *layers = &frame->layers;
	const struct layer *ip;

	frame->tcp = type != VIRTIO_NET_HDR_GSO_UDP_L4;
	if (header->gso_size == 0 || !layers_find(layers, frame->bytes, frame->length,
	                                          frame->tcp ? LAYERS_TCP : LAYERS_UDP, transport))
		return false;
	ip = layers_ip(layers);
	if (frame->tcp && (ip->kind == LAYER_IPV6) != (type == VIRTIO_NET_HDR_GSO_TCPV6))
		return false;
	if (layers->payload >= frame->length || layers->payload > HEADERS_BYTES_MAX)
		return false;
	frame->part_bytes = header->gso_size;
	frame->keeps_cwr = !(header->gso_type & VIRTIO_NET_HDR_GSO_ECN);
	if (ip->kind == LAYER_IPV6)
		take_out_jumbo(frame, ip->at);
	return true;
}

bool super_frame_open(struct super_frame *frame, const struct virtio_net_hdr *header,
                      uint8_t *bytes, uint32_t length)
{
	uint8_t type = header->gso_type & (uint8_t)~GSO_FLAGS;

	*frame = (struct super_frame){.bytes = bytes, .length = length, .open = length > 0};
	switch (type) {
	case VIRTIO_NET_HDR_GSO_NONE:
		if ((header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) &&
		    !finish_checksum(header, bytes, length))
			frame->open = false;
		break;
	case VIRTIO_NET_HDR_GSO_TCPV4:
	case VIRTIO_NET_HDR_GSO_TCPV6:
	case VIRTIO_NET_HDR_GSO_UDP_L4:
		frame->open = find_parts(frame, header, type);
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

struct rte_mbuf *super_frame_take(struct super_frame *frame, struct rte_mempool *pool)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	uint32_t payload = frame->layers.payload;
	uint32_t n = frame->length - payload - frame->taken;
	uint8_t head[HEADERS_BYTES_MAX];
	bool whole;

	if (!mbuf)
		return NULL;
	if (frame->part_bytes == 0) {
		whole = append(mbuf, pool, frame->bytes, frame->length);
	} else {
		n = RTE_MIN(n, frame->part_bytes);
		/* Writes the headers of the next frame, with n bytes of payload. */
		const struct layers *layers = &frame->layers;
		uint8_t *tcp = head + layers_transport(layers)->at;

		memcpy(head, frame->bytes, layers->payload);
		if (frame->tcp) {
			headers_put_u32(tcp + 4, headers_u32(tcp + 4) + frame->taken);
			if (layers->payload + frame->taken + n < frame->length)
				tcp[TCP_FLAGS] &= (uint8_t)~TCP_FIN_PSH;
			if (frame->taken > 0 && !frame->keeps_cwr)
				tcp[TCP_FLAGS] &= (uint8_t)~TCP_CWR;
		}
		layers_finish(layers, head, n,
		              rte_raw_cksum(frame->bytes + layers->payload + frame->taken, n),
		              frame->parts);
		whole = append(mbuf, pool, head, payload) &&
		        append(mbuf, pool, frame->bytes + payload + frame->taken, n);
	}
	if (!whole) {
		rte_pktmbuf_free(mbuf);
		return NULL;
	}
	frame->taken += n;
	frame->parts++;
	frame->open = frame->part_bytes > 0 && payload + frame->taken < frame->length;
	return mbuf;
}

uint32_t super_frame_left(const struct super_frame *frame)
{
	if (!frame->open)
		return 0;
	if (frame->part_bytes == 0)
		return 1;
	return (frame->length - frame->layers.payload - frame->taken + frame->part_bytes - 1) /
	       frame->part_bytes;
}
