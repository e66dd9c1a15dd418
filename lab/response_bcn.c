/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BCN-TCP (Sisalem and Schulzrinne): the receiver echoes each mark by itself. Each echo multiplies
 * the window by a factor close to one, and ends slow start. The first echo begins a mode that lasts
 * until what was outstanding then is acknowledged. In this mode a lost packet is sent again, and
 * nothing else happens. The factor may depend on the number of routers on the way: the receiver
 * returns the TTL that arrives.
 *
 * The paper does not say whether the window grows on unmarked acknowledgements in this mode: here
 * it does not, unless grows_while_marked. The paper does not say either whether the window is
 * rounded after a mark. Its window "is measured in packets", and rounded down (cuts_to_whole) the
 * throughputs are those of its Table 1.
 */
#include <math.h>

#include "lab/response.h"

/* Returns the factor of the longest listed way that is not longer than this one, or of the
 * shortest. */
static double factor(const struct tcp_conf *conf, uint8_t ttl)
{
	const struct response_conf *signal = &conf->signal;
	uint32_t hops = ttl && ttl <= FRAME_TTL ? FRAME_TTL - ttl : 0;
	uint32_t i = signal->n_by_hops;

	if (i == 0 || ttl == 0)
		return signal->factor;
	while (i > 1 && signal->by_hops[i - 1].hops > hops)
		i--;
	return signal->by_hops[i - 1].factor;
}

static void bcn_echoed(struct tcp *tcp, int64_t ack, const struct segment *segment)
{
	bool recovering = tcp->dupwnd > 0 ||
	                  (tcp->action == TCP_ACTION_DUPLICATES && tcp->acked < tcp->recover);

	if (recovering)
		return;
	if (ack > tcp->hold)
		tcp->hold = tcp->highest;
	tcp->cwnd *= factor(tcp->conf, segment->echoed_ttl);
	if (tcp->conf->signal.cuts_to_whole)
		tcp->cwnd = floor(tcp->cwnd);
	if (tcp->cwnd < 1)
		tcp->cwnd = 1;
	tcp->ssthresh = (uint32_t)tcp->cwnd;
	tcp->counters.cuts++;
}

static bool bcn_holds(const struct tcp *tcp, int64_t ack)
{
	return ack <= tcp->hold && !tcp->conf->signal.grows_while_marked;
}

static bool bcn_spares(const struct tcp *tcp)
{
	return tcp->acked <= tcp->hold;
}

const struct response response_bcn = {
        .name = "bcn",
        .help = "BCN-TCP: every mark multiplies the window by a factor",
        .capable = true,
        .tells_ttl = true,
        .echo = ECHO_EACH,
        .echoed = bcn_echoed,
        .holds = bcn_holds,
        .spares = bcn_spares,
};
