/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sending half of a TCP connection, with the semantics of ns-2.1b8a's one-way agents, with
 * which the papers' figures were made: it counts in packets, and its connection's first packet
 * (number 0) is the SYN. On the wire it writes real segments, whose sequence numbers count bytes.
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
 *               var in whole ticks, 6 s at first; multiplied by the backoff, and only then bounded
 *               to 1 s to 100000 s; backoff doubles to 64, beyond 8 srtt moves into the variance
 *   timeout     recover = highest sent, ssthresh = half (unless the latest action was one on a
 *               congestion signal), cwnd = 1, go back N
 * A `struct recovery` (Tahoe, Reno, NewReno) recovers losses, a `struct response` (response.h)
 * answers congestion signals.
 *
 * Driven by events, each with its instant: tcp_start, tcp_segment, tcp_quench, tcp_expire. Segments
 * go to `wire`. After every call, `expires_ns` is when tcp_expire is to be called.
 *
 * Units: windows in packets, instants in ns.
 * Ownership: the conf stays the caller's and outlives it.
 * Determinism: makes no draws; the caller chooses where in a tick it starts.
 * Thread: one.
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
	BECN_WAIT_OUTSTANDING, /* until what was outstanding at the cut is acknowledged */
	BECN_WAIT_ROUND,       /* for the duration of the latest round trip */
	BECN_WAIT_NONE,
};

/* Parameters of the responses; each comment names the response that reads them. */
#define TCP_HOP_FACTORS_MAX 8
struct response_conf {
	double factor; /* bcn: multiplies the window on a mark */
	struct {
		uint32_t hops;
		double factor;
	} by_hops[TCP_HOP_FACTORS_MAX]; /* bcn: instead of factor, hops ascending */
	uint32_t n_by_hops;
	bool grows_while_marked;   /* bcn: unmarked acknowledgements still grow the window */
	bool cuts_to_whole;        /* bcn: a mark rounds the window down */
	enum becn_wait wait;       /* becn, ecn-becn */
	double increase, decrease; /* ecn-mod: c1, c2 */
	uint32_t slow_start_max;   /* limited: max_ssthresh, packets */
	bool slow_start_exact;     /* limited: without the truncation to whole bytes */
};

struct tcp_conf {
	const struct recovery *recovery;
	const struct response *response;
	struct response_conf signal;
	uint32_t window;       /* packets, 1 to 65535 */
	uint32_t ssthresh;     /* initially; 0: the window */
	uint32_t packet_bytes; /* of IPv4, TCP and data: 41 (57 with hops) to FRAME_IP_BYTES_MAX */
	uint32_t hops;         /* routers to which packets send requests, in a unified header; 0: no
	                        * header */
	bool syn_capable;      /* the SYN has ECT(0), too, if the response is capable */
	simtime tick_ns, rto_first_ns, rto_min_ns, rto_max_ns;
};

enum tcp_action { TCP_ACTION_NONE, TCP_ACTION_DUPLICATES, TCP_ACTION_TIMEOUT, TCP_ACTION_SIGNAL };

struct tcp_counters {
	uint64_t sent, resent; /* packets; the resent are among the sent */
	uint64_t timeouts, fast_retransmits;
	uint64_t echoes;         /* acknowledgements with ECE */
	uint64_t quenches;       /* of this connection, used or not */
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
	int64_t limit;   /* the last packet, or TCP_UNLIMITED */
	int64_t next;    /* to be sent */
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
	simtime rtt_ns; /* the latest, exact to the ns; 0: none yet */
	simtime expires_ns;
	/* of the responses */
	int64_t hold;   /* becn: no growth up to this packet; bcn: the end of the mode */
	bool hesitates; /* ecn: an echo with a window of one; the next one backs off */
	bool informed;  /* extended: the path has answered, so that this is set: */
	uint32_t slow_start_max;
	simtime hold_ns;   /* becn: no growth before this instant */
	uint32_t peer_ack; /* acknowledgement number of its own segments */
	struct tcp_counters counters;
	struct asking asking;
};

