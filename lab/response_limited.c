/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limited slow-start (RFC 3742): up to max_ssthresh as usual. Beyond, an acknowledged packet adds
 * 1/K of a packet, K = int(cwnd / (max_ssthresh / 2)), so that a round trip adds at most
 * max_ssthresh / 2. The paper (Nakauchi and Kobayashi) counts in bytes and adds int(MSS / K) of
 * them; slow_start_exact omits the truncation. response_extended.c gets both thresholds from
 * routers.
 */
#include "lab/response.h"

void response_limited_grow(struct tcp *tcp, uint32_t most)
{
	uint32_t data_bytes = tcp_data_bytes(tcp->conf);
	uint32_t k;

	if (most == 0 || tcp->cwnd >= tcp->ssthresh || tcp->cwnd <= most) {
		tcp_grow(tcp);
		return;
	}
	k = (uint32_t)(tcp->cwnd / (most / 2.0));
	if (tcp->conf->signal.slow_start_exact)
		tcp->cwnd += 1.0 / k;
	else
		tcp->cwnd += (double)(data_bytes / k) / data_bytes;
}

static void limited_grow(struct tcp *tcp)
{
	response_limited_grow(tcp, tcp->conf->signal.slow_start_max);
}

const struct response response_limited = {
        .name = "limited",
        .help = "limited slow-start (RFC 3742); not capable of ECN",
        .grow = limited_grow,
};
