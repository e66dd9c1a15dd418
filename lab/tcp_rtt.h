/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The round-trip time as ns-2.1b8a's TCP measures it: one packet is timed at a time, never one that
 * was sent again (Karn). The measure is in ticks, and counts the tick in progress when the packet
 * was sent as a coarse clock would. tcp.h has the formula.
 * Thread: the sender's.
 */
#ifndef WEIR_LAB_TCP_RTT_H
#define WEIR_LAB_TCP_RTT_H

#include "lab/tcp.h"

/* Times a packet, which is sent for the first time, unless another one is timed. */
void tcp_rtt_time(struct tcp *tcp, int64_t packet);
/* Measures the timed packet if it is acknowledged: everything up to `ack` has arrived. `echo`: with
 * ECE. */
void tcp_rtt_acknowledged(struct tcp *tcp, int64_t ack, bool echo);
/* Ends the timing without a measure, and the backoff, if the timed packet is acknowledged during
 * recovery. */
void tcp_rtt_forget(struct tcp *tcp, int64_t ack);
simtime tcp_rtt_timeout(const struct tcp *tcp);

#endif
