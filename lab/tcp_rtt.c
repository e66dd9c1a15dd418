/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp_rtt.h"

#define SRTT_BITS     3
#define VARIANCE_BITS 2
#define BACKOFF_MAX   64
#define BACKOFF_BLUR  8 /* beyond, srtt is no longer valid */

void tcp_rtt_time(struct tcp *tcp, int64_t packet)
{
	if (tcp->timed)
		return;
	tcp->timed = true;
	if (packet > tcp->timed_packet || packet == 0) {
		tcp->timed_packet = packet;
		tcp->timed_ns = tcp->now_ns;
	}
}

static void measured(struct tcp *tcp)
{
	simtime tick_ns = tcp->conf->tick_ns;
	simtime began_ns = (tcp->timed_ns + tcp->boot_ns) % tick_ns;
	int32_t ticks = (int32_t)((tcp->now_ns - tcp->timed_ns + began_ns) / tick_ns);
	int32_t delta;

	tcp->rtt_ns = tcp->now_ns - tcp->timed_ns;
	if (ticks < 1)
		ticks = 1;
	if (tcp->srtt_8 != 0) {
		delta = ticks - (tcp->srtt_8 >> SRTT_BITS);
		tcp->srtt_8 += delta;
		if (tcp->srtt_8 <= 0)
			tcp->srtt_8 = 1;
		if (delta < 0)
			delta = -delta;
		tcp->variance_4 += delta - (tcp->variance_4 >> VARIANCE_BITS);
		if (tcp->variance_4 <= 0)
			tcp->variance_4 = 1;
	} else {
		tcp->srtt_8 = ticks << SRTT_BITS;
		tcp->variance_4 = ticks << (VARIANCE_BITS - 1);
	}
	/* 4 x variance, in eighths */
	tcp->rto_ticks = ((tcp->variance_4 << 3) + tcp->srtt_8) >> SRTT_BITS;
}

void tcp_rtt_acknowledged(struct tcp *tcp, int64_t ack, bool echo)
{
	if (!tcp->timed || ack < tcp->timed_packet)
		return;
	/* While congestion is echoed with a window of one, the backoff goes on. */
	if (!tcp->hesitates || !echo) {
		tcp->backoff = 1;
		tcp->hesitates = false;
	}
	tcp->timed = false;
	measured(tcp);
}

void tcp_rtt_forget(struct tcp *tcp, int64_t ack)
{
	if (!tcp->timed || ack < tcp->timed_packet)
		return;
	tcp->timed = false;
	tcp->backoff = 1;
}

simtime tcp_rtt_timeout(const struct tcp *tcp)
{
	const struct tcp_conf *conf = tcp->conf;
	simtime base_ns =
	        tcp->rto_ticks ? (simtime)tcp->rto_ticks * conf->tick_ns : conf->rto_first_ns;
	simtime timeout_ns = base_ns * (simtime)tcp->backoff;

	timeout_ns = simtime_max(timeout_ns, conf->rto_min_ns);
	timeout_ns = simtime_min(timeout_ns, conf->rto_max_ns);
	return simtime_max(timeout_ns, 2 * conf->tick_ns);
}

void tcp_back_off(struct tcp *tcp)
{
	if (tcp->backoff < BACKOFF_MAX)
		tcp->backoff *= 2;
	if (tcp->backoff > BACKOFF_BLUR) {
		tcp->variance_4 += tcp->srtt_8 >> SRTT_BITS;
		tcp->srtt_8 = 0;
	}
}
