/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/before.h"

#include <netinet/in.h>
#include <string.h>

#include "packet/headers.h"

#define TCP_BYTES  20
#define UDP_BYTES  8
#define FLAG_FIN   0x01
#define FLAG_SYN   0x02
#define FLAG_RST   0x04
#define FLAG_ACK   0x10
#define SCALE_MOST 14

#define OPTION_END   0
#define OPTION_NOP   1
#define OPTION_SCALE 3

static void read_ends(const uint8_t *frame, const struct headers *headers, struct segment *segment)
{
	const uint8_t *ip = frame + headers->network;
	const uint32_t bytes = headers->ip == 4 ? 4 : 16, at = headers->ip == 4 ? 12 : 8;

	memcpy(segment->from.address, ip + at, bytes);
	memcpy(segment->to.address, ip + at + bytes, bytes);
	segment->from.family = segment->to.family = headers->ip;
	segment->from.port = headers_u16(frame + headers->transport);
	segment->to.port = headers_u16(frame + headers->transport + 2);
}

static uint8_t read_scale(const uint8_t *options, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes && options[at] != OPTION_END;) {
		if (options[at] == OPTION_NOP) {
			at++;
			continue;
		}
		if (at + 2 >= bytes || options[at + 1] < 2)
			break;
		if (options[at] == OPTION_SCALE && options[at + 1] == 3)
			return options[at + 2] < SCALE_MOST ? options[at + 2] : SCALE_MOST;
		at += options[at + 1];
	}
	return SEGMENT_SCALE_UNKNOWN;
}

static bool read_tcp(const uint8_t *tcp, const struct headers *headers, struct segment *segment)
{
	uint32_t head;
	uint8_t flags;

	if (headers->transport_here < TCP_BYTES)
		return false;
	head = (uint32_t)(tcp[12] >> 4) * 4;
	if (head < TCP_BYTES || head > headers->transport_bytes)
		return false;
	flags = tcp[13];
	segment->sequence = headers_u32(tcp + 4);
	segment->ack = headers_u32(tcp + 8);
	segment->acknowledges = flags & FLAG_ACK;
	segment->window = headers_u16(tcp + 14);
	segment->bytes = headers->transport_bytes - head;
	segment->here = headers->transport_here > head ? headers->transport_here - head : 0;
	segment->data = tcp + head;
	if (flags & FLAG_SYN && head <= headers->transport_here)
		segment->scale = read_scale(tcp + TCP_BYTES, head - TCP_BYTES);
	segment->marks = (uint16_t)((flags & FLAG_SYN ? PASSAGE_SYN | PASSAGE_DATA : 0) |
	                            (flags & FLAG_FIN ? PASSAGE_FIN | PASSAGE_DATA : 0) |
	                            (flags & FLAG_RST ? PASSAGE_RST : 0));
	return true;
}

bool segment_read(const struct fate_frame *frame, uint32_t wire_bytes, struct segment *segment)
{
	struct headers headers;

	*segment = (struct segment){.scale = SEGMENT_SCALE_UNKNOWN};
	if (frame->bytes == 0)
		return false;
	if (!headers_find(frame->data, frame->bytes, wire_bytes, &headers) ||
	    headers.protocol == IPPROTO_ICMPV6)
		return neighbour_read(frame->data, &headers, frame->bytes, segment);
	if (headers.fragment || headers.transport == 0 || headers.transport_here < UDP_BYTES)
		return false;
	segment->protocol = headers.protocol;
	if (segment->protocol != IPPROTO_TCP && segment->protocol != IPPROTO_UDP)
		return false;
	read_ends(frame->data, &headers, segment);
	if (segment->protocol == IPPROTO_TCP)
		return read_tcp(frame->data + headers.transport, &headers, segment);
	segment->data = frame->data + headers.transport + UDP_BYTES;
	segment->bytes = headers.transport_bytes - UDP_BYTES;
	segment->here = headers.transport_here - UDP_BYTES;
	segment->marks = 0;
	return true;
}

bool segment_is_answer(const struct segment *segment)
{
	if (segment->protocol == NEIGHBOUR_PROTOCOL ||
	    (segment->protocol == IPPROTO_TCP && segment->marks & PASSAGE_SYN))
		return segment->acknowledges;
	return segment->from.port < 1024 && segment->to.port >= 1024;
}

struct passage segment_passage(const struct segment *segment, const struct fate *fate)
{
	const bool tcp = segment->protocol == IPPROTO_TCP;

	return (struct passage){
	        .sent_ns = fate->at_ns,
	        .packet = fate->packet,
	        .bytes = segment->bytes + (segment->marks & PASSAGE_SYN ? 1 : 0) +
	                 (segment->marks & PASSAGE_FIN ? 1 : 0),
	        .ack = segment->ack,
	        .window = tcp ? segment->window : UINT32_MAX,
	        .port = (uint8_t)fate->port,
	        .marks = segment->marks,
	};
}

void segment_scale(const struct segment *segment, uint8_t *scale, uint32_t *window)
{
	if (segment->protocol != IPPROTO_TCP)
		return;
	if (segment->marks & PASSAGE_SYN)
		*scale =
		        segment->scale == SEGMENT_SCALE_UNKNOWN ? 0 : (uint8_t)(segment->scale + 1);
	else if (*scale > 0)
		*window <<= *scale - 1;
}
