/* SPDX-License-Identifier: BSD-3-Clause */
/* Tahoe, Reno and NewReno: the third duplicate, and what follows it. */

#include "lab/response.h"
#include "lab/tcp_rtt.h"

static bool is_spared(const struct tcp *tcp)
{
	const struct response *response = tcp->conf->response;

	return response->spares && response->spares(tcp);
}

/* Restarts the timer, without backoff, and ends the timing of a packet in flight. */
static void timer_restart(struct tcp *tcp)
{
	tcp_timer_set(tcp);
	tcp->timed = false;
}

static void tahoe_third(struct tcp *tcp)
{
	if (is_spared(tcp)) {
		tcp->action = TCP_ACTION_DUPLICATES;
	} else if (tcp->acked > tcp->recover) {
		tcp->recover = tcp->highest;
		tcp->action = TCP_ACTION_DUPLICATES;
		tcp_halve(tcp);
	} else {
		return;
	}
	tcp->cwnd = 1;
	tcp->counters.fast_retransmits++;
	timer_restart(tcp);
	tcp->next = tcp->acked + 1;
}

static void reno_third(struct tcp *tcp)
{
	if (is_spared(tcp)) {
		tcp->action = TCP_ACTION_DUPLICATES;
	} else if (tcp->acked > tcp->recover) {
		tcp->recover = tcp->highest;
		tcp->action = TCP_ACTION_DUPLICATES;
		tcp_halve(tcp);
	} else {
		return;
	}
	tcp->counters.fast_retransmits++;
	timer_restart(tcp);
	tcp_transmit(tcp, tcp->acked + 1);
}

/* A partial acknowledgement: a further packet of the same window is lost. Sends it at once, and
 * continues the recovery. */
static bool newreno_partial(struct tcp *tcp, int64_t ack)
{
	if (ack >= tcp->recover || tcp->action != TCP_ACTION_DUPLICATES)
		return false;
	tcp->dupwnd = 0;
	tcp_timer_renew(tcp, ack);
	tcp->acked = ack;
	if (tcp->next < ack + 1)
		tcp->next = ack + 1;
	tcp_rtt_forget(tcp, ack);
	tcp_transmit(tcp, ack + 1);
	return true;
}

const struct recovery recovery_tahoe = {
        .name = "tahoe",
        .help = "a third duplicate: slow start from the lost packet",
        .third = tahoe_third,
};
const struct recovery recovery_reno = {
        .name = "reno",
        .help = "fast recovery until new data are acknowledged",
        .third = reno_third,
        .inflates = true,
};
const struct recovery recovery_newreno = {
        .name = "newreno",
        .help = "fast recovery until all that was out is acknowledged (RFC 2582)",
        .third = reno_third,
        .inflates = true,
        .partial = newreno_partial,
        .exits = true,
};

static const struct recovery *const recoveries[] = {&recovery_tahoe, &recovery_reno,
                                                    &recovery_newreno, NULL};

const struct recovery *recovery_at(uint32_t index)
{
	return index < sizeof(recoveries) / sizeof(recoveries[0]) ? recoveries[index] : NULL;
}
