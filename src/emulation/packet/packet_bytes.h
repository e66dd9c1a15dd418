/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a packet, wherever it is: in an mbuf, or held in a record of a queue. What a header
 * of it says can be read here, and written if nobody else sees the bytes.
 *
 * Only what is contiguous is here: of an mbuf its first segment, of a capture what was captured.
 * Thread: the worker that owns the packet.
 */
#ifndef WEIR_PACKET_BYTES_H
#define WEIR_PACKET_BYTES_H

#include "packet/packet.h"

struct packet_bytes {
	uint8_t *data;
	uint32_t bytes;      /* of `data` */
	uint32_t wire_bytes; /* of the whole */
};

static inline struct packet_bytes packet_bytes_of_mbuf(struct rte_mbuf *mbuf)
{
	return (struct packet_bytes){
	        .data = rte_pktmbuf_mtod(mbuf, uint8_t *),
	        .bytes = mbuf->data_len,
	        .wire_bytes = packet_of(mbuf)->wire_bytes,
	};
}

#endif
