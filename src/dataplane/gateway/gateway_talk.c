/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows of UDP and ICMP echo through a gateway. Each flow has a socket outside. Answers and errors
 * from that socket go back to the command, from the address to which the command has sent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/errqueue.h>
#include <linux/icmp.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>

#include "gateway/gateway_state.h"
#include "packet/headers.h"

/* Passes the errors that have come for a flow. Returns true if a router or the destination has sent
 * one of them. gateway->buffer stays as it is. */
static bool talk_errors_pass(struct gateway *gateway, struct talk *talk);

/* What returns to the command. */
static void talk_answers_pass(struct gateway *gateway, struct talk *talk);

#define IDLE_S     180
#define SEND_TURNS 4

static void outside_ready(struct gateway *gateway, struct source *source, uint32_t events)
{
	struct talk *talk = (struct talk *)source;

	if (talk->over)
		return;
	talk->used_s = gateway->now_s;
	if (events & EPOLLERR)
		talk_errors_pass(gateway, talk);
	talk_answers_pass(gateway, talk);
}

/* ---- opening ---- */

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
	bool echo = talk_is_echo(talk);
	union address_socket to =
	        gateway_target(gateway, &ends->to, echo ? (uint16_t)0 : ends->to_port);
	int family = to.any.sa_family, fd;

	fd = echo ? echo_socket(family, &talk->raw)
	          : socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	talk->outside = (struct source){.fd = fd, .ready = outside_ready};
	if (fd < 0)
		return -errno;
	talk->family = family;
	talk->own = gateway_is_own(gateway, &ends->to);
	gateway_take_room(fd);
	gateway_set(fd, family, IP_RECVERR, IPV6_RECVERR, 1);
	gateway_set(fd, family, IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, IP_PMTUDISC_DONT);
	gateway_fields_ask(fd, family);
	/* EADDRNOTAVAIL: this machine has no address of the family, so its network ends here. */
	if (connect(fd, &to.any, address_socket_bytes(family)) < 0)
		return errno == EADDRNOTAVAIL ? -ENETUNREACH
		       : errno == EAGAIN      ? -EADDRNOTAVAIL /* no port is left */
		                              : -errno;
	return gateway_watch(gateway, &talk->outside, EPOLLIN);
}

/* ---- the table of flows ---- */

static void end(struct gateway *gateway, struct talk *talk)
{
	if (talk->outside.fd >= 0) {
		gateway_watch(gateway, &talk->outside, 0);
		close(talk->outside.fd);
	}
	talk->outside.fd = -1;
	if (talk->over)
		return;
	talk->over = true;
	gateway->n_talks--;
	gateway->files_free++;
}

bool gateway_talks_give(struct gateway *gateway, time_t idle_s)
{
	struct talk *oldest = NULL;

	for (uint32_t i = 0; i < GATEWAY_PLACES; i++) {
		for (struct talk *talk = gateway->talks[i]; talk; talk = talk->next) {
			if (!talk->over && (!oldest || talk->used_s < oldest->used_s))
				oldest = talk;
		}
	}
	if (!oldest || gateway->now_s - oldest->used_s < idle_s)
		return false;
	end(gateway, oldest);
	return true;
}

/* Takes a descriptor for a further flow, if need be that of the flow that was idle for longest. */
static bool make_room(struct gateway *gateway)
{
	bool places = gateway->n_talks < GATEWAY_TALKS_MAX;

	if (places && gateway_files_take(gateway, 1))
		return true;
	if (!gateway_talks_give(gateway, GATEWAY_IN_USE_S)) {
		/* A flow that is in use loses its answers, or this one its datagram. */
		gateway_lose(gateway, places ? EMFILE : EUSERS);
		if (!gateway_talks_give(gateway, 0))
			return false;
	}
	return gateway_files_take(gateway, 1);
}

struct talk *talk_for(struct gateway *gateway, const struct about *about)
{
	struct talk **place = &gateway->talks[ends_place(&about->ends)], *talk;
	int rc;

	for (talk = *place; talk; talk = talk->next) {
		if (!talk->over && talk->about.protocol == about->protocol &&
		    ends_equal(&talk->about.ends, &about->ends))
			return talk;
	}
	if (!make_room(gateway))
		return NULL;
	talk = calloc(1, sizeof(*talk));
	if (!talk) {
		gateway->files_free++;
		gateway_lose(gateway, ENOMEM);
		return NULL;
	}
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

/* ---- sending ---- */

static ssize_t send_once(const struct talk *talk, const struct ip_fields *fields, uint8_t *bytes,
                         uint32_t n)
{
	struct iovec part = {.iov_base = bytes, .iov_len = n};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union gateway_control room;

	gateway_control_begin(&message, &room);
	gateway_fields_add(&message, talk->family, fields);
	return sendmsg(talk->outside.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Returns 0 or the errno. */
static int send_outside(const struct talk *talk, struct ip_fields fields, uint8_t *bytes,
                        uint32_t n)
{
	if (send_once(talk, &fields, bytes, n) >= 0)
		return 0;
	if (errno != EINVAL || fields.label == 0)
		return errno;
	/* A process of this machine has reserved flow labels. */
	fields.label = 0;
	return send_once(talk, &fields, bytes, n) < 0 ? errno : 0;
}

static void set_whole(struct talk *talk, bool whole)
{
	if (whole == talk->whole)
		return;
	talk->whole = whole;
	gateway_set(talk->outside.fd, talk->family, IP_MTU_DISCOVER, IPV6_MTU_DISCOVER,
	            whole ? IP_PMTUDISC_DO : IP_PMTUDISC_DONT);
}

void talk_send(struct gateway *gateway, struct talk *talk, const struct about *about, bool whole,
               uint8_t *bytes, uint32_t n)
{
	struct ip_fields fields = about->fields;

	talk->about = *about;
	talk->used_s = gateway->now_s;
	set_whole(talk, whole);
	if (!talk->own)
		fields.hops--;
	/* An error that has come before makes it fail, too: then nothing was sent. */
	for (int turn = 0; turn < SEND_TURNS; turn++) {
		int error = send_outside(talk, fields, bytes, n);

		if (gateway_lacks(error))
			gateway_lose(gateway, error);
		if (error == 0 || !talk_errors_pass(gateway, talk))
			break;
	}
}

/* ---- housekeeping ---- */

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
			free(talk);
		}
	}
}

void gateway_talks_close(struct gateway *gateway)
{
	for (uint32_t i = 0; i < GATEWAY_PLACES; i++) {
		for (struct talk *talk = gateway->talks[i]; talk; talk = talk->next)
			end(gateway, talk);
	}
	gateway_talks_expire(gateway);
}

/* What returns to the command of a flow of UDP or echo: answers, and ICMP errors. */

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

static void talk_answers_pass(struct gateway *gateway, struct talk *talk)
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

static bool talk_errors_pass(struct gateway *gateway, struct talk *talk)
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