/* A way to recover losses. */
struct recovery {
	const char *name, *help;
	/* Handles the third duplicate acknowledgement. */
	void (*third)(struct tcp *tcp);
	/* True if the fourth and each further duplicate widens the window by one packet. */
	bool inflates;
	/* Handles an acknowledgement of new data that does not end the recovery: returns true if it
	 * has done so; or NULL. */
	bool (*partial)(struct tcp *tcp, int64_t ack);
	/* True if the end of the recovery also ends the latest action. */
	bool exits;
};

extern const struct recovery recovery_tahoe, recovery_reno, recovery_newreno;
/* Returns the recovery with this index; NULL past the last. */
const struct recovery *recovery_at(uint32_t index);

/* Sets ns-2.1b8a's values and Akujobi's packets: NewReno, no response, 100 packets of 1000
 * bytes. */
void tcp_conf_init(struct tcp_conf *conf);
/* Initialises a sender, and sends nothing yet. `boot_ns`: where in a tick its clock began, less
 * than a tick. */
void tcp_init(struct tcp *tcp, const struct tcp_conf *conf, struct frame_end here,
              struct frame_end there, simtime boot_ns);
/* Begins to send: the SYN, then `packets` of data, or TCP_UNLIMITED. */
void tcp_start(struct tcp *tcp, simtime now, int64_t packets);
void tcp_segment(struct tcp *tcp, simtime now, const struct segment *segment);
void tcp_quench(struct tcp *tcp, simtime now, const struct quench *quench);
/* Call it at expires_ns. */
void tcp_expire(struct tcp *tcp, simtime now);

static inline bool tcp_is_done(const struct tcp *tcp)
{
	return tcp->begun && tcp->acked >= tcp->limit;
}

/* ---- for recoveries and responses ---- */

/* Returns floor(min(cwnd + dupwnd, window)). */
static inline int64_t tcp_window(const struct tcp *tcp)
{
	double window = tcp->cwnd + tcp->dupwnd;

	return window < tcp->conf->window ? (int64_t)window : tcp->conf->window;
}
/* Sends a packet, for the first time or again. */
void tcp_transmit(struct tcp *tcp, int64_t packet);
/* Sets ssthresh = max(2, half), cwnd = half. CWR reports the cut to the peer. */
void tcp_halve(struct tcp *tcp);
/* The same without rounding: cwnd = min(cwnd + dupwnd, window) / 2; ssthresh is rounded
 * nevertheless. */
void tcp_halve_exactly(struct tcp *tcp);
void tcp_timer_set(struct tcp *tcp);
/* Restarts the timer after an acknowledgement up to `ack`, or stops it if nothing is outstanding.
 * With a window below one packet the timer always runs: only the timer sends then. */
void tcp_timer_renew(struct tcp *tcp, int64_t ack);
void tcp_back_off(struct tcp *tcp);
/* Grows by the standard for one acknowledgement. */
void tcp_grow(struct tcp *tcp);
/* Returns the packet whose first byte has this number; it may be outside any window. */
int64_t tcp_packet_at(const struct tcp *tcp, uint32_t seq);
/* Returns the bytes of data of a packet. With a unified header there are fewer. */
static inline uint32_t tcp_data_bytes(const struct tcp_conf *conf)
{
	return conf->packet_bytes - FRAME_HEADERS_BYTES - (conf->hops ? OQ_BYTES : 0);
}
/* Returns the sequence number of a packet. The SYN takes one number, so packet n of data begins at
 * 1 + (n - 1) x its bytes. */
static inline uint32_t tcp_seq_of(const struct tcp *tcp, int64_t packet)
{
	if (packet <= 0)
		return tcp->sequence;
	return tcp->sequence + 1 + (uint32_t)(packet - 1) * tcp_data_bytes(tcp->conf);
}

#endif
