/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a packet, wherever it is: in an mbuf, or held in a record of a queue. Its headers
 * can be read here, and written if the bytes are not shared.
 *
 * Only contiguous bytes are here: of an mbuf its first segment, of a capture what was captured.
 * Thread: the worker that owns the packet.
 */
#ifndef WEIR_PACKET_BYTES_H
#define WEIR_PACKET_BYTES_H

#include "packet/burst.h"

struct packet_bytes {
	uint8_t *data;
	uint32_t bytes;      /* of `data` */
	uint32_t wire_bytes; /* of the whole packet */
};

static inline struct packet_bytes packet_bytes_of(const struct burst *burst, uint32_t i)
{
	return (struct packet_bytes){
	        .data = burst_frame(burst, i),
	        .bytes = burst->mbuf[i]->data_len,
	        .wire_bytes = burst_wire_bytes(burst, i),
	};
}

#endif
