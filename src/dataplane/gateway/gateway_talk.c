/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UDP and ICMP echo through a gateway. Raw sockets in the far namespace receive every datagram; the
 * kernel reassembles fragments. Each flow has a socket outside. Answers and errors from that socket
 * go back to the command, from the address to which the command has sent.
 */
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/errqueue.h>
#include <linux/icmp.h>

#include "gateway/gateway_state.h"
#include "namespace/namespace.h"
#include "packet/headers.h"

#define HEADER_BYTES 8 /* of UDP and of echo */
#define IDLE_S       180
#define TURNS        64
#define SEND_TURNS   4
#define ROOM_BYTES   (8 << 20)
#ifndef IPV6_RECVFRAGSIZE /* defined in linux/in6.h, which conflicts with netinet/in.h */
#define IPV6_RECVFRAGSIZE 77
#endif

/* A datagram received in the far namespace. */
struct datagram {
	struct about about;
	uint8_t hops_left;
	bool keep_whole;      /* don't fragment */
	const uint8_t *bytes; /* behind the IP header */
	uint32_t n;
};

struct talk {
	struct source outside; /* first */
	struct about about;    /* of the last datagram */
	bool raw;     /* echo by a raw socket, which gets IP headers (IPv4) and others' replies */
	uint8_t hops; /* hop limit set on the socket; 0: its default */
	bool over;
	time_t used_s;
	struct talk *next;
};

static bool is_echo(const struct talk *talk)
{
	return talk->about.protocol != IPPROTO_UDP;
}

/* ---- back to the command ---- */

static void answer_udp(struct gateway *gateway, const struct talk *talk, const uint8_t *bytes,
                       uint32_t n)
{
	const struct ends *ends = &talk->about.ends;
	uint8_t header[HEADER_BYTES] = {0};
	uint32_t sum = IPPROTO_UDP + n + HEADER_BYTES;
	uint16_t folded;

	headers_put_u16(header, ends->to_port);
	headers_put_u16(header + 2, ends->from_port);
	headers_put_u16(header + 4, (uint16_t)(n + HEADER_BYTES));
	if (ends->from.family == AF_INET) {
		for (int i = 0; i < 4; i += 2)
			sum += (uint32_t)headers_u16(ends->from.bytes + i) +
			       headers_u16(ends->to.bytes + i);
		folded = gateway_sum(sum, header, sizeof(header), bytes, n);
		headers_put_u16(header + 6, folded ? folded : 0xffff);
	}
	gateway_raw_send(gateway->udp[gateway_family(ends->from.family)].fd, ends, &ends->to,
	                 header, sizeof(header), bytes, n);
}

static void answer_echo(struct gateway *gateway, const struct talk *talk, const uint8_t *bytes,
                        uint32_t n)
{
	const struct ends *ends = &talk->about.ends;
	bool ipv6 = ends->from.family == AF_INET6;
	uint8_t header[HEADER_BYTES];

	if (talk->raw && !ipv6) {
		uint32_t ip_bytes = (uint32_t)(bytes[0] & 15) * 4;

		if (n < ip_bytes)
			return;
		bytes += ip_bytes;
		n -= ip_bytes;
	}
	if (n < HEADER_BYTES || bytes[0] != (ipv6 ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) ||
	    (talk->raw && headers_u16(bytes + 4) != ends->from_port))
		return;
	memcpy(header, bytes, sizeof(header));
	headers_put_u16(header + 4, ends->from_port);
	headers_put_u16(header + 2, 0);
	if (!ipv6)
		headers_put_u16(header + 2, gateway_sum(0, header, sizeof(header),
		                                        bytes + HEADER_BYTES, n - HEADER_BYTES));
	gateway_raw_send(gateway->echo[ipv6].fd, ends, &ends->to, header, sizeof(header),
	                 bytes + HEADER_BYTES, n - HEADER_BYTES);
}

