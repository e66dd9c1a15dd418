/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams of UDP and ICMP echo from the command. Raw sockets in the far namespace receive every
 * one, with its IP header; the kernel reassembles fragments. A datagram whose checksum is wrong
 * ends here, as it would at its destination.
 */
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <string.h>
#include <unistd.h>

#include <linux/icmp.h>

#include "gateway/gateway_state.h"
#include "namespace/namespace.h"
#include "packet/headers.h"

#define TURNS      64
#define ROOM_BYTES (8 << 20)
#ifndef IPV6_RECVFRAGSIZE /* defined in linux/in6.h, which conflicts with netinet/in.h */
#define IPV6_RECVFRAGSIZE 77
#endif

struct datagram {
	struct about about;
	bool whole;     /* don't fragment */
	uint8_t *bytes; /* behind the IP header */
	uint32_t n;
};

static void pass_on(struct gateway *gateway, const struct datagram *datagram)
{
	const struct about *about = &datagram->about;
	bool ipv6 = about->ends.from.family == AF_INET6;
	const struct address self = gateway->options.gateway[ipv6];
	uint32_t header = about->protocol == IPPROTO_UDP ? TALK_HEADER_BYTES : 0;
	struct talk *talk;

	if (about->fields.hops <= 1 && !gateway_is_own(gateway, &about->ends.to)) {
		gateway_error_send(gateway, about, &self,
		                   ipv6 ? ICMP6_TIME_EXCEEDED : ICMP_TIME_EXCEEDED, 0, 0);
		return;
	}
	talk = talk_for(gateway, about);
	if (talk)
		talk_send(gateway, talk, about, datagram->whole, datagram->bytes + header,
		          datagram->n - header);
}

/* Reads the ports. Returns false if the datagram is damaged. */
static bool read_udp(struct datagram *datagram)
{
	struct ends *ends = &datagram->about.ends;
	uint8_t *udp = datagram->bytes;
	uint32_t bytes = headers_u16(udp + 4);
	uint16_t sum = headers_u16(udp + 6);

	if (bytes < TALK_HEADER_BYTES || bytes > datagram->n)
		return false;
	datagram->n = bytes;
	ends->from_port = headers_u16(udp);
	ends->to_port = headers_u16(udp + 2);
	/* With IPv4, the checksum is optional. */
	if (sum == 0)
		return ends->from.family == AF_INET;
	headers_put_u16(udp + 6, 0);
	return talk_udp_sum(&ends->from, &ends->to, udp, udp + TALK_HEADER_BYTES,
	                    bytes - TALK_HEADER_BYTES) == sum;
}

/* Reads the identifier. Returns false if it is no echo, or if it is damaged. The kernel verifies
 * the checksum of ICMPv6. */
static bool read_echo(struct datagram *datagram)
{
	const uint8_t *icmp = datagram->bytes;

	datagram->about.ends.from_port = headers_u16(icmp + 4);
	if (datagram->about.protocol == IPPROTO_ICMPV6)
		return icmp[0] == ICMP6_ECHO_REQUEST;
	return icmp[0] == ICMP_ECHO &&
	       gateway_sum(0, icmp, TALK_HEADER_BYTES, icmp + TALK_HEADER_BYTES,
	                   datagram->n - TALK_HEADER_BYTES) == 0;
}

static bool read_ipv4(struct gateway *gateway, uint32_t n, struct datagram *datagram)
{
	uint8_t *ip = gateway->buffer;
	uint32_t bytes = (uint32_t)(ip[0] & 15) * 4;

	if (n < bytes || bytes < 20)
		return false;
	datagram->about.ends.from = address_of(AF_INET, ip + 12);
	datagram->about.ends.to = address_of(AF_INET, ip + 16);
	datagram->about.fields = (struct ip_fields){.tos = ip[1], .hops = ip[8]};
	datagram->whole = ip[6] & 0x40;
	datagram->bytes = ip + bytes;
	datagram->n = n - bytes;
	return true;
}

static bool read_ipv6(struct gateway *gateway, uint32_t n, struct msghdr *message,
                      struct datagram *datagram)
{
	const struct sockaddr_in6 *from = message->msg_name;
	struct in6_pktinfo info = {0};

