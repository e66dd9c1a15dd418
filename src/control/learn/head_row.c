/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/head_row.h"

#include <netinet/in.h>

#include "packet/headers.h"

#define OPTION_END    0
#define OPTION_NONE   1
#define OPTION_BLOCKS 5
#define OPTION_STAMPS 8

#define QUIC_LONG  0x80
#define QUIC_FIXED 0x40
#define QUIC_SPIN  0x20

static void take_blocks(struct head_row *row, const uint8_t *option, uint32_t bytes)
{
	for (uint32_t at = 2; at + 8 <= bytes && row->n_blocks < HEAD_BLOCKS; at += 8) {
		uint32_t *block = row->blocks[row->n_blocks++];

		block[0] = headers_u32(option + at);
		block[1] = headers_u32(option + at + 4);
	}
}

static void take_options(struct head_row *row, const uint8_t *options, uint32_t bytes)
{
	for (uint32_t at = 0; at + 2 <= bytes && options[at] != OPTION_END;) {
		const uint8_t kind = options[at], length = options[at + 1];

		if (kind == OPTION_NONE) {
			at++;
			continue;
		}
		if (length < 2 || at + length > bytes)
			return;
		if (kind == OPTION_STAMPS && length == 10) {
			row->what |= HEAD_STAMPS;
			row->stamp = headers_u32(options + at + 2);
			row->echo = headers_u32(options + at + 6);
		}
		if (kind == OPTION_BLOCKS)
			take_blocks(row, options + at, length);
		at += length;
	}
}

static void take_tcp(struct head_row *row, const struct packet_mark *mark, const uint8_t *tcp,
                     uint32_t here)
{
	const uint32_t header = (tcp[12] >> 4) * 4u;

	row->what |= HEAD_TCP;
	row->flags = mark->flags;
	row->sequence = mark->sequence;
	row->acked = headers_u32(tcp + 8);
	row->payload_bytes = mark->payload_bytes;
	if (header >= 20)
		take_options(row, tcp + 20, RTE_MIN(header, here) - 20);
}

static void take_udp(struct head_row *row, const struct headers *headers, const uint8_t *udp)
{
	const uint8_t first = headers->transport_here > 8 ? udp[8] : 0;

	row->what |= HEAD_UDP;
	row->payload_bytes = headers->transport_bytes - 8;
	if (first & QUIC_LONG && headers->transport_here >= 13 && headers_u32(udp + 9) != 0)
		row->what |= HEAD_QUIC_LONG;
	else if ((first & (QUIC_LONG | QUIC_FIXED)) == QUIC_FIXED)
		row->what |= HEAD_QUIC_SHORT | (first & QUIC_SPIN ? HEAD_SPIN : 0);
}

void head_row_make(struct head_row *row, struct packet_ends *ends, uint64_t *digest,
                   const struct capture_frame *frame)
{
	struct packet_mark mark;
	struct headers headers;

	packet_mark_make(&mark, ends, frame);
	*digest = mark.addresses;
	*row = (struct head_row){.t_ns = (int64_t)frame->t_ns, .wire_bytes = frame->wire_bytes};
	if (mark.damaged)
		row->what |= HEAD_DAMAGED;
	if (mark.fragment ||
	    !headers_find(frame->data, frame->bytes, frame->wire_bytes, &headers) ||
	    headers.transport == 0)
		return;
	if (headers.protocol == IPPROTO_TCP && headers.transport_here >= 20)
		take_tcp(row, &mark, frame->data + headers.transport, headers.transport_here);
	if (headers.protocol == IPPROTO_UDP && headers.transport_here >= 8)
		take_udp(row, &headers, frame->data + headers.transport);
}
