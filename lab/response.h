/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a sender does about congestion signals, and what its receiver echoes. Each response is a
 * file of its own, response_NAME.c, and a row in response.c.
 *
 * A response's functions are called with the sender's `now_ns` set. Parameters: struct
 * response_conf (tcp.h). State: what struct tcp has for it. Thread: the sender's.
 */
#ifndef WEIR_LAB_RESPONSE_H
#define WEIR_LAB_RESPONSE_H

#include "lab/tcp.h"

/* What a receiver does with CE. */
enum echo {
	ECHO_NONE,
	ECHO_LATCHED, /* RFC 3168: on every acknowledgement, until CWR comes */
	ECHO_EACH,    /* on the acknowledgement of the packet that carried it (BCN-TCP) */
};

struct response {
	const char *name, *help;
	bool capable;   /* sends ECT(0) and negotiates ECN */
	bool tells_ttl; /* the receiver returns the arriving TTL in an IP option */
	enum echo echo;
	/* An acknowledgement with ECE, before anything else of it is treated; or NULL. */
	void (*echoed)(struct tcp *tcp, int64_t ack, const struct segment *segment);
	/* A quench of this connection, of a packet that is in flight; or NULL. */
	void (*quenched)(struct tcp *tcp, bool marked);
	/* Whether this acknowledgement of new data, without ECE, does not grow the window; or
	 * NULL. */
	bool (*holds)(const struct tcp *tcp, int64_t ack);
	/* If every packet asks in the unified header, as conf->hops says: this acknowledgement has
	 * brought answers, which are in tcp->asking already; or NULL. */
	void (*told)(struct tcp *tcp);
	/* Instead of tcp_grow; or NULL. */
	void (*grow)(struct tcp *tcp);
	/* The third duplicate: whether a signal has cut already, so that the packet is sent again
	 * and nothing else; or NULL. */
	bool (*spares)(const struct tcp *tcp);
};

extern const struct response response_none, response_ecn, response_becn, response_ecn_becn,
        response_bcn, response_ecn_mod, response_limited, response_extended;

/* The index-th; NULL past the last. */
const struct response *response_at(uint32_t index);

/* The cut that ECN makes on an echo, once a window (RFC 3168 6.1.2, as ns-2 does it). */
void response_ecn_echoed(struct tcp *tcp, int64_t ack, const struct segment *segment);
/* That on a quench: once a window, and while a mark's window lasts no growth. */
void response_becn_quenched(struct tcp *tcp, bool marked);
bool response_becn_holds(const struct tcp *tcp, int64_t ack);
/* The growth of limited slow-start with max_ssthresh `most`; 0: no limit. */
void response_limited_grow(struct tcp *tcp, uint32_t most);

#endif
