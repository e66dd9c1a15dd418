/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp.h"

#include <math.h>
#include <string.h>

#include "lab/response.h"
#include "lab/tcp_rtt.h"

#define WINDOW_SCALED_FROM 65535u

/* Packets that may be sent at once after a third or further duplicate. */
#define BURST_DUPLICATE 2

void tcp_conf_init(struct tcp_conf *conf)
{
	*conf = (struct tcp_conf){
	        .recovery = &recovery_newreno,
	        .response = &response_none,
	        .signal = {.factor = 0.975, .increase = 0.0625, .decrease = 0.125},
	        .window = 100,
	        .packet_bytes = 1000,
	        .tick_ns = 100 * SIMTIME_MS,
	        .rto_first_ns = 6 * SIMTIME_S,
	        .rto_min_ns = SIMTIME_S,
	        .rto_max_ns = 100000 * SIMTIME_S,
	};
}

void tcp_init(struct tcp *tcp, const struct tcp_conf *conf, struct frame_end here,
              struct frame_end there, simtime boot_ns)
{
	memset(tcp, 0, sizeof(*tcp));
	tcp->conf = conf;
	tcp->here = here;
	tcp->there = there;
	tcp->boot_ns = boot_ns;
	tcp->sequence = here.address ^ (uint32_t)here.port << 16;
	tcp->highest = tcp->acked = -1;
	tcp->hold = -1;
	tcp->cwnd = 1;
	tcp->ssthresh = conf->ssthresh ? conf->ssthresh : conf->window;
	tcp->backoff = 1;
	tcp->asking.hops = conf->hops;
	tcp->expires_ns = SIMTIME_NEVER;
}

/* ---- numbers ---- */

int64_t tcp_packet_at(const struct tcp *tcp, uint32_t seq)
{
	int64_t near = tcp->acked > 0 ? tcp->acked : 0;
	int32_t away = (int32_t)(seq - tcp_seq_of(tcp, near + 1));

	if (near == 0 && away < 0)
		return 0;
	return near + 1 + away / (int32_t)tcp_data_bytes(tcp->conf);
}

/* ---- windows ---- */

/* ns-2's slowdown() uses the window, which in Reno includes the duplicates. */
static uint32_t tcp_half(const struct tcp *tcp)
{
	return (uint32_t)tcp_window(tcp) / 2;
}

static void ssthresh_cut(struct tcp *tcp, uint32_t half)
{
	tcp->ssthresh = half > 2 ? half : 2;
}

/* A window of one becomes 0: then only the timer sends (RFC 3168 6.1.2). */
void tcp_halve(struct tcp *tcp)
{
	uint32_t half = tcp_half(tcp);

	ssthresh_cut(tcp, half);
	tcp->cwnd = half;
	tcp->reduced = true;
}

void tcp_halve_exactly(struct tcp *tcp)
{
	double half = fmin(tcp->cwnd + tcp->dupwnd, tcp->conf->window) / 2;

	ssthresh_cut(tcp, (uint32_t)half);
	tcp->cwnd = half;
	tcp->reduced = true;
}

void tcp_grow(struct tcp *tcp)
{
	if (tcp->cwnd < tcp->ssthresh)
		tcp->cwnd += 1;
	else
		tcp->cwnd += 1 / tcp->cwnd;
}

/* ---- timer ---- */

void tcp_timer_set(struct tcp *tcp)
{
	tcp->expires_ns = tcp->now_ns + tcp_rtt_timeout(tcp);
}

void tcp_timer_renew(struct tcp *tcp, int64_t ack)
{
	if (tcp->next > ack + 1 || ack < tcp->highest || tcp->cwnd < 1)
		tcp_timer_set(tcp);
	else
		tcp->expires_ns = SIMTIME_NEVER;
}

/* ---- sending ---- */

static void segment_fill(const struct tcp *tcp, int64_t packet, struct segment *segment)
{
	bool capable = tcp->conf->response->capable;
	uint32_t scale = 0;

	*segment = (struct segment){
	        .from = tcp->here,
	        .to = tcp->there,
	        .seq = tcp_seq_of(tcp, packet),
	        .ttl = FRAME_TTL,
	        .window = UINT16_MAX,
	        .window_scale = -1,
	};
	if (packet > 0) {
		segment->data_bytes = (uint16_t)tcp_data_bytes(tcp->conf);
		segment->ack = tcp->peer_ack;
		segment->flags = FRAME_TCP_ACK;
		segment->ecn = capable ? FRAME_ECN_ECT0 : FRAME_ECN_NOT;
		return;
	}
	segment->flags = FRAME_TCP_SYN;
	if (capable && tcp->conf->syn_capable)
		segment->ecn = FRAME_ECN_ECT0;
	if (capable)
		segment->flags |= FRAME_TCP_ECE | FRAME_TCP_CWR;
	/* To accept the whole window, a receiver needs more than 16 bits. */
	while ((uint64_t)tcp->conf->window * tcp_data_bytes(tcp->conf) >> scale >
	       WINDOW_SCALED_FROM)
		scale++;
	if (scale)
		segment->window_scale = (int8_t)scale;
}

