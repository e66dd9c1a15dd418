/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/packet_mark.h"

#include <netinet/in.h>
#include <string.h>

#include "packet/checksum.h"
#include "packet/digest.h"
#include "packet/headers.h"

#define TCP_FIN           0x01
#define TCP_SYN           0x02
#define TCP_PSH           0x08
#define ICMP_ECHO_ANSWER  0
#define ICMP_ECHO         8
#define ICMP6_ECHO        128
#define ICMP6_ECHO_ANSWER 129

/* The one's complement sum of 16-bit words, in the order of the bytes. */
static uint64_t sum_words(const uint8_t *data, uint32_t bytes)
{
	uint64_t sum = 0;

	for (; bytes >= 4; data += 4, bytes -= 4) {
		uint32_t word;

		memcpy(&word, data, sizeof(word));
		sum += word;
	}
	if (bytes > 0) {
		uint32_t last = 0;

		memcpy(&last, data, bytes);
		sum += last;
	}
	return sum;
}

/* A sum that includes its checksum is right if it folds to all ones, in any order of bytes. */
static bool sum_right(uint64_t sum)
{
	return checksum_fold(sum) == 0xffff;
}

static bool transport_damaged(const uint8_t *data, const struct headers *headers)
{
	const uint8_t *transport = data + headers->transport;
	const uint8_t *addresses = data + headers->network + (headers->ip == 4 ? 12 : 8);
	uint64_t sum = sum_words(transport, headers->transport_bytes);

	switch (headers->protocol) {
	case IPPROTO_ICMP:
		return headers->ip == 4 && headers->transport_bytes >= 8 && !sum_right(sum);
	case IPPROTO_UDP:
		if (headers->transport_bytes < 8)
			return true;
		if (headers_u16(transport + 6) == 0)
			return headers->ip == 6;
		break;
	case IPPROTO_TCP:
		if (headers->transport_bytes < 20)
			return true;
		break;
	case IPPROTO_ICMPV6:
		break;
	default:
		return false;
	}
	sum += sum_words(addresses, headers->ip == 4 ? 8 : 32);
	sum += rte_cpu_to_be_16((uint16_t)headers->transport_bytes);
	sum += rte_cpu_to_be_16(headers->protocol);
	return !sum_right(sum);
}

/* Returns true if the packet has a UDP length of its own that differs from that of IP: then its
 * checksum covers something else. */
static bool udp_shorter(const uint8_t *data, const struct headers *headers)
{
	return headers->protocol == IPPROTO_UDP && headers->transport_bytes >= 8 &&
	       headers_u16(data + headers->transport + 4) != headers->transport_bytes;
}

static bool more_fragments(const uint8_t *data, const struct headers *headers)
{
	return headers->ip == 4 && (headers_u16(data + headers->network + 6) & 0x2000);
}

static bool damaged(const struct capture_frame *frame, const struct headers *headers)
{
	const uint8_t *ip = frame->data + headers->network;

	if (headers->network + headers->network_bytes > frame->bytes)
		return frame->bytes == frame->wire_bytes;
	if (headers->ip == 4 && !sum_right(sum_words(ip, (ip[0] & 0x0fu) * 4)))
		return true;
	if (headers->transport == 0 || more_fragments(frame->data, headers) ||
	    headers->transport + headers->transport_bytes > frame->bytes)
		return false;
	if (udp_shorter(frame->data, headers))
		return true;
	return transport_damaged(frame->data, headers);
}

/* ---- the parts ---- */

static uint32_t tcp_header_bytes(const uint8_t *tcp, uint32_t here)
{
	const uint32_t bytes = (tcp[12] >> 4) * 4u;

	return bytes < 20 || bytes > here ? 20 : bytes;
}

/* Adds the transport header, and returns its length. `here`: its bytes that are present. */
static uint32_t mark_transport(struct packet_mark *mark, struct packet_ends *ends,
                               const uint8_t *transport, uint32_t here)
{
	const bool ports = ends->protocol == IPPROTO_TCP || ends->protocol == IPPROTO_UDP ||
	                   ends->protocol == IPPROTO_SCTP;

	if (ports && here >= 4) {
		ends->port[0] = headers_u16(transport);
		ends->port[1] = headers_u16(transport + 2);
	}
	if (ends->protocol == IPPROTO_TCP && here >= 20) {
		const uint32_t header = tcp_header_bytes(transport, here);
		const bool syn = transport[13] & TCP_SYN;

		mark->sequence = headers_u32(transport + 4);
		mark->flags = transport[13];
		/* The acknowledged number, and the window; then what is behind the checksum. */
		mark->body = digest_bytes(mark->body, transport + 8, 4);
		mark->body = digest_bytes(mark->body, transport + 14, 2);
		mark->body = digest_bytes(mark->body, transport + 18, syn ? 2 : header - 18);
		return header;
	}
	if (ends->protocol == IPPROTO_UDP && here >= 8)
		return 8;
	if ((ends->protocol == IPPROTO_ICMP || ends->protocol == IPPROTO_ICMPV6) && here >= 8) {
		const uint8_t type = transport[0];

		mark->body = digest_bytes(mark->body, transport, 2);
		if (type == ICMP_ECHO || type == ICMP_ECHO_ANSWER || type == ICMP6_ECHO ||
		    type == ICMP6_ECHO_ANSWER) {
			ends->port[0] = headers_u16(transport + 4);
			mark->body = digest_bytes(mark->body, transport + 6, 2);
			return 8;
		}
		return 4;
	}
	return ports && here >= 4 ? 4 : 0;
}

