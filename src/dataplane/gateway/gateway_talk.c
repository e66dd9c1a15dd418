/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows of UDP and ICMP echo through a gateway. Each flow has a socket outside. Answers and errors
 * from that socket go back to the command, from the address to which the command has sent.
 */
#include "gateway/gateway_state.h"

#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/icmp.h>

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