void tcp_transmit(struct tcp *tcp, int64_t packet)
{
	bool all_acked = tcp->acked == tcp->highest;
	struct segment segment;
	struct frame_oq oq;

	segment_fill(tcp, packet, &segment);
	if (tcp->reduced && packet > 0 && tcp->conf->response->capable) {
		segment.flags |= FRAME_TCP_CWR;
		tcp->reduced = false;
	}
	if (unlikely(tcp->asking.hops)) {
		asking_request(&tcp->asking, &oq);
		segment.oq = &oq;
	}
	tcp->counters.sent++;
	tcp->wire(tcp->argument, &segment);
	if (packet > tcp->highest) {
		tcp->highest = packet;
		tcp_rtt_time(tcp, packet);
	} else {
		tcp->counters.resent++;
	}
	if (tcp->expires_ns == SIMTIME_NEVER || all_acked)
		tcp_timer_set(tcp);
}

/* Sends as much as the window allows, but no more than `burst` packets; 0: no bound. */
static void send_allowed(struct tcp *tcp, uint32_t burst)
{
	for (uint32_t n = 0; tcp->next <= tcp->acked + tcp_window(tcp) && tcp->next <= tcp->limit;
	     n++) {
		if (burst && n == burst)
			break;
		tcp_transmit(tcp, tcp->next++);
	}
}

void tcp_start(struct tcp *tcp, simtime now, int64_t packets)
{
	tcp->now_ns = now;
	tcp->limit = packets;
	tcp->begun = true;
	send_allowed(tcp, 0);
}

/* ---- acknowledgements ---- */

static void acknowledged(struct tcp *tcp, int64_t ack, bool echo)
{
	const struct response *response = tcp->conf->response;

	tcp->duplicates = 0;
	tcp->acked = ack;
	if (tcp->next < ack + 1)
		tcp->next = ack + 1;
	tcp_rtt_acknowledged(tcp, ack, echo);
	tcp_timer_renew(tcp, ack);
	if (!echo && !(response->holds && response->holds(tcp, ack))) {
		if (response->grow)
			response->grow(tcp);
		else
			tcp_grow(tcp);
	}
	if (!echo)
		tcp->hesitates = false;
}

static void duplicated(struct tcp *tcp)
{
	const struct recovery *recovery = tcp->conf->recovery;

	tcp->duplicates++;
	if (tcp->duplicates == 3) {
		recovery->third(tcp);
		if (recovery->inflates)
			tcp->dupwnd = 3;
	} else if (tcp->duplicates > 3 && recovery->inflates) {
		tcp->dupwnd++;
	}
}

void tcp_segment(struct tcp *tcp, simtime now, const struct segment *segment)
{
	const struct response *response = tcp->conf->response;
	const struct recovery *recovery = tcp->conf->recovery;
	bool syn = segment->flags & FRAME_TCP_SYN;
	bool echo = (segment->flags & FRAME_TCP_ECE) && response->capable && !syn;
	int64_t ack;

	tcp->now_ns = now;
	if (!tcp->begun || !(segment->flags & FRAME_TCP_ACK))
		return;
	if (syn)
		tcp->peer_ack = segment->seq + 1;
	ack = tcp_packet_at(tcp, segment->ack) - 1;
	if (ack > tcp->highest)
		return;
	if (unlikely(segment->oq && response->told)) {
		asking_hear(&tcp->asking, segment->oq);
		response->told(tcp);
	}
	if (echo) {
		tcp->counters.echoes++;
		if (response->echoed)
			response->echoed(tcp, ack, segment);
	}
	if (ack > tcp->acked) {
		if (!recovery->partial || !recovery->partial(tcp, ack)) {
			if (tcp->dupwnd && recovery->exits && tcp->action == TCP_ACTION_DUPLICATES)
				tcp->action = TCP_ACTION_NONE;
			tcp->dupwnd = 0;
			acknowledged(tcp, ack, echo);
		}
	} else if (ack == tcp->acked) {
		duplicated(tcp);
	}
	if (tcp->duplicates == 0)
		send_allowed(tcp, 0);
	else if (tcp->duplicates >= 3)
		send_allowed(tcp, recovery->inflates ? BURST_DUPLICATE : 0);
}

void tcp_quench(struct tcp *tcp, simtime now, const struct quench *quench)
{
	const struct response *response = tcp->conf->response;
	int64_t packet = tcp_packet_at(tcp, quench->seq);

	tcp->now_ns = now;
	if (!tcp->begun || packet <= tcp->acked || packet > tcp->highest ||
	    quench->from.address != tcp->here.address || quench->from.port != tcp->here.port ||
	    quench->to.address != tcp->there.address || quench->to.port != tcp->there.port) {
		tcp->counters.quenches_stale++;
		return;
	}
	tcp->counters.quenches++;
	if (response->quenched)
		response->quenched(tcp, quench->marked);
}

void tcp_expire(struct tcp *tcp, simtime now)
{
	tcp->now_ns = now;
	tcp->expires_ns = SIMTIME_NEVER;
	tcp->dupwnd = 0;
	tcp->duplicates = 0;
	tcp->recover = tcp->highest;
	/* If nothing is outstanding, this is no timeout: a window of 0 has waited for the timer. */
	if (tcp->acked < tcp->highest) {
		tcp->counters.timeouts++;
		if (tcp->action != TCP_ACTION_SIGNAL)
			ssthresh_cut(tcp, tcp_half(tcp));
		tcp->reduced = true;
		tcp_back_off(tcp);
		tcp_timer_set(tcp);
	}
	tcp->cwnd = 1;
	tcp->action = TCP_ACTION_TIMEOUT;
	tcp->next = tcp->acked + 1;
	tcp->timed = false;
	send_allowed(tcp, 0);
}
