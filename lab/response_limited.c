/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limited slow-start (RFC 3742): up to max_ssthresh as always; beyond, a packet acknowledged adds
 * 1/K of a packet, K = int(cwnd / (max_ssthresh / 2)), so that a round trip adds max_ssthresh / 2 at
 * most. The paper (Nakauchi and Kobayashi) counts in bytes and adds int(MSS / K) of them;
 * slow_start_exact leaves the truncation out. Where max_ssthresh and ssthresh are computed from what
 * routers report (half of the queue; 3/4 x bandwidth x RTT / 2), that is the extended version.
 */
#include "response.h"

static void limited_grow(struct tcp *tcp)
{
	const struct response_conf *signal = &tcp->conf->signal;
	uint32_t data_bytes = tcp_data_bytes(tcp->conf);
	uint32_t k;

	if (signal->slow_start_max == 0 || tcp->cwnd >= tcp->ssthresh ||
	    tcp->cwnd <= signal->slow_start_max) {
		tcp_grow(tcp);
		return;
	}
	k = (uint32_t)(tcp->cwnd / (signal->slow_start_max / 2.0));
	if (signal->slow_start_exact)
		tcp->cwnd += 1.0 / k;
	else
		tcp->cwnd += (double)(data_bytes / k) / data_bytes;
}

const struct response response_limited = {
        .name = "limited",
        .help = "limited slow-start (RFC 3742); not capable of ECN",
        .grow = limited_grow,
};
