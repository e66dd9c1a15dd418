/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sending half of a TCP connection, with the semantics of ns-2.1b8a's one-way agents, on which
 * the papers' figures stand: it counts in packets, and its connection's first packet (number 0) is
 * the SYN. On the wire it writes real segments, whose sequence numbers count bytes.
 *
 * Model (S. Floyd's agents in ns-2.1b8a, May 2001; RFC 2001, RFC 2582, RFC 2988's predecessors):
 *   window      floor(min(cwnd + dupwnd, window)), window 100, ssthresh 100 at first, cwnd 1 for
 *               the SYN
 *   growth      an acknowledgement of new data: cwnd < ssthresh: + 1, else + 1 / cwnd
 *   cut         half = floor(window as above / 2), in fast recovery with dupwnd; ssthresh = max(2,
 *               half); cwnd = half. A source quench: cwnd = min(cwnd + dupwnd, window) / 2, not
 *               rounded
 *   RTT         one timed packet at a time, in ticks of 100 ms, with the fraction of the tick that
 *               had passed when it was sent; srtt in eighths, variance in quarters; RTO = srtt + 4
 *               var in whole ticks, 6 s at first; times the backoff, and only then from 1 s to
 *               100000 s; backoff doubles to 64, beyond 8 srtt moves into the variance
 *   timeout     recover = highest sent, ssthresh = half (unless the latest action was one on a
 *               congestion signal), cwnd = 1, go back N
 * How losses are recovered is a `struct recovery` (Tahoe, Reno, NewReno), what answers congestion
 * signals a `struct response` (response.h).
 *
 * Driven by events, each with its instant: tcp_start, tcp_segment, tcp_quench, tcp_expire. What it
 * sends goes to `wire`. After every call `expires_ns` says when it wants to be called.
 *
 * Units: windows in packets, instants in ns. Ownership: the conf stays the caller's and outlives
 * it. Determinism: no draw of its own; where in a tick it was started is given. Thread: one.
 */
#ifndef WEIR_LAB_TCP_H
#define WEIR_LAB_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/asking.h"
#include "lab/frame.h"
#include "simtime.h"

#define TCP_UNLIMITED INT64_MAX

struct tcp;
struct recovery;
struct response;

/* becn: how long a marked packet stops growth, in the order of group_waits. */
enum becn_wait {
	BECN_WAIT_OUTSTANDING, /* until what was out at the cut is acknowledged */
	BECN_WAIT_ROUND,       /* as long as the latest round trip took */
	BECN_WAIT_NONE,
};

/* Parameters of the responses; each says which it reads. */
#define TCP_HOP_FACTORS_MAX 8
struct response_conf {
	double factor; /* bcn: of the window, on a mark */
	struct {
		uint32_t hops;
		double factor;
	} by_hops[TCP_HOP_FACTORS_MAX]; /* bcn: instead of factor, hops ascending */
	uint32_t n_by_hops;
	bool grows_while_marked;   /* bcn: unmarked acknowledgements grow the window all the same */
	bool cuts_to_whole;        /* bcn: what a mark leaves is whole packets */
	enum becn_wait wait;       /* becn, ecn-becn */
	double increase, decrease; /* ecn-mod: c1, c2 */
	uint32_t slow_start_max;   /* limited slow-start: max_ssthresh, packets */
	bool slow_start_exact;     /* the same without the truncation to whole bytes */
};

struct tcp_conf {
	const struct recovery *recovery;
	const struct response *response;
	struct response_conf signal;
	uint32_t window;       /* packets, 1 to 65535 */
	uint32_t ssthresh;     /* at first; 0: the window */
	uint32_t packet_bytes; /* of IPv4, TCP and data: 41 (57 with hops) to FRAME_IP_BYTES_MAX */
	uint32_t hops;         /* asked in the unified header of each packet; 0: without one */
	bool syn_capable;      /* the SYN too is sent with ECT(0), if the response is capable */
	simtime tick_ns, rto_first_ns, rto_min_ns, rto_max_ns;
};

enum tcp_action { TCP_ACTION_NONE, TCP_ACTION_DUPLICATES, TCP_ACTION_TIMEOUT, TCP_ACTION_SIGNAL };

struct tcp_counters {
	uint64_t sent, resent; /* packets; the resent are among the sent */
	uint64_t timeouts, fast_retransmits;
	uint64_t echoes;         /* acknowledgements with ECE */
	uint64_t quenches;       /* heeded or not, but ours */
	uint64_t quenches_stale; /* of another connection, or of a packet that is not in flight */
	uint64_t cuts;           /* by a signal */
};

