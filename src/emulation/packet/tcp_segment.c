/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet/tcp_segment.h"

#include <string.h>

#define PROTOCOL_TCP 6
#define TCP_BYTES    20
#define TCP_SYN      0x02

_Static_assert(sizeof(struct tcp_flow_name) == 48, "compared as bytes");

static void name_flow(const uint8_t *frame, const struct headers *headers,
                      struct tcp_flow_name *flow)
{
	const uint8_t *ip = frame + headers->network, *tcp = frame + headers->transport;

	memset(flow, 0, sizeof(*flow));
	if (headers->ip == 4) {
		memcpy(flow->source, ip + 12, 4);
		memcpy(flow->target, ip + 16, 4);
	} else {
		memcpy(flow->source, ip + 8, 16);
		memcpy(flow->target, ip + 24, 16);
	}
	memcpy(&flow->source_port, tcp, 2);
	memcpy(&flow->target_port, tcp + 2, 2);
	memcpy(flow->tag, headers->tag, sizeof(flow->tag));
	flow->ip = headers->ip;
	flow->n_tags = headers->n_tags;
}

bool tcp_segment_find(struct burst *burst, uint32_t i, struct tcp_segment *segment)
{
	const struct headers *headers = burst_headers(burst, i);
	const uint8_t *frame = burst_frame(burst, i), *tcp;
	uint32_t header_bytes;

	if (headers->ip == 0 || headers->protocol != PROTOCOL_TCP || headers->transport == 0 ||
	    headers->transport_here < TCP_BYTES)
		return false;
	tcp = frame + headers->transport;
	header_bytes = (tcp[12] >> 4) * 4u;
	if (header_bytes < TCP_BYTES || header_bytes > headers->transport_bytes)
		return false;
	name_flow(frame, headers, &segment->flow);
	segment->sequence = headers_u32(tcp + 4);
	segment->syn = tcp[13] & TCP_SYN;
	segment->payload_bytes = headers->transport_bytes - header_bytes;
	return true;
}