	datagram->about.ends.from = address_of(AF_INET6, &from->sin6_addr);
	datagram->whole = true;
	datagram->bytes = gateway->buffer;
	datagram->n = n;
	gateway_fields_read(message, &datagram->about.fields);
	for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
		if (at->cmsg_level != IPPROTO_IPV6)
			continue;
		if (at->cmsg_type == IPV6_PKTINFO) {
			memcpy(&info, CMSG_DATA(at), sizeof(info));
			datagram->about.ends.to = address_of(AF_INET6, &info.ipi6_addr);
		} else if (at->cmsg_type == IPV6_RECVFRAGSIZE) {
			datagram->whole = false; /* its sender has fragmented it */
		}
	}
	return datagram->about.ends.to.family == AF_INET6 &&
	       !IN6_IS_ADDR_MULTICAST(&info.ipi6_addr);
}

/* Reads what follows the IP header. Returns false if it is not for the gateway. */
static bool read_transport(struct datagram *datagram)
{
	if (datagram->n < TALK_HEADER_BYTES)
		return false;
	memcpy(datagram->about.first, datagram->bytes, TALK_HEADER_BYTES);
	return datagram->about.protocol == IPPROTO_UDP ? read_udp(datagram) : read_echo(datagram);
}

static void inside_ready(struct gateway *gateway, struct source *source, uint32_t events)
{
	bool udp = source == &gateway->udp[0] || source == &gateway->udp[1];
	bool ipv6 = source == &gateway->udp[1] || source == &gateway->echo[1];

	(void)events;
	for (int turn = 0; turn < TURNS; turn++) {
		union gateway_control room;
		struct sockaddr_in6 from;
		struct iovec part = {.iov_base = gateway->buffer, .iov_len = GATEWAY_BUFFER};
		struct msghdr message = {.msg_name = &from,
		                         .msg_namelen = sizeof(from),
		                         .msg_iov = &part,
		                         .msg_iovlen = 1,
		                         .msg_control = &room,
		                         .msg_controllen = sizeof(room)};
		ssize_t got = recvmsg(source->fd, &message, MSG_DONTWAIT);
		struct datagram datagram = {.about.fields.hops = 64};

		if (got < 0)
			return;
		datagram.about.protocol = udp ? IPPROTO_UDP : ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
		if (!(ipv6 ? read_ipv6(gateway, (uint32_t)got, &message, &datagram)
		           : read_ipv4(gateway, (uint32_t)got, &datagram)) ||
		    !read_transport(&datagram))
			continue;
		if (!udp && gateway_is_own(gateway, &datagram.about.ends.to))
			talk_echo_answer(gateway, &datagram.about, datagram.bytes, datagram.n);
		else
			pass_on(gateway, &datagram);
	}
}

/* ---- opening and closing ---- */

void gateway_take_room(int fd)
{
	int room = ROOM_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
}

static int open_raw(struct gateway *gateway, struct source *source, int family, int protocol)
{
	int fd = namespace_socket_any_address(gateway->options.net, family,
	                                      SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	struct icmp_filter requests = {.data = ~(1u << ICMP_ECHO)};
	struct icmp6_filter requests6;

	*source = (struct source){.fd = fd, .ready = inside_ready};
	if (fd < 0)
		return fd;
	gateway_take_room(fd);
	gateway_set(fd, family, IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, IP_PMTUDISC_DONT);
	gateway_fields_ask(fd, family);
	if (family == AF_INET6) {
		gateway_set(fd, family, 0, IPV6_RECVPKTINFO, 1);
		gateway_set(fd, family, 0, IPV6_RECVFRAGSIZE, 1);
	}
	if (protocol == IPPROTO_ICMP)
		setsockopt(fd, SOL_RAW, ICMP_FILTER, &requests, sizeof(requests));
	if (protocol == IPPROTO_ICMPV6) {
		ICMP6_FILTER_SETBLOCKALL(&requests6);
		ICMP6_FILTER_SETPASS(ICMP6_ECHO_REQUEST, &requests6);
		setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &requests6, sizeof(requests6));
	}
	return gateway_watch(gateway, source, EPOLLIN);
}

int gateway_datagrams_open(struct gateway *gateway, struct problem *problem)
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

bool gateway_datagrams_wait(const struct gateway *gateway)
{
	bool wait = false;

	for (unsigned i = 0; i < 2; i++)
		wait |= gateway_is_readable(&gateway->udp[i]) ||
		        gateway_is_readable(&gateway->echo[i]);
	return wait;
}

void gateway_datagrams_close(struct gateway *gateway)
{
	for (unsigned i = 0; i < 2; i++) {
		if (gateway->udp[i].fd >= 0)
			close(gateway->udp[i].fd);
		if (gateway->echo[i].fd >= 0)
			close(gateway->echo[i].fd);
	}
}
