/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The extended limited slow-start (Nakauchi and Kobayashi, section 5): each packet has a request to
 * a router in the unified header, and acknowledgements bring the answers. Once the available
 * bandwidth and the queue of every router of the path are known, and a round trip is measured:
 *
 *   max_ssthresh   half of the shortest queue, packets
 *   ssthresh       3/4 x the least available bandwidth x (RTT / 2) / MSS
 *
 * This happens once, and only if nothing was lost before: later figures would measure the sender's
 * own packets. Until then, and if routers do not answer, it is `limited`.
 */
#include "lab/response.h"

static void extended_told(struct tcp *tcp)
{
	const struct tcp_counters *counters = &tcp->counters;
	uint32_t available_kbps, queue;
	double end;

	if (tcp->informed || tcp->rtt_ns == 0 || counters->timeouts || counters->fast_retransmits ||
	    !asking_least(&tcp->asking, OQ_LINK, 1, &available_kbps) ||
	    !asking_least(&tcp->asking, OQ_QUEUE, 0, &queue))
		return;
	/* kbit/s x ns is in 1e-6 bits */
	end = 0.75 * available_kbps * ((double)tcp->rtt_ns / 2) / 8e6 / tcp_data_bytes(tcp->conf);
	end = end < tcp->conf->window ? end : tcp->conf->window;
	tcp->ssthresh = end > 2 ? (uint32_t)(end + 0.5) : 2;
	tcp->slow_start_max = queue > 1 ? queue / 2 : 1;
	tcp->informed = true;
}

static void extended_grow(struct tcp *tcp)
{
	response_limited_grow(tcp, tcp->informed ? tcp->slow_start_max
	                                         : tcp->conf->signal.slow_start_max);
}

const struct response response_extended = {
        .name = "extended",
        .help = "limited slow-start by what routers report in the unified header",
        .told = extended_told,
        .grow = extended_grow,
};