struct tcp {
	const struct tcp_conf *conf;
	void (*wire)(void *argument, const struct segment *segment);
	void *argument;
	struct frame_end here, there;
	uint32_t sequence; /* the SYN's */
	simtime now_ns, boot_ns;
	int64_t limit;   /* the last packet there is; TCP_UNLIMITED */
	int64_t next;    /* to send */
	int64_t highest; /* sent */
	int64_t acked;   /* all up to it */
	int64_t recover; /* highest sent at the latest cut */
	double cwnd;
	uint32_t ssthresh, dupwnd, duplicates;
	enum tcp_action action; /* the latest */
	bool reduced;           /* the next packet carries CWR */
	bool begun;
	/* round-trip time */
	bool timed;
	int64_t timed_packet;
	simtime timed_ns;
	int32_t srtt_8, variance_4, rto_ticks, backoff;
	simtime rtt_ns; /* the latest, to the ns; 0: none yet */
	simtime expires_ns;
	/* of the responses */
	int64_t hold;   /* becn: no growth up to it; bcn: the end of the mode */
	bool hesitates; /* ecn: an echo came with a window of one: the next one backs off */
	bool informed;  /* extended: by the path, which has said: */
	uint32_t slow_start_max;
	simtime hold_ns;   /* becn: no growth before it */
	uint32_t peer_ack; /* the number that its own segments acknowledge */
	struct tcp_counters counters;
	struct asking asking;
};

/* How losses are recovered. */
struct recovery {
	const char *name, *help;
	/* The third duplicate acknowledgement. */
	void (*third)(struct tcp *tcp);
	/* Whether a fourth and further one widen the window by one each. */
	bool inflates;
	/* An acknowledgement of new data that does not end the recovery: dealt with, true; or
	 * NULL. */
	bool (*partial)(struct tcp *tcp, int64_t ack);
	/* Whether the latest action is over when it ends. */
	bool exits;
};

extern const struct recovery recovery_tahoe, recovery_reno, recovery_newreno;
/* The index-th; NULL past the last. */
const struct recovery *recovery_at(uint32_t index);

/* ns-2.1b8a's values, Akujobi's packets: NewReno, no response, 100 packets of 1000 bytes. */
void tcp_conf_init(struct tcp_conf *conf);
/* Nothing is sent yet. `boot_ns`: where in a tick its clock began, less than a tick. */
void tcp_init(struct tcp *tcp, const struct tcp_conf *conf, struct frame_end here,
              struct frame_end there, simtime boot_ns);
/* Begins to send: the SYN, then `packets` of data, or TCP_UNLIMITED. */
void tcp_start(struct tcp *tcp, simtime now, int64_t packets);
void tcp_segment(struct tcp *tcp, simtime now, const struct segment *segment);
void tcp_quench(struct tcp *tcp, simtime now, const struct quench *quench);
/* At expires_ns. */
void tcp_expire(struct tcp *tcp, simtime now);

static inline bool tcp_is_done(const struct tcp *tcp)
{
	return tcp->begun && tcp->acked >= tcp->limit;
}

/* ---- for recoveries and responses ---- */

/* floor(min(cwnd + dupwnd, window)) */
static inline int64_t tcp_window(const struct tcp *tcp)
{
	double window = tcp->cwnd + tcp->dupwnd;

	return window < tcp->conf->window ? (int64_t)window : tcp->conf->window;
}
/* half, as above */
void tcp_transmit(struct tcp *tcp, int64_t packet);
/* ssthresh = max(2, half), cwnd = half. The peer will hear of it (CWR). */
void tcp_halve(struct tcp *tcp);
/* The same without rounding: cwnd = min(cwnd + dupwnd, window) / 2; ssthresh is whole all the
 * same. */
void tcp_halve_exactly(struct tcp *tcp);
void tcp_timer_set(struct tcp *tcp);
/* After an acknowledgement up to `ack`: as long as anything is out. */
void tcp_timer_renew(struct tcp *tcp, int64_t ack);
void tcp_back_off(struct tcp *tcp);
/* Standard growth by one acknowledgement. */
void tcp_grow(struct tcp *tcp);
/* The packet whose first byte has this number; it may lie in no window at all. */
int64_t tcp_packet_at(const struct tcp *tcp, uint32_t seq);
/* One packet is as many bytes of data. With a header the rest is smaller. */
static inline uint32_t tcp_data_bytes(const struct tcp_conf *conf)
{
	return conf->packet_bytes - FRAME_HEADERS_BYTES - (conf->hops ? OQ_BYTES : 0);
}
/* The SYN takes one number, so that packet n of data begins at 1 + (n - 1) x its bytes. */
static inline uint32_t tcp_seq_of(const struct tcp *tcp, int64_t packet)
{
	if (packet <= 0)
		return tcp->sequence;
	return tcp->sequence + 1 + (uint32_t)(packet - 1) * tcp_data_bytes(tcp->conf);
}

#endif
