/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group: flows of one kind between two switches, each with two hosts of its own. A line of an
 * experiment describes it. The line is a statement, whose fields the language parses and explains:
 *
 *   ftp NAME COUNT from SWITCH to SWITCH ...    long-lived transfers
 *
 * Model: flow i begins at a time uniform in [start, start + spread], and its sender's clock at one
 * uniform in a tick. `access` is the rate of both hosts' links, `delay` their propagation. With
 * `delay-max`, the senders' propagation delays are evenly spaced from `delay` to it, so that
 * round-trip times differ; groups of the same size have the same delays.
 *
 * Ownership: a conf owns its texts (conf_free).
 * Thread: any.
 */
#ifndef WEIR_LAB_GROUP_H
#define WEIR_LAB_GROUP_H

#include "lab/tcp.h"
#include "scenario/field.h"
#include "scenario/statement.h"

#define GROUP_FLOWS_MAX 10000

struct group_conf {
	struct conf conf;
	uint64_t count;
	char *from, *to;
	uint64_t port;
	uint64_t access_bps;
	simtime delay_ns, delay_max_ns;
	simtime start_ns, spread_ns;
	uint32_t recovery, response; /* index in recovery_at, response_at */
	uint64_t packet_bytes, window, ssthresh;
	simtime tick_ns, ack_delay_ns;
	uint64_t factor_q63, increase_q63, decrease_q63; /* probability_q63 */
	char *factors;                                   /* `4:0.975,2:0.875,1:0.7` */
	uint32_t wait;                                   /* enum becn_wait */
	bool grows_while_marked, cuts_to_whole;
	bool syn_capable;
	uint64_t slow_start_max, hops;
	bool slow_start_exact;
};

extern const struct statement group_ftp;
/* The values of `tcp`, `response` and `wait`. */
extern const char *const group_recoveries[], *const group_responses[], *const group_waits[];

/* Makes the TCP configuration of this group. Returns 0, or -EINVAL with problem (factors,
 * packet). */
int group_tcp_conf(const struct group_conf *conf, struct tcp_conf *tcp, struct problem *problem);

#endif
