/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the parts of a gateway (gateway.h): sources of events, and flows.
 *
 * Thread: the gateway's.
 */
#ifndef WEIR_GATEWAY_STATE_H
#define WEIR_GATEWAY_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>

#include "gateway/gateway.h"

#define GATEWAY_BUFFER (256u << 10)
#define GATEWAY_PLACES 1024 /* in each table of flows */

struct gateway;

/* A descriptor, and the function that handles its events. A source is the first field of its
 * owner. */
struct source {
	int fd;
	uint32_t interest; /* EPOLL...; 0: not watched */
	void (*ready)(struct gateway *gateway, struct source *source, uint32_t events);
};

/* A flow, with the addresses and ports that the command uses. */
struct ends {
	struct address from, to;
	uint16_t from_port, to_port; /* of an echo: its identifier, 0 */
};

/* The packet that an ICMP error is about, as far as errors quote it. */
struct about {
	struct ends ends;
	uint8_t protocol;
	uint8_t first[8]; /* bytes behind the IP header */
};

struct stream;
struct talk;
struct listener;

struct gateway {
	struct gateway_options options;
	int epoll, stopping; /* an eventfd, which wakes the thread */
	atomic_bool over;    /* the thread has to end, whether it was woken or not */
	/* Held by the thread while it handles events. */
	pthread_mutex_t handling;
	time_t now_s; /* monotonic clock */
	struct source opening;
	struct stream *streams[GATEWAY_PLACES];
	uint32_t n_ending; /* streams that wait for an acknowledgement, of which no event tells */
	struct listener *listeners;
	/* In the far namespace: [0] IPv4, [1] IPv6; fd -1: the gateway has no address of that
	 * family. */
	struct source udp[2], echo[2];
	struct talk *talks[GATEWAY_PLACES];
	uint32_t n_talks;
	uint8_t *buffer; /* GATEWAY_BUFFER, for one datagram at a time */
};

static inline unsigned gateway_family(int family)
{
	return family == AF_INET6;
}

static inline uint32_t ends_place(const struct ends *ends)
{
	uint32_t h = (uint32_t)ends->from_port * 2654435761u ^ (uint32_t)ends->to_port * 40503u;

	for (uint32_t i = 0; i < sizeof(ends->to.bytes); i++)
		h = (h ^ ends->to.bytes[i]) * 16777619u;
	return (h ^ h >> 16) % GATEWAY_PLACES;
}

static inline bool ends_equal(const struct ends *a, const struct ends *b)
{
	return a->from_port == b->from_port && a->to_port == b->to_port &&
	       address_equal(&a->from, &b->from) && address_equal(&a->to, &b->to);
}

/* Sets the events for which a source is watched; 0 ends watching. Returns 0 or -errno. */
int gateway_watch(struct gateway *gateway, struct source *source, uint32_t interest);
/* Does not wait. False if the descriptor is -1. */
bool gateway_is_readable(const struct source *source);
/* Returns the address to which a socket of this namespace has to connect for a flow to `to`. */
union address_socket gateway_target(const struct gateway *gateway, const struct address *to,
                                    uint16_t port);
/* Returns true if an address is the gateway's own. */
bool gateway_is_own(const struct gateway *gateway, const struct address *address);

/* gateway_stream.c: TCP */
void gateway_opening_ready(struct gateway *gateway, struct source *source, uint32_t events);
void gateway_streams_expire(struct gateway *gateway);
/* Returns the bytes of gateway_unsent, but for datagrams. */
uint64_t gateway_streams_unsent(const struct gateway *gateway);
void gateway_streams_close(struct gateway *gateway);

/* gateway_talk.c: UDP and ICMP echo */
int gateway_talks_open(struct gateway *gateway, struct problem *problem);
void gateway_talks_expire(struct gateway *gateway);
/* Returns true if a datagram of the command waits. */
bool gateway_talks_wait(const struct gateway *gateway);
void gateway_talks_close(struct gateway *gateway);

/* gateway_error.c: sends an ICMP error from `router` to the sender of `about`. `type` and `code`
 * are those of the family's ICMP; `information` is the MTU, if the error has one. */
void gateway_error_send(struct gateway *gateway, const struct about *about,
                        const struct address *router, uint8_t type, uint8_t code,
                        uint32_t information);
/* Sends the ICMP error for an errno of this machine: EHOSTUNREACH and the like. */
void gateway_errno_send(struct gateway *gateway, const struct about *about, int error);
/* Sends a header and a payload by a raw socket, from an address of the far namespace. */
void gateway_raw_send(int fd, const struct ends *ends, const struct address *from,
                      const void *header, uint32_t header_bytes, const void *payload,
                      uint32_t payload_bytes);
/* Returns the checksum of RFC 1071 over two parts. The length of the first part must be even. */
uint16_t gateway_sum(uint32_t start, const void *a, uint32_t a_bytes, const void *b,
                     uint32_t b_bytes);

#endif
