/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A TCP connection between two hosts: sender, receiver, their timers. It begins at an instant,
 * sends a number of packets, and calls `finished` when the last packet was acknowledged.
 *
 * Ownership: the caller's memory, zeroed; the conf outlives it.
 * Thread: the world's.
 */
#ifndef WEIR_LAB_FLOW_H
#define WEIR_LAB_FLOW_H

#include "lab/arrivals.h"
#include "lab/sink.h"
#include "lab/tcp.h"
#include "lab/world.h"

struct flow {
	struct tcp tcp;
	struct sink sink;
	struct host *from, *to;
	struct timer begin, retransmit, delayed;
	simtime start_ns;
	int64_t packets;
	struct arrivals arrivals; /* of the sender's packets */
	bool done;
	void (*finished)(void *argument, struct flow *flow, simtime now); /* or NULL */
	void *argument;
};

/* Opens a flow. `boot_ns`: as for tcp_init. `ack_delay_ns`: as for sink_init. Returns 0 or
 * -ENOMEM. */
int flow_open(struct flow *flow, struct host *from, struct host *to, const struct tcp_conf *conf,
              simtime boot_ns, simtime ack_delay_ns);
/* Sends from that instant on: so many packets of data, or TCP_UNLIMITED. The instant is not before
 * the world's now. */
void flow_begin(struct flow *flow, simtime start_ns, int64_t packets);
void flow_close(struct flow *flow);

#endif
