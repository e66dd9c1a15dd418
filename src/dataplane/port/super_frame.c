/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/super_frame.h"

#include <string.h>

#include <rte_ip.h>

#include "packet/headers.h"

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4 /* defined since Linux 6.2 */
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define TCP        6
#define UDP        17
#define ACK        0x10
#define PSH        0x08
#define ECE        0x40
#define BYTES_MAX  65535 /* of an IP packet */
#define UDP_BYTES  8
#define TCP_FLAGS  13
#define SUM_OF_TCP 16
#define SUM_OF_UDP 6

/* A frame that can be the first of a joined frame, or one behind it. */
struct segment {
	const uint8_t *frame;
	uint32_t network, transport, payload, end; /* offsets */
	uint8_t flags;                             /* of TCP */
	bool ipv6, udp;
};

/* Only tunnels are worth it: they hold many packets of a flow. VXLAN (also as Linux had it first),
 * Geneve, GUE. */
static bool is_tunnel(uint16_t port)
{
	return port == 4789 || port == 8472 || port == 6081 || port == 6080;
}

static uint32_t payload_bytes(const struct segment *segment)
{
	return segment->end - segment->payload;
}

static uint16_t fold(uint32_t sum)
{
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)((sum >> 16) + (sum & 0xffff));
}

static uint32_t sum_of_pseudo(const struct segment *segment, uint32_t bytes)
{
	const uint8_t *ip = segment->frame + segment->network;

	return (uint32_t)(segment->ipv6 ? rte_raw_cksum(ip + 8, 32) : rte_raw_cksum(ip + 12, 8)) +
	       rte_cpu_to_be_16(segment->udp ? UDP : TCP) + rte_cpu_to_be_16((uint16_t)bytes);
}

static bool sums_are_right(const struct segment *segment)
{
	const uint8_t *ip = segment->frame + segment->network;
	uint32_t bytes = segment->end - segment->transport;

	if (!segment->ipv6 && rte_raw_cksum(ip, segment->transport - segment->network) != 0xffff)
		return false;
	return fold(sum_of_pseudo(segment, bytes) +
	            rte_raw_cksum(segment->frame + segment->transport, bytes)) == 0xffff;
}

static bool read_tcp(const uint8_t *tcp, struct segment *segment)
{
	segment->payload = segment->transport + (uint32_t)(tcp[12] >> 4) * 4;
	segment->flags = tcp[TCP_FLAGS];
	return (segment->flags & ~(PSH | ECE)) == ACK && tcp[12] >> 4 >= 5;
}

static bool read_udp(const uint8_t *udp, struct segment *segment)
{
	segment->udp = true;
	segment->payload = segment->transport + UDP_BYTES;
	return is_tunnel(headers_u16(udp + 2)) &&
	       headers_u16(udp + 4) == segment->end - segment->transport &&
	       headers_u16(udp + SUM_OF_UDP) != 0;
}

/* Returns true if a kernel changes the headers when it cuts: it takes out a length above 64 KiB. */
static bool has_jumbo(const uint8_t *ip)
{
	return ip[6] == 0 && ip[42] == 0xc2;
}

static bool segment_read(const struct rte_mbuf *mbuf, struct segment *segment)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	struct headers headers;

	if (mbuf->nb_segs != 1 || !headers_find(frame, mbuf->data_len, mbuf->data_len, &headers) ||
	    (headers.protocol != TCP && headers.protocol != UDP) || headers.fragment ||
	    headers.transport == 0 ||
	    headers.transport_here < (headers.protocol == TCP ? 20u : UDP_BYTES) ||
	    headers.network + headers.network_bytes != mbuf->data_len)
		return false;
	*segment = (struct segment){.frame = frame,
	                            .network = headers.network,
	                            .transport = headers.transport,
	                            .end = mbuf->data_len,
	                            .ipv6 = headers.ip == 6};
	return (headers.protocol == TCP ? read_tcp(frame + headers.transport, segment)
	                                : read_udp(frame + headers.transport, segment)) &&
	       segment->payload < segment->end && segment->payload <= JOINED_HEAD_MAX &&
	       (segment->ipv6 ? !has_jumbo(frame + headers.network)
	                      : (headers_u16(frame + headers.network + 6) & 0xbfff) == 0);
}

/* Returns true if the headers equal those of `first`, apart from lengths and from what counts
 * up. */
