/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sender's response to congestion signals, and what its receiver echoes. Each response is a file
 * of its own, response_NAME.c, and a row in response.c.
 *
 * A response's functions are called with the sender's `now_ns` set. Parameters: struct
 * response_conf (tcp.h). State: the response's fields of struct tcp.
 * Thread: the sender's.
 */
#ifndef WEIR_LAB_RESPONSE_H
#define WEIR_LAB_RESPONSE_H

#include "lab/tcp.h"

/* How a receiver echoes CE. */
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
	/* Handles an acknowledgement with ECE, before anything else in it is processed; or NULL. */
	void (*echoed)(struct tcp *tcp, int64_t ack, const struct segment *segment);
	/* Handles a quench of this connection, about a packet that is in flight; or NULL. */
	void (*quenched)(struct tcp *tcp, bool marked);
	/* Returns true if this acknowledgement of new data, without ECE, does not grow the window;
	 * or NULL. */
	bool (*holds)(const struct tcp *tcp, int64_t ack);
	/* Handles answers that an acknowledgement has brought, and that are in tcp->asking already;
	 * or NULL. With it, every packet has a request in the unified header, as conf->hops
	 * says. */
	void (*told)(struct tcp *tcp);
	/* Replaces tcp_grow; or NULL. */
	void (*grow)(struct tcp *tcp);
	/* At the third duplicate: returns true if a signal has cut already, so that the packet is
	 * sent again and nothing else happens; or NULL. */
	bool (*spares)(const struct tcp *tcp);
};

extern const struct response response_none, response_ecn, response_becn, response_ecn_becn,
        response_bcn, response_ecn_mod, response_limited, response_extended;

/* Returns the response with this index; NULL past the last. */
const struct response *response_at(uint32_t index);

/* Makes ECN's cut on an echo, once a window (RFC 3168 6.1.2, as in ns-2). */
void response_ecn_echoed(struct tcp *tcp, int64_t ack, const struct segment *segment);
/* Makes BECN's cut on a quench, once a window. After a mark there is no growth while that window
 * lasts. */
void response_becn_quenched(struct tcp *tcp, bool marked);
bool response_becn_holds(const struct tcp *tcp, int64_t ack);
/* Grows by limited slow-start with max_ssthresh `most`; 0: no limit. */
void response_limited_grow(struct tcp *tcp, uint32_t most);

#endif