static void pass_error(struct gateway *gateway, const struct about *about,
                       const struct sock_extended_err *error)
{
	union address_socket offender = {0};
	struct address router = {0};
	uint16_t port;
	bool ipv6 = about->ends.from.family == AF_INET6;

	if (error->ee_origin == SO_EE_ORIGIN_LOCAL && error->ee_errno == EMSGSIZE) {
		gateway_error_send(gateway, about, &router,
		                   ipv6 ? ICMP6_PACKET_TOO_BIG : ICMP_DEST_UNREACH,
		                   ipv6 ? 0 : ICMP_FRAG_NEEDED, error->ee_info);
		return;
	}
	if (error->ee_origin != SO_EE_ORIGIN_ICMP && error->ee_origin != SO_EE_ORIGIN_ICMP6) {
		gateway_errno_send(gateway, about, (int)error->ee_errno);
		return;
	}
	memcpy(&offender, SO_EE_OFFENDER(error), sizeof(offender));
	if (offender.any.sa_family == AF_INET || offender.any.sa_family == AF_INET6)
		router = address_from(&offender, &port);
	/* An error of the destination itself comes from the address to which the command has
	 * sent. */
	if (error->ee_errno == ECONNREFUSED)
		router = about->ends.to;
	gateway_error_send(gateway, about, &router, error->ee_type, error->ee_code, error->ee_info);
}

/* Returns the packet that has failed. If several echoes are on their way, it need not be the last
 * one; the error quotes it. */
static struct about failed_one(const struct talk *talk, const uint8_t *sent, ssize_t n)
{
	struct about about = talk->about;

	if (is_echo(talk) && n >= HEADER_BYTES) {
		memcpy(about.first, sent, sizeof(about.first));
		headers_put_u16(about.first + 4, about.ends.from_port);
	}
	return about;
}

/* Returns true if a router or the destination has sent one of the errors. gateway->buffer stays as
 * it is. */
static bool read_errors(struct gateway *gateway, struct talk *talk)
{
	union {
		struct cmsghdr header;
		uint8_t bytes[512];
	} room;
	uint8_t sent[HEADER_BYTES];
	struct iovec part = {.iov_base = sent, .iov_len = sizeof(sent)};
	struct msghdr message;
	struct about about;
	bool come = false;
	ssize_t got;

	for (int turn = 0; turn < TURNS; turn++) {
		message = (struct msghdr){.msg_iov = &part,
		                          .msg_iovlen = 1,
		                          .msg_control = &room,
		                          .msg_controllen = sizeof(room)};
		got = recvmsg(talk->outside.fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
		if (got < 0)
			break;
		about = failed_one(talk, sent, got);
		for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at;
		     at = CMSG_NXTHDR(&message, at)) {
			const struct sock_extended_err *error = (const void *)CMSG_DATA(at);

			if ((at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_RECVERR) ||
			    (at->cmsg_level == IPPROTO_IPV6 && at->cmsg_type == IPV6_RECVERR)) {
				pass_error(gateway, &about, error);
				come |= error->ee_origin != SO_EE_ORIGIN_LOCAL;
			}
		}
	}
	return come;
}

static void outside_ready(struct gateway *gateway, struct source *source, uint32_t events)
{
	struct talk *talk = (struct talk *)source;

	if (talk->over)
		return;
	talk->used_s = gateway->now_s;
	if (events & EPOLLERR)
		read_errors(gateway, talk);
	for (int turn = 0; turn < TURNS; turn++) {
		ssize_t got = recv(source->fd, gateway->buffer, GATEWAY_BUFFER, MSG_DONTWAIT);

		if (got < 0)
			return;
		if (is_echo(talk))
			answer_echo(gateway, talk, gateway->buffer, (uint32_t)got);
		else
			answer_udp(gateway, talk, gateway->buffer, (uint32_t)got);
	}
}

/* ---- flows ---- */

static void set_int(int fd, int ipv6, int four, int six, int value)
{
	if (ipv6)
		setsockopt(fd, IPPROTO_IPV6, six, &value, sizeof(value));
	else
		setsockopt(fd, IPPROTO_IP, four, &value, sizeof(value));
}

/* Returns a socket for an echo. It needs no right if the kernel allows it to this group
 * (net.ipv4.ping_group_range); otherwise it is a raw one. */
static int echo_socket(int family, bool *raw)
{
	int protocol = family == AF_INET6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	struct icmp_filter replies = {.data = ~(1u << ICMP_ECHOREPLY)};
	struct icmp6_filter replies6;

	*raw = false;
	if (fd >= 0)
		return fd;
	fd = socket(family, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		return fd;
	*raw = true;
	if (family == AF_INET6) {
		ICMP6_FILTER_SETBLOCKALL(&replies6);
		ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &replies6);
		setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &replies6, sizeof(replies6));
	} else {
		setsockopt(fd, SOL_RAW, ICMP_FILTER, &replies, sizeof(replies));
	}
	return fd;
}

