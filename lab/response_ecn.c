/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ECN (RFC 3168, in ns-2's form): the first echo of a window halves it. With a window of one,
 * further echoes back off the timer.
 */
#include "lab/response.h"

void response_ecn_echoed(struct tcp *tcp, int64_t ack, const struct segment *segment)
{
	(void)segment;
	if (ack <= tcp->recover && tcp->action != TCP_ACTION_TIMEOUT)
		return;
	tcp->recover = tcp->highest;
	tcp->action = TCP_ACTION_SIGNAL;
	if (tcp->cwnd > 1)
		tcp->hesitates = false;
	else if (tcp->hesitates)
		tcp_back_off(tcp);
	else
		tcp->hesitates = true;
	tcp->counters.cuts++;
	tcp_halve(tcp);
}

static bool ecn_spares(const struct tcp *tcp)
{
	return tcp->acked <= tcp->recover && tcp->action == TCP_ACTION_SIGNAL;
}

const struct response response_ecn = {
        .name = "ecn",
        .help = "ECN of RFC 3168: an echo halves the window, once a window",
        .capable = true,
        .echo = ECHO_LATCHED,
        .echoed = response_ecn_echoed,
        .spares = ecn_spares,
};