static bool alike(const struct segment *first, const struct segment *next, uint16_t place)
{
	const uint8_t *a = first->frame, *b = next->frame;
	uint32_t ip = first->network, tcp = first->transport; /* or UDP */

	if (next->network != ip || next->transport != tcp || next->payload != first->payload ||
	    next->ipv6 != first->ipv6 || next->udp != first->udp ||
	    ((next->flags ^ first->flags) & ~PSH) != 0)
		return false;
	if (first->ipv6) {
		if (memcmp(a, b, ip + 4) != 0 || memcmp(a + ip + 6, b + ip + 6, tcp - ip - 6) != 0)
			return false;
	} else if (memcmp(a, b, ip + 2) != 0 || memcmp(a + ip + 6, b + ip + 6, 4) != 0 ||
	           memcmp(a + ip + 12, b + ip + 12, tcp - ip - 12) != 0 ||
	           headers_u16(b + ip + 4) != (uint16_t)(headers_u16(a + ip + 4) + place)) {
		return false;
	}
	if (first->udp)
		return memcmp(a + tcp, b + tcp, 4) == 0;
	/* Ports; acknowledgement and length of the header; window; urgent pointer and options. */
	return memcmp(a + tcp, b + tcp, 4) == 0 && memcmp(a + tcp + 8, b + tcp + 8, 5) == 0 &&
	       memcmp(a + tcp + 14, b + tcp + 14, 2) == 0 &&
	       memcmp(a + tcp + 18, b + tcp + 18, first->payload - tcp - 18) == 0;
}

static void part_add(struct joined_frame *joined, const void *at, uint32_t bytes)
{
	joined->parts[joined->n_parts++] =
	        (struct iovec){.iov_base = (void *)(uintptr_t)at, .iov_len = bytes};
	joined->bytes += bytes;
}

/* Adds one frame as it is. */
static uint16_t alone(struct joined_frame *joined, const struct rte_mbuf *mbuf)
{
	for (; mbuf; mbuf = mbuf->next) {
		if (joined->n_parts == JOINED_PARTS_MAX)
			return 0;
		part_add(joined, rte_pktmbuf_mtod(mbuf, const void *), mbuf->data_len);
	}
	return 1;
}

/* Writes the headers of the joined frame. The kernel computes its checksum, or cuts it and computes
 * the checksums of the frames. */
static void head_make(struct joined_frame *joined, const struct segment *first, uint8_t flags)
{
	uint8_t *head = joined->head, *ip = head + first->network;
	uint8_t *transport = head + first->transport;
	uint32_t ip_bytes = joined->bytes - first->network;
	uint32_t bytes = joined->bytes - first->transport;
	uint16_t sum_at = first->udp ? SUM_OF_UDP : SUM_OF_TCP, sum;

	if (first->ipv6) {
		headers_put_u16(ip + 4, (uint16_t)(ip_bytes - 40));
	} else {
		headers_put_u16(ip + 2, (uint16_t)ip_bytes);
		memset(ip + 10, 0, 2);
		sum = (uint16_t)~rte_raw_cksum(ip, first->transport - first->network);
		memcpy(ip + 10, &sum, 2);
	}
	if (first->udp)
		headers_put_u16(transport + 4, (uint16_t)bytes);
	else
		transport[TCP_FLAGS] = flags;
	sum = fold(sum_of_pseudo(first, bytes));
	memcpy(transport + sum_at, &sum, 2);
	joined->header =
	        (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
	                                .gso_type = first->udp    ? VIRTIO_NET_HDR_GSO_UDP_L4
	                                            : first->ipv6 ? VIRTIO_NET_HDR_GSO_TCPV6
	                                                          : VIRTIO_NET_HDR_GSO_TCPV4,
	                                .hdr_len = (uint16_t)first->payload,
	                                .gso_size = (uint16_t)payload_bytes(first),
	                                .csum_start = (uint16_t)first->transport,
	                                .csum_offset = sum_at};
}

/* Returns where TCP's next segment begins. */
static uint32_t seq_behind(const struct segment *segment)
{
	return headers_u32(segment->frame + segment->transport + 4) + payload_bytes(segment);
}

uint16_t joined_frame_make(struct joined_frame *joined, struct rte_mbuf *const *mbufs, uint16_t n,
                           bool udp)
{
	struct segment first, last, next;
	uint16_t k = 1;

	joined->header = (struct virtio_net_hdr){0};
	joined->bytes = 0;
	joined->n_parts = 0;
	joined->udp = false;
	part_add(joined, &joined->header, sizeof(joined->header));
	joined->bytes = 0;
	n = RTE_MIN(n, JOINED_FRAMES_MAX);
	if (n == 1 || !segment_read(mbufs[0], &first) || !segment_read(mbufs[1], &next) ||
	    (first.udp && !udp) || !alike(&first, &next, 1) || !sums_are_right(&first))
		return alone(joined, mbufs[0]);
	memcpy(joined->head, first.frame, first.payload);
	part_add(joined, joined->head, first.payload);
	part_add(joined, first.frame + first.payload, payload_bytes(&first));
	for (last = first;
	     k < n && payload_bytes(&last) == payload_bytes(&first) && !(last.flags & PSH); k++) {
		if (!segment_read(mbufs[k], &next) || !alike(&first, &next, k) ||
		    (!next.udp &&
		     seq_behind(&last) != headers_u32(next.frame + next.transport + 4)) ||
		    payload_bytes(&next) > payload_bytes(&first) ||
		    joined->bytes - first.network + payload_bytes(&next) > BYTES_MAX ||
		    !sums_are_right(&next))
			break;
		part_add(joined, next.frame + next.payload, payload_bytes(&next));
		last = next;
	}
	if (k > 1) {
		head_make(joined, &first, last.flags);
		joined->udp = first.udp;
	}
	return k;
}

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
