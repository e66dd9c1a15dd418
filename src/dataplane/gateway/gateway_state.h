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

#define GATEWAY_BUFFER   (256u << 10)
#define GATEWAY_PLACES   1024 /* in each table of flows */
#define GATEWAY_IN_USE_S 5    /* a flow that was used so recently may still get an answer */

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

/* What the gateway carries of an IP header, in both directions, as a router does. */
struct ip_fields {
	uint8_t tos;    /* IPv4's type of service, IPv6's traffic class: DSCP and ECN */
	uint8_t hops;   /* TTL, hop limit */
	uint32_t label; /* the flow label of IPv6 */
};

/* The packet that an ICMP error is about, as far as errors quote it. */
struct about {
	struct ends ends;
	struct ip_fields fields;
	uint8_t protocol;
	uint8_t first[8]; /* bytes behind the IP header */
};

/* What this machine may lack to pass on a packet. */
enum gateway_lack {
	GATEWAY_LACKS_FILES,
	GATEWAY_LACKS_SYSTEM_FILES,
	GATEWAY_LACKS_WATCHES,
	GATEWAY_LACKS_PORTS,
	GATEWAY_LACKS_MEMORY,
	GATEWAY_LACKS_ROOM,
	GATEWAY_LACKS_TIME,
	GATEWAY_LACKS_PLACES,
	GATEWAY_LACKS
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
	/* Descriptors that it may still take. Others stay free for the rest of weir. */
	uint32_t files_free;
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
	/* Packets lost by this machine: from the command for each lack, those of them that were
	 * told, and to the command. */
	uint64_t lost[GATEWAY_LACKS], told[GATEWAY_LACKS], lost_answers;
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
/* Takes descriptors from those that are free, if need be from flows of UDP and echo that are not in
 * use. Returns false if there are too few. */
bool gateway_files_take(struct gateway *gateway, uint32_t n);
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

/* gateway_datagram.c: UDP and ICMP echo from the command */
int gateway_datagrams_open(struct gateway *gateway, struct problem *problem);
/* Returns true if a datagram of the command waits. */
bool gateway_datagrams_wait(const struct gateway *gateway);
void gateway_datagrams_close(struct gateway *gateway);
/* Takes as much room for what a socket receives as the system allows. */
void gateway_take_room(int fd);

/* gateway_talk.c: flows of UDP and ICMP echo */
void gateway_talks_expire(struct gateway *gateway);
/* Ends the flow that was idle for longest, if that is longer than `idle_s`. Returns false if there
 * is none. */
bool gateway_talks_give(struct gateway *gateway, time_t idle_s);
void gateway_talks_close(struct gateway *gateway);

/* gateway_packet.c: IP fields in ancillary data (cmsg(3)) of sockets */
#define GATEWAY_CONTROL_BYTES 256

/* Room for what is received or sent with a datagram. */
union gateway_control {
	struct cmsghdr header;
	uint8_t bytes[GATEWAY_CONTROL_BYTES];
};

/* Asks for the fields of what a socket receives. */
void gateway_fields_ask(int fd, int family);
void gateway_fields_read(struct msghdr *message, struct ip_fields *fields);
/* Gives `message` the room for ancillary data; the functions below append to it. */
void gateway_control_begin(struct msghdr *message, union gateway_control *room);
void gateway_fields_add(struct msghdr *message, int family, const struct ip_fields *fields);
/* Sets an option that has two numbers. */
void gateway_set(int fd, int family, int option4, int option6, int value);

/* gateway.c: packets that are lost because this machine lacks something. The network is not to
 * blame for that, so no ICMP error says so. */
/* Returns true if an errno of socket, connect or send is about this machine's means. */
bool gateway_lacks(int error);
/* Counts a packet from the command that is lost for such an errno. */
void gateway_lose(struct gateway *gateway, int error);

/* gateway_packet.c: sends an ICMP error from `router` to the sender of `about`. `type` and `code`
 * are those of the family's ICMP; `information` is the MTU, if the error has one. */
void gateway_error_send(struct gateway *gateway, const struct about *about,
                        const struct address *router, uint8_t type, uint8_t code,
                        uint32_t information);
/* Sends the ICMP error for an errno of a socket outside: EHOSTUNREACH and the like. If this machine
 * lacks something, the packet is lost instead. */
void gateway_errno_send(struct gateway *gateway, const struct about *about, int error);
/* A packet to the command. */
struct gateway_packet {
	const struct ends *ends;    /* those of the command */
	const struct address *from; /* any address */
	struct ip_fields fields;
	const void *header, *payload; /* the first has an even length */
	uint32_t header_bytes, payload_bytes;
};

/* Sends a packet by a raw socket of the far namespace. If this machine cannot send it, it is
 * counted. */
void gateway_raw_send(struct gateway *gateway, int fd, const struct gateway_packet *packet);
/* Returns the checksum of RFC 1071 over two parts. The length of the first part must be even. */
uint16_t gateway_sum(uint32_t start, const void *a, uint32_t a_bytes, const void *b,
                     uint32_t b_bytes);

/*
 * A TCP connection through a gateway (gateway.h): one socket in the far namespace, and one outside.
 *
 *   CONNECTING  the socket outside is not connected yet
 *   WAITING     the segment was let in; the listener has not accepted yet
 *   CARRYING    both sockets are connected
 *   ENDING      one connection is broken; the other one is reset when all that came before the
 *               end is acknowledged there
 *   OVER        to be freed at the end of the round
 */

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

/* gateway_packet.c: begins to carry bytes, when both sockets are connected. */
void stream_carry(struct gateway *gateway, struct stream *stream);
/* Resets the other connection, if all that came before is acknowledged there. */
void stream_pass_reset(struct gateway *gateway, struct stream *stream);
void stream_end(struct gateway *gateway, struct stream *stream, bool reset);
/* Returns the bytes of gateway_unsent. */
uint64_t stream_unsent(const struct stream *stream);
void stream_close_source(struct gateway *gateway, struct source *source, bool reset);

/*
 * A flow of UDP or echo through a gateway (gateway.h).
 */

#define TALK_HEADER_BYTES 8 /* of UDP and of echo */

struct talk {
	struct source outside; /* first */
	struct about about;    /* of the last datagram */
	int family;            /* of the socket outside, which may be another one for a resolver */
	bool raw;   /* echo by a raw socket, which gets IP headers (IPv4) and others' replies */
	bool whole; /* the socket sets "don't fragment" */
	bool own;   /* with this machine: no router is between */
	bool over;
	time_t used_s;
	struct talk *next;
};

static inline bool talk_is_echo(const struct talk *talk)
{
	return talk->about.protocol != IPPROTO_UDP;
}

/* Returns the checksum that a datagram of UDP should have; 0 stands in the place of its own. */
uint16_t talk_udp_sum(const struct address *from, const struct address *to, const void *header,
                      const void *payload, uint32_t payload_bytes);

/* gateway_talk.c: returns the flow of a packet, which it opens if there is none; NULL if it cannot
 * be opened. */
struct talk *talk_for(struct gateway *gateway, const struct about *about);
/* Sends a datagram, without its header of UDP. `whole`: don't fragment. */
void talk_send(struct gateway *gateway, struct talk *talk, const struct about *about, bool whole,
               uint8_t *bytes, uint32_t n);

/* Answers an echo to the gateway itself: the path ends here. */
void talk_echo_answer(struct gateway *gateway, const struct about *about, uint8_t *bytes,
                      uint32_t n);

#endif
