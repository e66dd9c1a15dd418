/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enhanced BECN (Akujobi et al.): a source quench halves the window, once a window. Both papers say
 * "one-half of the congestion window", so the result is not rounded, unlike after an echo: with
 * windows of 3 to 5 packets that decides which of the two gains more. A quench for a mark also
 * stops growth until everything that was outstanding at the cut is acknowledged (the paper's "wait
 * one RTT", as a gate in sequence numbers; conf->signal.wait has other readings). A quench for a
 * drop leaves the lost packet to the third duplicate or the timer.
 */
#include "lab/response.h"

void response_becn_quenched(struct tcp *tcp, bool marked)
{
	if (tcp->acked < tcp->recover && tcp->action != TCP_ACTION_TIMEOUT)
		return;
	tcp->recover = tcp->highest;
	tcp->action = TCP_ACTION_SIGNAL;
	tcp->counters.cuts++;
	tcp_halve_exactly(tcp);
	if (!marked)
		return;
	if (tcp->conf->signal.wait == BECN_WAIT_OUTSTANDING)
		tcp->hold = tcp->highest;
	else if (tcp->conf->signal.wait == BECN_WAIT_ROUND)
		tcp->hold_ns = tcp->now_ns + tcp->rtt_ns;
}

bool response_becn_holds(const struct tcp *tcp, int64_t ack)
{
	return ack <= tcp->hold || tcp->now_ns < tcp->hold_ns;
}

static bool becn_spares(const struct tcp *tcp)
{
	return tcp->acked <= tcp->recover && tcp->action == TCP_ACTION_SIGNAL;
}

const struct response response_becn = {
        .name = "becn",
        .help = "enhanced BECN: a source quench halves the window, once a window",
        .capable = true,
        .echo = ECHO_NONE,
        .quenched = response_becn_quenched,
        .holds = response_becn_holds,
        .spares = becn_spares,
};