static void mark_ip(struct packet_mark *mark, struct packet_ends *ends,
                    const struct capture_frame *frame, const struct headers *headers)
{
	const uint8_t *ip = frame->data + headers->network;
	const uint32_t address_bytes = headers->ip == 4 ? 4 : 16;
	const uint8_t *addresses = ip + (headers->ip == 4 ? 12 : 8);
	const uint32_t end = RTE_MIN(headers->network + headers->network_bytes, frame->bytes);
	uint32_t payload = headers->transport;

	ends->ip = headers->ip;
	ends->protocol = headers->protocol;
	memcpy(ends->address[0], addresses, address_bytes);
	memcpy(ends->address[1], addresses + address_bytes, address_bytes);
	mark->network_bytes = headers->network_bytes;
	mark->body = digest_add(mark->body, (uint64_t)headers->ip << 8 | headers->protocol);
	if (headers->ip == 4) {
		mark->id = headers_u16(ip + 4);
		mark->ecn = ip[1] & 3;
		mark->fragment = headers->fragment || more_fragments(frame->data, headers);
		mark->body = digest_add(mark->body, headers_u16(ip + 6) & 0x3fff);
	} else {
		mark->ecn = ip[1] >> 4 & 3;
	}
	if (payload > 0)
		payload += mark_transport(mark, ends, frame->data + payload,
		                          RTE_MIN(headers->transport_here, end - payload));
	else
		payload = headers->network + (headers->ip == 4 ? (ip[0] & 0x0fu) * 4 : 40);
	if (mark->flags != 0 && payload < headers->network + headers->network_bytes) {
		const uint32_t head = payload - headers->network;

		mark->payload_bytes = headers->network_bytes - head;
		if (headers->network_bytes > PACKET_MARK_MTU && head < PACKET_MARK_MTU)
			mark->segment = (uint16_t)(PACKET_MARK_MTU - head);
	}
	if (payload < end)
		mark->payload = digest_bytes(mark->payload, frame->data + payload,
		                             RTE_MIN(end - payload, PACKET_MARK_PAYLOAD));
	mark->addresses = digest_bytes(DIGEST_FACTOR, (const uint8_t *)ends, sizeof(*ends));
}

void packet_mark_make(struct packet_mark *mark, struct packet_ends *ends,
                      const struct capture_frame *frame)
{
	struct headers headers;

	*mark = (struct packet_mark){.t_ns = frame->t_ns, .wire_bytes = frame->wire_bytes};
	*ends = (struct packet_ends){.ip = 0};
	if (headers_find(frame->data, frame->bytes, frame->wire_bytes, &headers)) {
		mark_ip(mark, ends, frame, &headers);
		mark->damaged = damaged(frame, &headers);
		return;
	}
	/* An IP header that contradicts itself is one that was damaged. */
	mark->damaged = (headers.ethertype == 0x0800 || headers.ethertype == 0x86dd) &&
	                frame->bytes == frame->wire_bytes;
	if (frame->bytes > 12)
		mark->body = digest_bytes(1, frame->data + 12,
		                          RTE_MIN(frame->bytes - 12, 2 * PACKET_MARK_PAYLOAD));
}

void packet_mark_part(struct packet_mark *part, const struct packet_mark *super, uint32_t at)
{
	const uint32_t left = super->payload_bytes - at;
	const uint32_t bytes = RTE_MIN(left, super->segment);
	const uint32_t less = super->payload_bytes - bytes;

	*part = *super;
	part->payload_bytes = bytes;
	part->wire_bytes -= RTE_MIN(less, part->wire_bytes);
	part->network_bytes -= less;
	part->sequence += at;
	part->id = (part->id + at / super->segment) & 0xffff;
	part->segment = 0;
	if (bytes < left)
		part->flags &= (uint8_t) ~(TCP_PSH | TCP_FIN);
}

uint64_t packet_mark_key(const struct packet_mark *mark, uint32_t parts)
{
	uint64_t key = digest_add(mark->body, (uint64_t)mark->network_bytes << 32 | mark->sequence);

	key = digest_add(key, mark->flags);
	if (parts & MARK_PAYLOAD && !(parts & MARK_CUT && mark->flags != 0))
		key = digest_add(key, mark->payload);
	if (parts & MARK_ID)
		key = digest_add(key, mark->id);
	if (parts & MARK_ADDRESSES)
		key = digest_add(key, mark->addresses);
	return key ^ key >> 32;
}
