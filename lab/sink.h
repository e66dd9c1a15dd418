/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiving half of a TCP connection: acknowledges what has arrived in order, keeps what is
 * ahead of a gap, and echoes congestion as the sender's response requires (response.h).
 *
 * Delayed acknowledgements, if on: an acknowledgement is sent for the second packet in order, at
 * the end of the delay, or for anything out of order or marked, as RFC 1122 4.2.3.2 allows and
 * ns-2's DelAck does.
 *
 * Driven by events: sink_segment, sink_expire. Answers go to `wire`. Units: packets, ns.
 * Ownership: none but its own.
 * Thread: one.
 */
#ifndef WEIR_LAB_SINK_H
#define WEIR_LAB_SINK_H

#include "lab/response.h"

struct sink_counters {
	uint64_t arrived;    /* packets, with the SYN and duplicates */
	uint64_t in_order;   /* packets given to the application */
	uint64_t duplicates; /* that had arrived before */
	uint64_t marked;     /* with CE */
};

struct sink {
	const struct tcp_conf *conf; /* the sender's */
	void (*wire)(void *argument, const struct segment *segment);
	void *argument;
	struct frame_end here, there;
	uint32_t sequence;      /* its own */
	uint32_t peer_sequence; /* the SYN's */
	simtime delay_ns;       /* of acknowledgements; 0: none is delayed */
	simtime expires_ns;
	int64_t next;          /* the packet expected */
	bool capable;          /* negotiated */
	bool latched;          /* CE came, CWR has not */
	bool owes;             /* an acknowledgement is delayed */
	uint8_t ttl;           /* of the latest packet */
	struct ledger *ledger; /* answers of routers to return; NULL: no packet has requests */
	uint64_t *ahead;       /* bits of packets ahead of a gap, a ring of ahead_bits (a power of
	                        * two) */
	uint32_t ahead_bits;
	struct sink_counters counters;
};

/* Returns 0 or -ENOMEM. */
int sink_init(struct sink *sink, const struct tcp_conf *conf, struct frame_end here,
              struct frame_end there, simtime delay_ns);
void sink_release(struct sink *sink);
void sink_segment(struct sink *sink, simtime now, const struct segment *segment);
/* Call it at expires_ns. */
void sink_expire(struct sink *sink, simtime now);

#endif
