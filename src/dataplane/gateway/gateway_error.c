/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends the ICMP errors of a gateway (RFC 792, RFC 4443), and messages from any address. */
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <string.h>
#include <sys/uio.h>

#include "gateway/gateway_state.h"
#include "packet/headers.h"

#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define HOP_LIMIT  64

uint16_t gateway_sum(uint32_t start, const void *a, uint32_t a_bytes, const void *b,
                     uint32_t b_bytes)
{
	const uint8_t *parts[] = {a, b};
	const uint32_t bytes[] = {a_bytes, b_bytes};
	uint64_t sum = start;

	for (int part = 0; part < 2; part++) {
		for (uint32_t i = 0; i < bytes[part]; i++)
			sum += (i & 1) ? parts[part][i] : (uint32_t)parts[part][i] << 8;
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Puts the address to send from into ancillary data. */
static void choose_source(struct msghdr *message, const struct address *from)
{
	struct cmsghdr *control = CMSG_FIRSTHDR(message);

	if (from->family == AF_INET) {
		struct in_pktinfo info = {0};

		memcpy(&info.ipi_spec_dst, from->bytes, 4);
		control->cmsg_level = IPPROTO_IP;
		control->cmsg_type = IP_PKTINFO;
		control->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(control), &info, sizeof(info));
	} else {
		struct in6_pktinfo info = {0};

		memcpy(&info.ipi6_addr, from->bytes, 16);
		control->cmsg_level = IPPROTO_IPV6;
		control->cmsg_type = IPV6_PKTINFO;
		control->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(control), &info, sizeof(info));
	}
	message->msg_controllen = CMSG_SPACE(control->cmsg_len - CMSG_LEN(0));
}

void gateway_raw_send(int fd, const struct ends *ends, const struct address *from,
                      const void *header, uint32_t header_bytes, const void *payload,
                      uint32_t payload_bytes)
{
	/* A raw socket of IPv6 accepts no port. */
	union address_socket to = address_socket(&ends->from, 0);
	struct iovec parts[] = {{.iov_base = (void *)(uintptr_t)header, .iov_len = header_bytes},
	                        {.iov_base = (void *)(uintptr_t)payload, .iov_len = payload_bytes}};
	union {
		struct cmsghdr header;
		uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	} room = {0};
	struct msghdr message = {.msg_name = &to,
	                         .msg_namelen = address_socket_bytes(ends->from.family),
	                         .msg_iov = parts,
	                         .msg_iovlen = 2,
	                         .msg_control = &room,
	                         .msg_controllen = sizeof(room)};
	ssize_t sent;

	choose_source(&message, from);
	sent = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)sent; /* lost like any datagram */
}

/* Builds the IP header of the packet that the error is about. Returns its length. */
static uint32_t repeat_header(const struct about *about, uint8_t header[IPV6_BYTES])
{
	const struct ends *ends = &about->ends;
	uint16_t sum;

	memset(header, 0, IPV6_BYTES);
	if (ends->from.family == AF_INET6) {
		header[0] = 0x60;
		headers_put_u16(header + 4, sizeof(about->first));
		header[6] = about->protocol;
		header[7] = HOP_LIMIT;
		memcpy(header + 8, ends->from.bytes, 16);
		memcpy(header + 24, ends->to.bytes, 16);
		return IPV6_BYTES;
	}
	header[0] = 0x45;
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
	gateway_raw_send(gateway->echo[family].fd, &about->ends, from, message, sizeof(message),
	                 repeated, bytes);
}

void gateway_errno_send(struct gateway *gateway, const struct about *about, int error)
{
	bool ipv6 = about->ends.from.family == AF_INET6;
	uint8_t type = ipv6 ? ICMP6_DST_UNREACH : ICMP_DEST_UNREACH, code;
	const struct address nobody = {0};

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