static int open_outside(struct gateway *gateway, struct talk *talk)
{
	const struct ends *ends = &talk->about.ends;
	bool echo = is_echo(talk);
	union address_socket to =
	        gateway_target(gateway, &ends->to, echo ? (uint16_t)0 : ends->to_port);
	int family = to.any.sa_family, fd;

	fd = echo ? echo_socket(family, &talk->raw)
	          : socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	talk->outside = (struct source){.fd = fd, .ready = outside_ready};
	if (fd < 0)
		return -errno;
	set_int(fd, family == AF_INET6, IP_RECVERR, IPV6_RECVERR, 1);
	if (connect(fd, &to.any, address_socket_bytes(family)) < 0)
		return -errno;
	return gateway_watch(gateway, &talk->outside, EPOLLIN);
}

static void end(struct gateway *gateway, struct talk *talk)
{
	if (talk->outside.fd >= 0) {
		gateway_watch(gateway, &talk->outside, 0);
		close(talk->outside.fd);
	}
	talk->outside.fd = -1;
	talk->over = true;
}

/* Ends the flow that was idle for longest, if there are too many. */
static void make_room(struct gateway *gateway)
{
	struct talk *oldest = NULL;

	if (gateway->n_talks < GATEWAY_TALKS_MAX)
		return;
	for (uint32_t i = 0; i < GATEWAY_PLACES; i++) {
		for (struct talk *talk = gateway->talks[i]; talk; talk = talk->next) {
			if (!talk->over && (!oldest || talk->used_s < oldest->used_s))
				oldest = talk;
		}
	}
	if (oldest)
		end(gateway, oldest);
}

static struct talk *talk_for(struct gateway *gateway, const struct about *about)
{
	struct talk **place = &gateway->talks[ends_place(&about->ends)], *talk;
	int rc;

	for (talk = *place; talk; talk = talk->next) {
		if (!talk->over && talk->about.protocol == about->protocol &&
		    ends_equal(&talk->about.ends, &about->ends))
			return talk;
	}
	make_room(gateway);
	talk = calloc(1, sizeof(*talk));
	if (!talk)
		return NULL;
	talk->about = *about;
	talk->next = *place;
	*place = talk;
	gateway->n_talks++;
	rc = open_outside(gateway, talk);
	if (rc == 0)
		return talk;
	gateway_errno_send(gateway, about, -rc);
	end(gateway, talk);
	return NULL;
}

/* ---- from the command ---- */

static void set_hops(struct talk *talk, const struct datagram *datagram)
{
	bool ipv6 = datagram->about.ends.from.family == AF_INET6;
	uint8_t hops = (uint8_t)(datagram->hops_left - 1);

	/* Only a small hop limit, with which a datagram is to expire on its way, is passed on.
	 * Otherwise the socket's default is used. */
	if (hops > 32)
		hops = 0;
	if (hops != talk->hops)
		set_int(talk->outside.fd, ipv6, IP_TTL, IPV6_UNICAST_HOPS, hops ? hops : -1);
	talk->hops = hops;
	set_int(talk->outside.fd, ipv6, IP_MTU_DISCOVER, IPV6_MTU_DISCOVER,
	        datagram->keep_whole ? IP_PMTUDISC_DO : IP_PMTUDISC_DONT);
}

