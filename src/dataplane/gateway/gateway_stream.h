/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A TCP connection through a gateway (gateway.h): one socket in the far namespace, and one outside.
 *
 *   CONNECTING  the socket outside is not connected yet
 *   WAITING     the segment was let in; the listener has not accepted yet
 *   CARRYING    both sockets are connected
 *   ENDING      one connection is broken; the other one is reset when all that came before the
 *               end is acknowledged there
 *   OVER        to be freed at the end of the round
 *
 * Thread: the gateway's.
 */
#ifndef WEIR_GATEWAY_STREAM_H
#define WEIR_GATEWAY_STREAM_H

#include "gateway/gateway_state.h"

#define STREAM_SEGMENT_MAX 256 /* bytes of headers with all options */

enum stream_state {
	STREAM_CONNECTING,
	STREAM_WAITING,
	STREAM_CARRYING,
	STREAM_ENDING,
	STREAM_OVER
};

/* A socket in the far namespace for all connections to one address and port. */
struct listener {
	struct source source; /* first */
	struct address address;
	uint16_t port;
	uint32_t awaited; /* streams that wait for it */
	struct listener *next;
};

/* One direction of a stream. */
struct half {
	uint8_t *bytes;
	size_t at, n;
	bool urgent; /* it has one byte, of urgent data (RFC 9293, 3.8.5) */
	bool ended;  /* nothing more can be read */
	bool reset;  /* and the reason is a reset */
	bool shut;   /* the other side has been shut down, too */
};

struct stream_socket {
	struct source source; /* first */
	struct stream *stream;
	bool broken;   /* what it has received can be read; nothing can be sent */
	bool reported; /* send() has returned the reset, so recv() will return 0 in its place */
};

struct stream {
	enum stream_state state;
	struct ends ends;
	struct stream_socket outside, inside;
	struct half out, in;
	int family; /* of the socket outside */
	struct listener *listener;
	uint32_t files; /* descriptors that it has, or may still need */
	time_t until_s;
	uint8_t segment[STREAM_SEGMENT_MAX]; /* the frame that opens the stream */
	uint32_t segment_bytes;
	struct stream *next;
};

/* gateway_carry.c: begins to carry bytes, when both sockets are connected. */
void stream_carry(struct gateway *gateway, struct stream *stream);
/* Resets the other connection, if all that came before is acknowledged there. */
void stream_pass_reset(struct gateway *gateway, struct stream *stream);
void stream_end(struct gateway *gateway, struct stream *stream, bool reset);
/* Returns the bytes of gateway_unsent. */
uint64_t stream_unsent(const struct stream *stream);
void stream_close_source(struct gateway *gateway, struct source *source, bool reset);

#endif
