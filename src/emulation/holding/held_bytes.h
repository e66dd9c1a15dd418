/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a packet that is held in a record (packet_bytes.h). */
#ifndef WEIR_HELD_BYTES_H
#define WEIR_HELD_BYTES_H

#include "holding/log.h"
#include "packet/packet_bytes.h"

static inline struct packet_bytes packet_bytes_of_held(struct held *held)
{
	if (held->flags & HELD_MBUF)
		return (struct packet_bytes){
		        .data = rte_pktmbuf_mtod(held_mbuf(held), uint8_t *),
		        .bytes = held_mbuf(held)->data_len,
		        .wire_bytes = held->wire_bytes,
		};
	return (struct packet_bytes){
	        .data = held->data,
	        .bytes = held->stored_bytes,
	        .wire_bytes = held->wire_bytes,
	};
}

#endif
