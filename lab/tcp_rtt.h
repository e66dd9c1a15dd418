/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The round-trip time as ns-2.1b8a's TCP measures it: one packet is timed at once, never one that
 * was sent again (Karn); the measure is in ticks, of which the one in progress when the packet was
 * sent counts as it would on a coarse clock. tcp.h has the formula. Thread: the sender's.
 */
#ifndef WEIR_LAB_TCP_RTT_H
#define WEIR_LAB_TCP_RTT_H

#include "lab/tcp.h"

/* A packet is sent for the first time. */
void tcp_rtt_time(struct tcp *tcp, int64_t packet);
/* Everything up to `ack` has arrived; `echo`: with ECE. */
void tcp_rtt_acknowledged(struct tcp *tcp, int64_t ack, bool echo);
/* The timed packet's acknowledgement came during recovery: it ends the backoff, and measures
 * nothing. */
void tcp_rtt_forget(struct tcp *tcp, int64_t ack);
simtime tcp_rtt_timeout(const struct tcp *tcp);

#endif
