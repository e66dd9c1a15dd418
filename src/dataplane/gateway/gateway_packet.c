/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends the ICMP errors of a gateway (RFC 792, RFC 4443), and messages from any address. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rte_ip.h>

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>

#include "gateway/gateway_state.h"
#include "packet/headers.h"

/* The fields of IP headers that a gateway carries, from and to ancillary data of sockets. */

#ifndef IPV6_FLOWINFO /* defined in linux/in6.h, which conflicts with netinet/in.h */
#define IPV6_FLOWINFO 11
#endif
#ifndef IPV6_AUTOFLOWLABEL
#define IPV6_AUTOFLOWLABEL 70
#endif
#define LABEL_MASK 0xfffffu
#define TOS_SHIFT  20 /* of the traffic class in the first word of an IPv6 header */

void gateway_set(int fd, int family, int option4, int option6, int value)
{
	bool ipv6 = family == AF_INET6;

	setsockopt(fd, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? option6 : option4, &value,
	           sizeof(value));
}

void gateway_fields_ask(int fd, int family)
{
	gateway_set(fd, family, IP_RECVTOS, IPV6_FLOWINFO, 1);
	gateway_set(fd, family, IP_RECVTTL, IPV6_RECVHOPLIMIT, 1);
	/* A packet without a label stays without one. */
	if (family == AF_INET6)
		gateway_set(fd, family, 0, IPV6_AUTOFLOWLABEL, 0);
}

static void read_one(const struct cmsghdr *at, struct ip_fields *fields)
{
	bool ipv6 = at->cmsg_level == IPPROTO_IPV6;
	uint32_t word;

	/* The kernel writes one byte of this, and four of the others. */
	if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_TOS) {
		fields->tos = *CMSG_DATA(at);
		return;
	}
	if (at->cmsg_len < CMSG_LEN(sizeof(word)))
		return;
	memcpy(&word, CMSG_DATA(at), sizeof(word));
	if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_TTL)
		fields->hops = (uint8_t)word;
	if (ipv6 && at->cmsg_type == IPV6_HOPLIMIT)
		fields->hops = (uint8_t)word;
	if (ipv6 && at->cmsg_type == IPV6_FLOWINFO) {
		fields->tos = (uint8_t)(ntohl(word) >> TOS_SHIFT);
		fields->label = ntohl(word) & LABEL_MASK;
	}
}

void gateway_fields_read(struct msghdr *message, struct ip_fields *fields)
{
	for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at))
		read_one(at, fields);
}

void gateway_control_begin(struct msghdr *message, union gateway_control *room)
{
	message->msg_control = room;
	message->msg_controllen = 0;
}

static void gateway_control_add(struct msghdr *message, int level, int type, const void *value,
                                uint32_t bytes)
{
	struct cmsghdr *at =
	        (struct cmsghdr *)((uint8_t *)message->msg_control + message->msg_controllen);

	memset(at, 0, CMSG_SPACE(bytes));
	at->cmsg_level = level;
	at->cmsg_type = type;
	at->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(at), value, bytes);
	message->msg_controllen += CMSG_SPACE(bytes);
}

void gateway_fields_add(struct msghdr *message, int family, const struct ip_fields *fields)
{
	bool ipv6 = family == AF_INET6;
	int level = ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, tos = fields->tos, hops = fields->hops;
	uint32_t label = htonl(fields->label);

	gateway_control_add(message, level, ipv6 ? IPV6_TCLASS : IP_TOS, &tos, sizeof(tos));
	gateway_control_add(message, level, ipv6 ? IPV6_HOPLIMIT : IP_TTL, &hops, sizeof(hops));
	if (ipv6)
		gateway_control_add(message, level, IPV6_FLOWINFO, &label, sizeof(label));
}

#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define HOP_LIMIT  64

