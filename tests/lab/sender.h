/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sender alone, without a network: the packets that it sends are recorded, and the test plays its
 * peer.
 * Thread: one.
 */
#ifndef WEIR_TESTS_LAB_SENDER_H
#define WEIR_TESTS_LAB_SENDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lab/response.h"

#define SENT_MAX 4096

struct sender {
	struct tcp_conf conf;
	struct tcp tcp;
	struct segment sent[SENT_MAX];
	uint32_t n;
	char text[512];
};

static inline void sender_note(void *argument, const struct segment *segment)
{
	struct sender *sender = argument;

	assert_true(sender->n < SENT_MAX);
	sender->sent[sender->n++] = *segment;
}

static inline void sender_open(struct sender *sender, const struct recovery *recovery,
                               const struct response *response)
{
	const struct frame_end here = {0x0a000001, 10000}, there = {0x0a000002, 20000};

	memset(sender, 0, sizeof(*sender));
	tcp_conf_init(&sender->conf);
	sender->conf.recovery = recovery;
	sender->conf.response = response;
	tcp_init(&sender->tcp, &sender->conf, here, there, 0);
	sender->tcp.wire = sender_note;
	sender->tcp.argument = sender;
}

/* Returns the numbers of the packets sent since the last call: `1 2 3`. */
static inline const char *sender_sent(struct sender *sender)
{
	size_t at = 0;

	sender->text[0] = 0;
	for (uint32_t i = 0; i < sender->n; i++) {
		uint32_t away = sender->sent[i].seq - sender->tcp.sequence;
		uint32_t data = tcp_data_bytes(&sender->conf);

		at += (size_t)snprintf(sender->text + at, sizeof(sender->text) - at, "%s%u",
		                       i ? " " : "", away ? (away - 1) / data + 1 : 0);
		assert_true(at < sizeof(sender->text));
	}
	sender->n = 0;
	return sender->text;
}

/* Acknowledges everything up to this packet. */
static inline void sender_ack_flags(struct sender *sender, simtime now, int64_t packet,
                                    uint8_t flags, uint8_t echoed_ttl)
{
	const struct segment segment = {
	        .from = sender->tcp.there,
	        .to = sender->tcp.here,
	        .seq = 7001,
	        .ack = tcp_seq_of(&sender->tcp, packet + 1),
	        .flags = FRAME_TCP_ACK | flags,
	        .window_scale = -1,
	        .echoed_ttl = echoed_ttl,
	};

	tcp_segment(&sender->tcp, now, &segment);
}

static inline void sender_ack(struct sender *sender, simtime now, int64_t packet)
{
	sender_ack_flags(sender, now, packet, 0, 0);
}

/* Sends SYN at 0, and acknowledges it after 100 ms: two packets are in flight. */
static inline void sender_connect(struct sender *sender)
{
	struct segment answer = {
	        .from = sender->tcp.there,
	        .to = sender->tcp.here,
	        .seq = 7000,
	        .flags = FRAME_TCP_SYN | FRAME_TCP_ACK,
	        .window_scale = -1,
	};

	tcp_start(&sender->tcp, 0, TCP_UNLIMITED);
	assert_string_equal(sender_sent(sender), "0");
	answer.ack = sender->tcp.sequence + 1;
	tcp_segment(&sender->tcp, 100 * SIMTIME_MS, &answer);
}

/* In slow start: acknowledges each packet up to `packet` separately, at one instant. */
static inline void sender_ack_each(struct sender *sender, simtime now, int64_t packet)
{
	while (sender->tcp.acked < packet)
		sender_ack(sender, now, sender->tcp.acked + 1);
}

#endif
