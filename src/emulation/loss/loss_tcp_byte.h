/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss tcp-byte N [retransmits K] [flows M]`: of each TCP flow, the segment that carries byte N is
 * lost, and so are its next K retransmissions.
 *
 * Model: tcp_flows.h numbers the bytes of a flow from 1, in one direction, that of the cloud.
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

#endif
