/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames with right checksums, for tests that need headers. */
#ifndef WEIR_FRAME_H
#define WEIR_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define FRAME_TCP    6
#define FRAME_UDP    17
#define FRAME_ICMP   1
#define FRAME_ICMPV6 58

#define FRAME_BYTES_MAX 2048

struct frame_shape {
	uint8_t ip; /* 4, 6 */
	uint8_t protocol;
	uint8_t n_tags;       /* the first is 0x88a8 if there are more; identifiers 100, 101, ... */
	uint8_t option_words; /* IPv4 */
	uint8_t n_extensions; /* IPv6: hop by hop, routing, destination, each of 8 bytes */
	bool no_sum;          /* UDP */
	bool syn;
	uint16_t fragment;    /* in units of 8 bytes; only fragment 0 has a transport header */
	uint16_t source_port; /* 0: 1000 */
	uint8_t host;         /* last byte of the source address */
	uint32_t sequence;
	uint32_t payload_bytes;
	uint32_t padding_bytes;
};

/* Makes a frame. Returns its length. */
uint32_t frame_make(uint8_t *frame, const struct frame_shape *shape);

/* Return where the header begins. */
uint32_t frame_network(const struct frame_shape *shape);
uint32_t frame_transport(const struct frame_shape *shape);

/* Returns which checksums of the frame are wrong, as DPDK's functions compute them: bit 0 IP, bit 1
 * transport. */
uint32_t frame_wrong_sums(const uint8_t *frame, const struct frame_shape *shape);

#endif
