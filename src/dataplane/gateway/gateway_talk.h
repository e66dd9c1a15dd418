/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flow of UDP or echo through a gateway (gateway.h).
 *
 * Thread: the gateway's.
 */
#ifndef WEIR_GATEWAY_TALK_H
#define WEIR_GATEWAY_TALK_H

#include "gateway/gateway_state.h"

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

/* gateway_answer.c: what returns to the command */
void talk_answers_pass(struct gateway *gateway, struct talk *talk);
/* Passes the errors that have come for a flow. Returns true if a router or the destination has sent
 * one of them. gateway->buffer stays as it is. */
bool talk_errors_pass(struct gateway *gateway, struct talk *talk);
/* Answers an echo to the gateway itself: the path ends here. */
void talk_echo_answer(struct gateway *gateway, const struct about *about, uint8_t *bytes,
                      uint32_t n);

#endif