uint16_t gateway_sum(uint32_t start, const void *a, uint32_t a_bytes, const void *b,
                     uint32_t b_bytes)
{
	/* The sum of sixteen-bit words depends on the order of bytes only in that of its own. */
	uint64_t sum = (uint64_t)ntohs(rte_raw_cksum(a, a_bytes)) +
	               ntohs(rte_raw_cksum(b, b_bytes)) + start;

	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void *any_part(const void *bytes)
{
	return (void *)(uintptr_t)bytes;
}

void gateway_raw_send(struct gateway *gateway, int fd, const struct gateway_packet *packet)
{
	int family = packet->ends->from.family;
	/* A raw socket of IPv6 accepts no port. */
	union address_socket to = address_socket(&packet->ends->from, 0);
	struct iovec parts[] = {
	        {.iov_base = any_part(packet->header), .iov_len = packet->header_bytes},
	        {.iov_base = any_part(packet->payload), .iov_len = packet->payload_bytes}};
	union gateway_control room;
	struct msghdr message = {.msg_name = &to,
	                         .msg_namelen = address_socket_bytes(family),
	                         .msg_iov = parts,
	                         .msg_iovlen = 2};

	gateway_control_begin(&message, &room);
	/* The address to send from is ancillary data. */
	struct in6_pktinfo info6 = {0};
	struct in_pktinfo info = {0};

	if (packet->from->family == AF_INET) {
		memcpy(&info.ipi_spec_dst, packet->from->bytes, 4);
		gateway_control_add(&message, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	} else {
		memcpy(&info6.ipi6_addr, packet->from->bytes, 16);
		gateway_control_add(&message, IPPROTO_IPV6, IPV6_PKTINFO, &info6, sizeof(info6));
	}
	gateway_fields_add(&message, family, &packet->fields);
	if (sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && gateway_lacks(errno))
		gateway->lost_answers += 1;
}

/* Builds the IP header of the packet that the error is about. Returns its length. */
static uint32_t repeat_header(const struct about *about, uint8_t header[IPV6_BYTES])
{
	const struct ends *ends = &about->ends;
	uint16_t sum;

	memset(header, 0, IPV6_BYTES);
	if (ends->from.family == AF_INET6) {
		headers_put_u32(header, UINT32_C(6) << 28 | (uint32_t)about->fields.tos << 20 |
		                                about->fields.label);
		headers_put_u16(header + 4, sizeof(about->first));
		header[6] = about->protocol;
		header[7] = HOP_LIMIT;
		memcpy(header + 8, ends->from.bytes, 16);
		memcpy(header + 24, ends->to.bytes, 16);
		return IPV6_BYTES;
	}
	header[0] = 0x45;
	header[1] = about->fields.tos;
	headers_put_u16(header + 2, IPV4_BYTES + sizeof(about->first));
	header[6] = 0x40; /* DF */
	header[8] = HOP_LIMIT;
	header[9] = about->protocol;
	memcpy(header + 12, ends->from.bytes, 4);
	memcpy(header + 16, ends->to.bytes, 4);
	sum = gateway_sum(0, header, IPV4_BYTES, NULL, 0);
	headers_put_u16(header + 10, sum);
	return IPV4_BYTES;
}

void gateway_error_send(struct gateway *gateway, const struct about *about,
                        const struct address *router, uint8_t type, uint8_t code,
                        uint32_t information)
{
	unsigned family = gateway_family(about->ends.from.family);
	const struct address *from = router->family == about->ends.from.family
	                                     ? router
	                                     : &gateway->options.gateway[family];
	uint8_t message[8] = {type, code}, repeated[IPV6_BYTES + sizeof(about->first)];
	uint32_t bytes = repeat_header(about, repeated);

	if (gateway->echo[family].fd < 0)
		return;
	memcpy(repeated + bytes, about->first, sizeof(about->first));
	bytes += sizeof(about->first);
	headers_put_u32(message + 4, information);
	/* The kernel computes the checksum of ICMPv6, which covers addresses. */
	if (about->ends.from.family == AF_INET)
		headers_put_u16(message + 2,
		                gateway_sum(0, message, sizeof(message), repeated, bytes));
	gateway_raw_send(gateway, gateway->echo[family].fd,
	                 &(struct gateway_packet){
	                         .ends = &about->ends,
	                         .from = from,
	                         .fields = {.tos = IPTOS_PREC_INTERNETCONTROL, .hops = HOP_LIMIT},
	                         .header = message,
	                         .header_bytes = sizeof(message),
	                         .payload = repeated,
	                         .payload_bytes = bytes});
}

void gateway_errno_send(struct gateway *gateway, const struct about *about, int error)
{
	bool ipv6 = about->ends.from.family == AF_INET6;
	uint8_t type = ipv6 ? ICMP6_DST_UNREACH : ICMP_DEST_UNREACH, code;
	const struct address nobody = {0};

	if (gateway_lacks(error)) {
		gateway_lose(gateway, error);
		return;
	}
	switch (error) {
	case ECONNREFUSED:
		code = ipv6 ? ICMP6_DST_UNREACH_NOPORT : ICMP_PORT_UNREACH;
		break;
	case EACCES:
	case EPERM:
		code = ipv6 ? ICMP6_DST_UNREACH_ADMIN : ICMP_PKT_FILTERED;
		break;
	case ENETUNREACH:
		code = ipv6 ? ICMP6_DST_UNREACH_NOROUTE : ICMP_NET_UNREACH;
		break;
	default:
		code = ipv6 ? ICMP6_DST_UNREACH_ADDR : ICMP_HOST_UNREACH;
	}
	gateway_error_send(gateway, about, &nobody, type, code, 0);
}

/* Carries the bytes of a stream between its two sockets, and ends it. */

#define TURNS 8 /* of reading and writing, before other streams have theirs */

/* ---- the end of a stream ---- */

void stream_close_source(struct gateway *gateway, struct source *source, bool reset)
{
	struct linger at_once = {.l_onoff = 1};

	if (source->fd < 0)
		return;
	gateway_watch(gateway, source, 0);
	if (reset)
		setsockopt(source->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(source->fd);
	source->fd = -1;
}

void stream_end(struct gateway *gateway, struct stream *stream, bool reset)
{
	stream_close_source(gateway, &stream->outside.source, reset);
	stream_close_source(gateway, &stream->inside.source, reset);
	if (stream->listener)
		stream->listener->awaited--;
	stream->listener = NULL;
	gateway->files_free += stream->files;
	stream->files = 0;
	stream->state = STREAM_OVER;
}

/* ---- bytes ---- */

static bool would_block(void)
{
	return errno == EINTR || gateway_lacks(errno);
}

/* Returns true if the next byte is urgent data. This is certain only if there is one to read: then
 * its segment has come, and the kernel returns no byte behind that together with those before. */
static bool is_urgent(int fd)
{
	int mark = 0;

	return ioctl(fd, SIOCATMARK, &mark) == 0 && mark;
}

/* Reads into an empty half. Returns false if there was nothing to read. */
static bool read_some(struct half *half, struct stream_socket *from)
{
	ssize_t got;

	half->urgent = is_urgent(from->source.fd);
	got = recv(from->source.fd, half->bytes, half->urgent ? 1 : GATEWAY_BUFFER, 0);
	if (got < 0 && would_block())
		return false;
	from->broken |= got < 0;
	half->at = 0;
	half->n = got > 0 ? (size_t)got : 0;
	half->ended = got <= 0;
	half->reset = got < 0 || (got == 0 && from->reported);
	return true;
}

/* Returns true if all is written. */
static bool write_all(struct half *half, struct stream_socket *to)
{
	ssize_t got = send(to->source.fd, half->bytes + half->at, half->n,
	                   MSG_NOSIGNAL | (half->urgent ? MSG_OOB : 0));

	if (got < 0) {
		to->broken |= !would_block();
		/* EPIPE: it has closed its side before. */
		to->reported |= to->broken && errno != EPIPE;
		return false;
	}
	half->at += (size_t)got;
	half->n -= (size_t)got;
	return half->n == 0;
}

/* `readable`: an event says that there is something to read. */
static void carry(struct half *half, struct stream_socket *from, struct stream_socket *to,
                  bool readable)
{
	for (int turn = 0; turn < TURNS; turn++) {
		if (half->n == 0 && !half->ended) {
			if (!readable || !read_some(half, from))
				return;
			/* If there is more, another event says so. */
			readable = half->n == GATEWAY_BUFFER;
		}
		if (half->n == 0)
			break;
		if (!write_all(half, to))
			return;
	}
	if (half->ended && half->n == 0 && !half->shut && !half->reset) {
		half->shut = true;
		shutdown(to->source.fd, SHUT_WR);
	}
}

static void discard(struct half *half)
{
	half->n = 0;
	half->ended = true;
}

/* Returns how many bytes of a socket are not acknowledged; 0 if the connection is broken. */
static uint64_t unacknowledged(const struct stream_socket *socket)
{
	struct pollfd polled = {.fd = socket->source.fd};
	int bytes = 0;

	if (socket->broken || (poll(&polled, 1, 0) > 0 && (polled.revents & POLLERR)) ||
	    ioctl(socket->source.fd, SIOCOUTQ, &bytes) < 0)
		return 0;
	return (uint64_t)bytes;
}

void stream_pass_reset(struct gateway *gateway, struct stream *stream)
{
	stream->state = STREAM_ENDING;
	gateway_watch(gateway, &stream->outside.source, 0);
	gateway_watch(gateway, &stream->inside.source, 0);
	if (unacknowledged(&stream->outside) == 0 && unacknowledged(&stream->inside) == 0)
		stream_end(gateway, stream, true);
}

static uint32_t interest(const struct half *reads, const struct half *writes)
{
	return (reads->n == 0 && !reads->ended ? EPOLLIN : 0u) | (writes->n > 0 ? EPOLLOUT : 0u);
}

static bool is_done(const struct half *half)
{
	return half->ended && half->n == 0;
}

/* `readable`: the socket of which an event says that it has something to read, or NULL. */
static void carry_both(struct gateway *gateway, struct stream *stream,
                       const struct stream_socket *readable)
{
	struct stream_socket *outside = &stream->outside, *inside = &stream->inside;
	struct half *out = &stream->out, *in = &stream->in;
	int rc;

	if (!outside->broken)
		carry(out, inside, outside, readable == inside);
	if (!inside->broken)
		carry(in, outside, inside, readable == outside);
	/* What leads to a broken connection is lost. */
	if (outside->broken)
		discard(out);
	if (inside->broken)
		discard(in);
	if (is_done(out) && is_done(in)) {
		if (outside->broken || inside->broken)
			stream_pass_reset(gateway, stream);
		else
			stream_end(gateway, stream, false);
		return;
	}
	rc = gateway_watch(gateway, &inside->source, interest(out, in));
	if (rc == 0)
		rc = gateway_watch(gateway, &outside->source, interest(in, out));
	if (rc == 0)
		return;
	gateway_lose(gateway, -rc);
	stream_end(gateway, stream, true);
}

static void socket_ready(struct gateway *gateway, struct source *source, uint32_t events)
{
	struct stream_socket *socket = (struct stream_socket *)source;

	if (socket->stream->state != STREAM_CARRYING)
		return;
	socket->broken |= (events & EPOLLERR) != 0;
	carry_both(gateway, socket->stream,
	           events & (EPOLLIN | EPOLLERR | EPOLLHUP) ? socket : NULL);
}

void stream_carry(struct gateway *gateway, struct stream *stream)
{
	int on = 1;

	stream->inside.source.ready = stream->outside.source.ready = socket_ready;
	stream->state = STREAM_CARRYING;
	setsockopt(stream->inside.source.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(stream->outside.source.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	carry_both(gateway, stream, NULL);
}

uint64_t stream_unsent(const struct stream *stream)
{
	int bytes = 0;

	if (stream->state == STREAM_ENDING)
		return unacknowledged(&stream->outside);
	if (stream->state != STREAM_CARRYING || stream->outside.broken)
		return 0;
	ioctl(stream->inside.source.fd, FIONREAD, &bytes);
	/* The end is one. */
	if (bytes == 0 && !stream->out.ended)
		bytes = gateway_is_readable(&stream->inside.source);
	return stream->out.n + (uint64_t)bytes;
}
