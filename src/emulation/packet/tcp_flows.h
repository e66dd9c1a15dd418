/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP flows, and how far along each one a segment is: a table of fixed size, in which a new flow
 * takes the place of the one of its set that was silent for the longest.
 *
 * Model: sets of TCP_FLOWS_WAYS. Bytes of a flow are numbered from 1: byte 1 follows the SYN, or is
 * the first of the first segment seen when that is no SYN. Sequence numbers are followed through
 * their wrap, so byte numbers go to 2^62. A SYN with another sequence number than that of the flow
 * begins it anew. A flow that was displaced and comes back is a new one.
 *
 * Cost: O(1) a segment, one or two cache lines of names. Memory: 88 bytes a flow.
 * Ownership: tcp_flows_free. Thread: made by control, used by one worker.
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
	int64_t byte;              /* `sequence` is the number of this byte */
	uint32_t sequence;
	uint32_t beginning; /* sequence number of the SYN */
	bool syn_seen;
	uint32_t epoch; /* `drops` belongs to this one */
	uint64_t drops;
};

struct snapshot;
struct tcp_flows;

/* Room for `flows`, rounded up to a power of two of at least TCP_FLOWS_WAYS. NULL: no memory. */
struct tcp_flows *tcp_flows_make(uint64_t flows);
void tcp_flows_free(struct tcp_flows *flows);
uint64_t tcp_flows_room(const struct tcp_flows *flows);

/* The flow of a segment, and in `first` the number of its first payload byte; it is 0 or less where
 * a segment comes from before the first one seen. `key` scatters the flows over the table. */
struct tcp_flow *tcp_flows_follow(struct tcp_flows *flows, struct draw_key key,
                                  const struct tcp_segment *segment, int64_t *first);

/* The flows that it follows (snapshot.h); what is read goes into a table that has none. Cost: a
 * look at each place. */
void tcp_flows_snapshot(struct tcp_flows *flows, struct snapshot *snapshot);

#endif
