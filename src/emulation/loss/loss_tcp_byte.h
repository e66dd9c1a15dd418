/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss tcp-byte N [retransmits K] [flows M]`: of each TCP flow, the segment that carries byte N is
 * lost, and so are its next K retransmissions.
 *
 * Model: struct tcp_flows numbers the bytes of a flow from 1, in one direction, that of the cloud.
 * Segments that carry byte N, for the first time or again, are lost until 1 + K are; after that the
 * flow loses nothing. No randomness. TCP is found behind VLAN tags, IPv4 options and IPv6 extension
 * headers (headers.h), if its header lies in the first segment of the mbuf; fragments other than
 * the first have none.
 *
 * Ranges: N 1 to 2^62, K 0 to 2^32, M 8 to 2^20 flows known at a time (default 16384; the table is
 * rounded up to a power of two, 88 bytes a flow). A new flow whose eight places are all taken
 * replaces the one there that was silent for the longest time; if that one continues, its bytes are
 * numbered anew. A change keeps the flows if M stays; a new N or K counts the losses of each flow
 * from 0.
 */
#ifndef WEIR_LOSS_TCP_BYTE_H
#define WEIR_LOSS_TCP_BYTE_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/burst.h"
#include "random/draw.h"
#include "scenario/statement.h"

#define LOSS_TCP_BYTE_MAX        (UINT64_C(1) << 62)
#define LOSS_TCP_RETRANSMITS_MAX (UINT64_C(1) << 32)
#define LOSS_TCP_FLOWS           16384

struct loss_tcp_byte_conf {
	struct conf conf;
	uint64_t byte;
	uint64_t retransmits;
	uint64_t flows;
};

extern const struct statement loss_tcp_byte_statement;

/*
 * TCP flows, and the position of a segment in its flow: a table of fixed size, in which a new flow
 * replaces the flow of its set that has been silent for the longest time.
 *
 * Model: sets of TCP_FLOWS_WAYS. Bytes of a flow are numbered from 1: byte 1 follows the SYN, or,
 * if the first segment seen is no SYN, is the first byte of that segment. Sequence numbers are
 * followed through their wrap, so byte numbers go to 2^62. A SYN with another sequence number than
 * that of the flow begins the flow anew. A flow that was replaced and returns is a new one.
 *
 * Cost: O(1) per segment, one or two cache lines of names. Memory: 88 bytes per flow.
 * Ownership: tcp_flows_free.
 * Thread: made by control, used by one worker.
 */

/*
 * A TCP segment as it lies in a packet, and the flow that it belongs to: addresses, ports, and up
 * to two VLAN tags, in one direction.
 *
 * Thread: pure functions, any.
 */

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

#define TCP_FLOWS_WAYS 8
#define TCP_FLOWS_MAX  (UINT64_C(1) << 20)

struct tcp_flow {
	struct tcp_flow_name name; /* ip 0: the place is free */
	uint64_t used;             /* the ordinal of its latest segment */
	int64_t byte;              /* number of the byte that has `sequence` */
	uint32_t sequence;
	uint32_t beginning; /* sequence number of the SYN */
	bool syn_seen;
	uint32_t epoch; /* the epoch of `drops` */
	uint64_t drops;
};

struct snapshot;
struct tcp_flows;

/* Makes a table for `flows`, rounded up to a power of two of at least TCP_FLOWS_WAYS. Returns NULL
 * if there is no memory. */
struct tcp_flows *tcp_flows_make(uint64_t flows);
void tcp_flows_free(struct tcp_flows *flows);
uint64_t tcp_flows_room(const struct tcp_flows *flows);

#endif
