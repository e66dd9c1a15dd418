/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of IP headers that a gateway carries, from and to ancillary data of sockets. */
#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>

#include "gateway/gateway_state.h"

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

void gateway_control_add(struct msghdr *message, int level, int type, const void *value,
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
