/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef WEIR_TCP_FLOWS_H
#define WEIR_TCP_FLOWS_H

#include "packet/tcp_segment.h"
#include "random/draw.h"

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

/* Returns the flow of a segment, and in `first` the number of its first payload byte, which is 0 or
 * less if the segment precedes the first one seen. `key` distributes the flows over the table. */
struct tcp_flow *tcp_flows_follow(struct tcp_flows *flows, struct draw_key key,
                                  const struct tcp_segment *segment, int64_t *first);

/* Writes the flows, or reads them into a table that has none (snapshot.h). Cost: a look at each
 * place. */
void tcp_flows_snapshot(struct tcp_flows *flows, struct snapshot *snapshot);

#endif