static void pass_on(struct gateway *gateway, const struct datagram *datagram)
{
	const struct about *about = &datagram->about;
	bool ipv6 = about->ends.from.family == AF_INET6;
	const struct address self = gateway->options.gateway[ipv6];
	const uint8_t *payload = datagram->bytes;
	uint32_t n = datagram->n;
	struct talk *talk;

	if (datagram->hops_left <= 1 && !gateway_is_own(gateway, &about->ends.to)) {
		gateway_error_send(gateway, about, &self,
		                   ipv6 ? ICMP6_TIME_EXCEEDED : ICMP_TIME_EXCEEDED, 0, 0);
		return;
	}
	talk = talk_for(gateway, about);
	if (!talk)
		return;
	talk->about = *about;
	talk->used_s = gateway->now_s;
	set_hops(talk, datagram);
	if (!is_echo(talk)) {
		payload += HEADER_BYTES;
		n -= HEADER_BYTES;
	}
	/* An error that has come before makes send() fail, too: then nothing was sent. */
	for (int turn = 0; turn < SEND_TURNS; turn++) {
		if (send(talk->outside.fd, payload, n, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ||
		    !read_errors(gateway, talk))
			break;
	}
}

/* Answers an echo to the gateway itself: the path ends here. */
static void answer_own_echo(struct gateway *gateway, const struct datagram *datagram)
{
	struct talk talk = {.about = datagram->about};
	bool ipv6 = datagram->about.ends.from.family == AF_INET6;
	uint8_t *bytes = (uint8_t *)(uintptr_t)datagram->bytes;

	bytes[0] = ipv6 ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY;
	answer_echo(gateway, &talk, bytes, datagram->n);
}

/* Reads the ports or the identifier. Returns false if the datagram is not for the gateway. */
static bool read_ends(struct datagram *datagram, bool udp)
{
	struct ends *ends = &datagram->about.ends;
	bool ipv6 = ends->from.family == AF_INET6;

	if (datagram->n < HEADER_BYTES)
		return false;
	memcpy(datagram->about.first, datagram->bytes, HEADER_BYTES);
	if (udp) {
		ends->from_port = headers_u16(datagram->bytes);
		ends->to_port = headers_u16(datagram->bytes + 2);
		return true;
	}
	ends->from_port = headers_u16(datagram->bytes + 4);
	return datagram->bytes[0] == (ipv6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO);
}

static bool read_ipv4(struct gateway *gateway, uint32_t n, struct datagram *datagram)
{
	const uint8_t *ip = gateway->buffer;
	uint32_t bytes = (uint32_t)(ip[0] & 15) * 4;

	if (n < bytes || bytes < 20)
		return false;
	datagram->about.ends.from = address_of(AF_INET, ip + 12);
	datagram->about.ends.to = address_of(AF_INET, ip + 16);
	datagram->hops_left = ip[8];
	datagram->keep_whole = ip[6] & 0x40;
	datagram->bytes = ip + bytes;
	datagram->n = n - bytes;
	return true;
}

static bool read_ipv6(struct gateway *gateway, uint32_t n, struct msghdr *message,
                      struct datagram *datagram)
{
	const struct sockaddr_in6 *from = message->msg_name;
	struct in6_pktinfo info;
	int hops;

	datagram->about.ends.from = address_of(AF_INET6, &from->sin6_addr);
	datagram->keep_whole = true;
	datagram->bytes = gateway->buffer;
	datagram->n = n;
	for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
		if (at->cmsg_level != IPPROTO_IPV6)
			continue;
		if (at->cmsg_type == IPV6_PKTINFO) {
			memcpy(&info, CMSG_DATA(at), sizeof(info));
			datagram->about.ends.to = address_of(AF_INET6, &info.ipi6_addr);
		} else if (at->cmsg_type == IPV6_HOPLIMIT) {
			memcpy(&hops, CMSG_DATA(at), sizeof(hops));
			datagram->hops_left = (uint8_t)hops;
		} else if (at->cmsg_type == IPV6_RECVFRAGSIZE) {
			datagram->keep_whole = false; /* its sender has fragmented it */
		}
	}
	return datagram->about.ends.to.family == AF_INET6 &&
	       !IN6_IS_ADDR_MULTICAST(&info.ipi6_addr);
}

static void inside_ready(struct gateway *gateway, struct source *source, uint32_t events)
{
	bool udp = source == &gateway->udp[0] || source == &gateway->udp[1];
	bool ipv6 = source == &gateway->udp[1] || source == &gateway->echo[1];

	(void)events;
	for (int turn = 0; turn < TURNS; turn++) {
		union {
			struct cmsghdr header;
			uint8_t bytes[256];
		} room;
		struct sockaddr_in6 from;
		struct iovec part = {.iov_base = gateway->buffer, .iov_len = GATEWAY_BUFFER};
		struct msghdr message = {.msg_name = &from,
		                         .msg_namelen = sizeof(from),
		                         .msg_iov = &part,
		                         .msg_iovlen = 1,
		                         .msg_control = &room,
		                         .msg_controllen = sizeof(room)};
		ssize_t got = recvmsg(source->fd, &message, MSG_DONTWAIT);
		struct datagram datagram = {.hops_left = 64};

		if (got < 0)
			return;
		datagram.about.protocol = udp ? IPPROTO_UDP : ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
		if (!(ipv6 ? read_ipv6(gateway, (uint32_t)got, &message, &datagram)
		           : read_ipv4(gateway, (uint32_t)got, &datagram)) ||
		    !read_ends(&datagram, udp))
			continue;
		if (!udp && gateway_is_own(gateway, &datagram.about.ends.to))
			answer_own_echo(gateway, &datagram);
		else
			pass_on(gateway, &datagram);
	}
}

