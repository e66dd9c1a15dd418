/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ECN-mod (Misra and Ott): every mark subtracts a share c2 of the window, every unmarked
 * acknowledgement adds c1 packets; with a marking probability p the window settles at
 * (c1/c2)(1-p)/p. A mark ends slow start. The recovery handles losses.
 */
#include "lab/response.h"

static void ecn_mod_echoed(struct tcp *tcp, int64_t ack, const struct segment *segment)
{
	(void)ack;
	(void)segment;
	tcp->cwnd -= tcp->conf->signal.decrease * tcp->cwnd;
	if (tcp->cwnd < 1)
		tcp->cwnd = 1;
	tcp->ssthresh = tcp->cwnd < tcp->conf->window ? (uint32_t)tcp->cwnd : tcp->conf->window;
	tcp->counters.cuts++;
}

static void ecn_mod_grow(struct tcp *tcp)
{
	tcp->cwnd += tcp->cwnd < tcp->ssthresh ? 1 : tcp->conf->signal.increase;
}

const struct response response_ecn_mod = {
        .name = "ecn-mod",
        .help = "ECN-mod: every mark takes a share of the window, every other packet adds one",
        .capable = true,
        .echo = ECHO_EACH,
        .echoed = ecn_mod_echoed,
        .grow = ecn_mod_grow,
};
