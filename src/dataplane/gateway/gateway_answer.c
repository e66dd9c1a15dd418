/* SPDX-License-Identifier: BSD-3-Clause */
/* What returns to the command of a flow of UDP or echo: answers, and ICMP errors. */
#include <errno.h>
#include <netinet/icmp6.h>
#include <string.h>

#include <linux/errqueue.h>
#include <linux/icmp.h>

#include "gateway/gateway_state.h"
#include "packet/headers.h"

#define TURNS     64
#define HOP_LIMIT 64

static uint32_t sum_of(const struct address *address)
{
	return (uint16_t)~gateway_sum(0, address->bytes, address_bytes(address->family), NULL, 0);
}

uint16_t talk_udp_sum(const struct address *from, const struct address *to, const void *header,
                      const void *payload, uint32_t payload_bytes)
{
	uint32_t start = IPPROTO_UDP + TALK_HEADER_BYTES + payload_bytes;
	uint16_t sum = gateway_sum(start + sum_of(from) + sum_of(to), header, TALK_HEADER_BYTES,
	                           payload, payload_bytes);

	return sum ? sum : 0xffff;
}

/* Returns the fields of an answer behind the gateway, which is a router if it has routed it. A hop
 * limit that ends here would be an answer that the command gets without weir. */
static struct ip_fields forwarded(const struct talk *talk, struct ip_fields fields)
{
	if (!talk->own && fields.hops > 1)
		fields.hops--;
	return fields;
}

/* Sends an answer to the command: a header of TALK_HEADER_BYTES and n bytes. */
static void answer(struct gateway *gateway, const struct talk *talk, struct ip_fields fields,
                   int fd, const uint8_t *header, const uint8_t *bytes, uint32_t n)
{
	const struct ends *ends = &talk->about.ends;

	gateway_raw_send(gateway, fd,
	                 &(struct gateway_packet){.ends = ends,
	                                          .from = &ends->to,
	                                          .fields = forwarded(talk, fields),
	                                          .header = header,
	                                          .header_bytes = TALK_HEADER_BYTES,
	                                          .payload = bytes,
	                                          .payload_bytes = n});
}

static void answer_udp(struct gateway *gateway, const struct talk *talk, struct ip_fields fields,
                       const uint8_t *bytes, uint32_t n)
{
	const struct ends *ends = &talk->about.ends;
	uint8_t header[TALK_HEADER_BYTES] = {0};

	headers_put_u16(header, ends->to_port);
	headers_put_u16(header + 2, ends->from_port);
	headers_put_u16(header + 4, (uint16_t)(n + sizeof(header)));
	headers_put_u16(header + 6, talk_udp_sum(&ends->to, &ends->from, header, bytes, n));
	answer(gateway, talk, fields, gateway->udp[gateway_family(ends->from.family)].fd, header,
	       bytes, n);
}

static void answer_echo(struct gateway *gateway, const struct talk *talk, struct ip_fields fields,
                        const uint8_t *bytes, uint32_t n)
{
	const struct ends *ends = &talk->about.ends;
	bool ipv6 = ends->from.family == AF_INET6;
	uint8_t header[TALK_HEADER_BYTES];

	if (talk->raw && !ipv6) {
		uint32_t ip_bytes = (uint32_t)(bytes[0] & 15) * 4;

		if (n < ip_bytes)
			return;
		bytes += ip_bytes;
		n -= ip_bytes;
	}
	if (n < sizeof(header) || bytes[0] != (ipv6 ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) ||
	    (talk->raw && headers_u16(bytes + 4) != ends->from_port))
		return;
	memcpy(header, bytes, sizeof(header));
	bytes += sizeof(header);
	n -= (uint32_t)sizeof(header);
	headers_put_u16(header + 4, ends->from_port);
	headers_put_u16(header + 2, 0);
	if (!ipv6)
		headers_put_u16(header + 2, gateway_sum(0, header, sizeof(header), bytes, n));
	answer(gateway, talk, fields, gateway->echo[ipv6].fd, header, bytes, n);
}

void talk_echo_answer(struct gateway *gateway, const struct about *about, uint8_t *bytes,
                      uint32_t n)
{
	struct talk talk = {.about = *about, .own = true};
	struct ip_fields fields = {.tos = about->fields.tos, .hops = HOP_LIMIT};

	bytes[0] = about->ends.from.family == AF_INET6 ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY;
	answer_echo(gateway, &talk, fields, bytes, n);
}

void talk_answers_pass(struct gateway *gateway, struct talk *talk)
{
	for (int turn = 0; turn < TURNS; turn++) {
		union gateway_control room;
		struct iovec part = {.iov_base = gateway->buffer, .iov_len = GATEWAY_BUFFER};
		struct msghdr message = {.msg_iov = &part,
		                         .msg_iovlen = 1,
		                         .msg_control = &room,
		                         .msg_controllen = sizeof(room)};
		ssize_t got = recvmsg(talk->outside.fd, &message, MSG_DONTWAIT);
		struct ip_fields fields = {.hops = HOP_LIMIT};

		if (got < 0)
			return;
		gateway_fields_read(&message, &fields);
		if (talk_is_echo(talk))
			answer_echo(gateway, talk, fields, gateway->buffer, (uint32_t)got);
		else
			answer_udp(gateway, talk, fields, gateway->buffer, (uint32_t)got);
	}
}

/* ---- errors ---- */

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
	/* The resolver may be of another family than the address at which the command finds it. */
	if (error->ee_origin != (ipv6 ? SO_EE_ORIGIN_ICMP6 : SO_EE_ORIGIN_ICMP)) {
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

	if (talk_is_echo(talk) && n >= TALK_HEADER_BYTES) {
		memcpy(about.first, sent, sizeof(about.first));
		headers_put_u16(about.first + 4, about.ends.from_port);
	}
	return about;
}

bool talk_errors_pass(struct gateway *gateway, struct talk *talk)
{
	union {
		struct cmsghdr header;
		uint8_t bytes[512];
	} room;
	uint8_t sent[TALK_HEADER_BYTES];
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