/* ---- opening and closing ---- */

static int open_raw(struct gateway *gateway, struct source *source, int family, int protocol)
{
	int fd = namespace_socket_any_address(gateway->options.net, family,
	                                      SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	int room = ROOM_BYTES, sum_at = 6;
	bool ipv6 = family == AF_INET6;
	struct icmp_filter requests = {.data = ~(1u << ICMP_ECHO)};
	struct icmp6_filter requests6;

	*source = (struct source){.fd = fd, .ready = inside_ready};
	if (fd < 0)
		return fd;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	set_int(fd, ipv6, IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, IP_PMTUDISC_DONT);
	if (ipv6) {
		set_int(fd, true, 0, IPV6_RECVPKTINFO, 1);
		set_int(fd, true, 0, IPV6_RECVHOPLIMIT, 1);
		set_int(fd, true, 0, IPV6_RECVFRAGSIZE, 1);
	}
	if (ipv6 && protocol == IPPROTO_UDP)
		setsockopt(fd, IPPROTO_IPV6, IPV6_CHECKSUM, &sum_at, sizeof(sum_at));
	if (protocol == IPPROTO_ICMP)
		setsockopt(fd, SOL_RAW, ICMP_FILTER, &requests, sizeof(requests));
	if (protocol == IPPROTO_ICMPV6) {
		ICMP6_FILTER_SETBLOCKALL(&requests6);
		ICMP6_FILTER_SETPASS(ICMP6_ECHO_REQUEST, &requests6);
		setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &requests6, sizeof(requests6));
	}
	return gateway_watch(gateway, source, EPOLLIN);
}

int gateway_talks_open(struct gateway *gateway, struct problem *problem)
{
	static const int families[] = {AF_INET, AF_INET6};
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < 2; i++) {
		if (gateway->options.gateway[i].family == 0)
			continue;
		rc = open_raw(gateway, &gateway->udp[i], families[i], IPPROTO_UDP);
		if (rc == 0)
			rc = open_raw(gateway, &gateway->echo[i], families[i],
			              i == 0 ? IPPROTO_ICMP : IPPROTO_ICMPV6);
	}
	if (rc < 0)
		problem_set(problem, -1, "no raw sockets for the gateway: %s", strerror(-rc));
	return rc;
}

void gateway_talks_expire(struct gateway *gateway)
{
	for (uint32_t i = 0; i < GATEWAY_PLACES; i++) {
		for (struct talk **at = &gateway->talks[i]; *at;) {
			struct talk *talk = *at;

			if (!talk->over && gateway->now_s - talk->used_s > IDLE_S)
				end(gateway, talk);
			if (!talk->over) {
				at = &talk->next;
				continue;
			}
			*at = talk->next;
			gateway->n_talks--;
			free(talk);
		}
	}
}

bool gateway_talks_wait(const struct gateway *gateway)
{
	bool wait = false;

	for (unsigned i = 0; i < 2; i++)
		wait |= gateway_is_readable(&gateway->udp[i]) ||
		        gateway_is_readable(&gateway->echo[i]);
	return wait;
}

void gateway_talks_close(struct gateway *gateway)
{
	for (uint32_t i = 0; i < GATEWAY_PLACES; i++) {
		for (struct talk *talk = gateway->talks[i]; talk; talk = talk->next)
			end(gateway, talk);
	}
	gateway_talks_expire(gateway);
	for (unsigned i = 0; i < 2; i++) {
		if (gateway->udp[i].fd >= 0)
			close(gateway->udp[i].fd);
		if (gateway->echo[i].fd >= 0)
			close(gateway->echo[i].fd);
	}
}
