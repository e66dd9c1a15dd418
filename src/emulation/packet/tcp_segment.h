/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A TCP segment as it lies in a packet, and the flow that it belongs to: addresses, ports, and up
 * to two VLAN tags, in one direction.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_TCP_SEGMENT_H
#define WEIR_TCP_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/burst.h"

/* Compared as bytes, since it has no padding. 12 zeros follow an IPv4 address. */
struct tcp_flow_name {
	uint8_t source[16], target[16];
	uint16_t source_port, target_port; /* network order */
	uint16_t tag[2];
	uint8_t ip, n_tags, zero[6];
};

struct tcp_segment {
	struct tcp_flow_name flow;
	uint32_t sequence; /* of the first payload byte, or of SYN */
	bool syn;
	uint32_t payload_bytes;
};

/* Fills in the segment. Returns false if the packet is not TCP, or if its TCP header is not in the
 * first segment of the mbuf. */
bool tcp_segment_find(struct burst *burst, uint32_t i, struct tcp_segment *segment);

#endif
