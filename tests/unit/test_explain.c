/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of connections goes, of packets whose fates are known to the nanosecond. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "explain/before.h"
#include "explain_rig.h"
#include "runner/group.h"

#define TRIP (100 * MS)
static const char request[] = "GET /page HTTP/1.1\r\nHost: www.example.test\r\n\r\n";

static uint64_t ask(struct talked *talk, uint64_t at_us)
{
	return talked_send(talk, UP, at_us, ACK, request, sizeof(request) - 1);
}

static uint64_t total_us(const struct verdict *verdict)
{
	return (verdict->end_ns - verdict->begin_ns) / 1000;
}

static void a_request_takes_two_round_trips(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us = talked_open(talk, 5 * MS);

	at_us = ask(talk, at_us + 1 * MS);                                 /* the client's own */
	at_us = talked_send(talk, DOWN, at_us + 30 * MS, ACK, NULL, 1000); /* the server's own */
	talked_send(talk, UP, at_us, ACK, NULL, 0);
	verdict = talked_only(talk);
	assert_int_equal(total_us(verdict), 2 * TRIP + 31 * MS);
	assert_int_equal(talked_part(verdict, PART_DELAY), 2 * TRIP);
	assert_int_equal(talked_part(verdict, PART_SERVER), 30 * MS);
	assert_int_equal(talked_part(verdict, PART_CLIENT), 1 * MS);
	assert_int_equal(talked_phase(verdict, PHASE_TCP)->round_trips, 1);
	assert_int_equal(talked_phase(verdict, PHASE_REQUEST)->round_trips, 1);
	assert_string_equal(talked_phase(verdict, PHASE_REQUEST)->detail, "GET /page");
	assert_string_equal(verdict->name, "www.example.test");
	talked_free(talk);
	(void)state;
}

/* Ten packets, then ten for each acknowledgement of the last: the answer needs two windows more. */
static void an_answer_of_three_windows_takes_two_more_round_trips(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us = talked_open(talk, 0);

	at_us = ask(talk, at_us);
	for (int window = 0; window < 3; window++) {
		uint64_t came_us = 0;

		for (int i = 0; i < 10; i++)
			came_us = talked_send(talk, DOWN, at_us, ACK, NULL, 1448);
		at_us = talked_send(talk, UP, came_us, ACK, NULL, 0);
	}
	verdict = talked_only(talk);
	assert_int_equal(total_us(verdict), 4 * TRIP);
	assert_int_equal(talked_phase(verdict, PHASE_REQUEST)->round_trips, 3);
	assert_int_equal(talked_phase(verdict, PHASE_REQUEST)->windows, 2);
	assert_int_equal(talked_part(verdict, PART_DELAY), 4 * TRIP);
	talked_free(talk);
	(void)state;
}

/* What keeps the link busy is the connection itself: its bytes take as long as the link needs. */
static void the_bytes_of_a_busy_link_are_its_rate_and_no_round_trips(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us = talked_open(talk, 0), sent_us;

	at_us = ask(talk, at_us);
	talk->rate_us = 12 * MS;
	talk->free_us[UP] = talk->free_us[DOWN] = 0;
	sent_us = at_us;
	for (int i = 0; i < 50; i++) {
		uint64_t came_us = talked_send(talk, DOWN, sent_us, ACK, NULL, 1448);

		/* The window is ten: another one is sent for each that is acknowledged. */
		if (i >= 9)
			sent_us = came_us + talk->delay_us - 9 * talk->rate_us;
	}
	verdict = talked_only(talk);
	assert_int_equal(talked_part(verdict, PART_RATE), 50 * 12 * MS);
	assert_int_equal(talked_phase(verdict, PHASE_REQUEST)->round_trips, 1);
	assert_int_equal(total_us(verdict), 2 * TRIP + 600 * MS);
	talked_free(talk);
	(void)state;
}

static void packets_of_others_in_the_queue_are_the_queue(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us = talked_open(talk, 0);

	talk->rate_us = 12 * MS;
	talk->free_us[UP] = talk->free_us[DOWN] = 0;
	at_us = ask(talk, at_us);
	talk->client_port++;
	for (int i = 0; i < 5; i++)
		talked_send(talk, DOWN, at_us, ACK, NULL, 1448);
	talk->client_port--;
	talked_send(talk, DOWN, at_us, ACK, NULL, 1000);
	talked_end(talk);
	verdict = talk->verdicts[talk->verdicts[0]->ends[UP].port != talk->client_port];
	assert_int_equal(talked_part(verdict, PART_QUEUE), 60 * MS);
	assert_int_equal(talked_part(verdict, PART_RATE), 24 * MS);
	talked_free(talk);
	(void)state;
}

static void a_timeout_costs_from_the_loss_to_the_repetition(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us = talked_open(talk, 0);
	const uint32_t place = talk->sequence[UP];

	talk->lose = true;
	ask(talk, at_us);
	at_us = talked_again(talk, UP, at_us + 300 * MS, ACK, place, request, sizeof(request) - 1);
	talked_send(talk, DOWN, at_us, ACK, NULL, 1000);
	verdict = talked_only(talk);
	assert_int_equal(total_us(verdict), 2 * TRIP + 300 * MS);
	assert_int_equal(talked_part(verdict, PART_LOST), 300 * MS);
	assert_int_equal(verdict->n_losses, 1);
	assert_int_equal(verdict->losses[0].packet, 3);
	assert_int_equal(verdict->losses[0].reason, REASON_LOSS);
	assert_int_equal(verdict->losses[0].resent, RESENT_TIMEOUT);
	assert_int_equal(verdict->losses[0].cost_ns, 300 * MS * 1000);
	assert_int_equal(talked_phase(verdict, PHASE_REQUEST)->round_trips, 1);
	talked_free(talk);
	(void)state;
}

static void a_loss_in_the_handshake_is_named(void **state)
{
	struct talked *talk = talked_make(false);
	const uint32_t place = talk->sequence[UP];
	const struct verdict *verdict;

	talk->lose = true;
	talked_send(talk, UP, 0, SYN, NULL, 0);
	talked_again(talk, UP, 1000 * MS, SYN, place, NULL, 0);
	talked_send(talk, DOWN, 1000 * MS + TRIP / 2, SYN | ACK, NULL, 0);
	verdict = talked_only(talk);
	assert_int_equal(total_us(verdict), 1000 * MS + TRIP);
	assert_int_equal(talked_part(verdict, PART_LOST), 1000 * MS);
	assert_int_equal(verdict->losses[0].resent, RESENT_TIMEOUT);
	talked_free(talk);
	(void)state;
}

/* The second of five packets is lost; what comes behind it makes the receiver ask for it. */
static void a_fast_recovery_is_told_from_a_timeout(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us = talked_open(talk, 0), asked_us = 0;
	uint32_t place = 0;

	at_us = ask(talk, at_us);
	for (int i = 0; i < 5; i++) {
		uint64_t came_us;

		talk->lose = i == 1;
		if (i == 1)
			place = talk->sequence[DOWN];
		came_us = talked_send(talk, DOWN, at_us, ACK, NULL, 1448);
		if (came_us > 0)
			asked_us = talked_send(talk, UP, came_us, ACK, NULL, 0);
	}
	talked_again(talk, DOWN, asked_us, ACK, place, NULL, 1448);
	verdict = talked_only(talk);
	assert_int_equal(total_us(verdict), 3 * TRIP);
	assert_int_equal(talked_part(verdict, PART_LOST), TRIP);
	assert_int_equal(verdict->losses[0].resent, RESENT_FAST);
	assert_int_equal(talked_phase(verdict, PHASE_REQUEST)->round_trips, 1);
	talked_free(talk);
	(void)state;
}

static void a_loss_that_delays_nothing_is_named_without_a_cost(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us = talked_open(talk, 0);

	at_us = ask(talk, at_us);
	at_us = talked_send(talk, DOWN, at_us, ACK, NULL, 1000);
	talk->lose = true;
	talked_send(talk, UP, at_us, ACK, NULL, 0);
	verdict = talked_only(talk);
	assert_int_equal(verdict->n_losses, 1);
	assert_true(verdict->losses[0].acknowledgement);
	assert_int_equal(verdict->losses[0].cost_ns, 0);
	assert_int_equal(total_us(verdict), 2 * TRIP);
	talked_free(talk);
	(void)state;
}

static void what_weir_hands_over_late_is_its_own(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;

	talk->late_us = 3 * MS;
	talked_open(talk, 0);
	verdict = talked_only(talk);
	assert_int_equal(talked_part(verdict, PART_WEIR), 6 * MS);
	assert_int_equal(total_us(verdict), TRIP + 6 * MS);
	talked_free(talk);
	(void)state;
}

/* The server's second packet waits for an acknowledgement (Nagle), which the client delays. */
static void a_delayed_acknowledgement_is_told(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us = talked_open(talk, 0);

	at_us = ask(talk, at_us);
	at_us = talked_send(talk, DOWN, at_us, ACK, NULL, 100);
	at_us = talked_send(talk, UP, at_us + 40 * MS, ACK, NULL, 0);
	talked_send(talk, DOWN, at_us, ACK, NULL, 100);
	verdict = talked_only(talk);
	assert_int_equal(talked_part(verdict, PART_ACK), 40 * MS);
	assert_int_equal(total_us(verdict), 3 * TRIP + 40 * MS);
	talked_free(talk);
	(void)state;
}

/* The client reads nothing for half a second. */
static void a_closed_window_is_told(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us = talked_open(talk, 0);

	at_us = ask(talk, at_us);
	at_us = talked_send(talk, DOWN, at_us, ACK, NULL, 1448);
	talk->window = 0;
	talked_send(talk, UP, at_us, ACK, NULL, 0);
	talk->window = 60000;
	at_us = talked_send(talk, UP, at_us + 500 * MS, ACK, NULL, 0);
	talked_send(talk, DOWN, at_us, ACK, NULL, 1448);
	verdict = talked_only(talk);
	assert_int_equal(talked_part(verdict, PART_WINDOW), 500 * MS);
	assert_int_equal(total_us(verdict), 3 * TRIP + 500 * MS);
	talked_free(talk);
	(void)state;
}

static void requests_of_one_connection_have_a_phase_each(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us = talked_open(talk, 0);

	for (int i = 0; i < 3; i++)
		at_us = talked_send(talk, DOWN, ask(talk, at_us), ACK, NULL, 500);
	verdict = talked_only(talk);
	assert_int_equal(verdict->n_phases, 4);
	assert_int_equal(verdict_round_trips(verdict), 4);
	assert_int_equal(total_us(verdict), 4 * TRIP);
	talked_free(talk);
	(void)state;
}

/* Somebody is refused, and somebody goes to another address. */
static const struct verdict *go_on_from_a_refusal(struct talked *talk, uint8_t next_client)
{
	uint64_t at_us;

	talk->server = 7;
	at_us = talked_send(talk, UP, 0, SYN, NULL, 0);
	at_us = talked_send(talk, DOWN, at_us, RST | ACK, NULL, 0);
	talk->server = 8;
	talk->client_port++;
	talk->client = next_client;
	at_us = talked_open(talk, at_us + 1 * MS);
	talked_send(talk, DOWN, ask(talk, at_us), ACK, NULL, 1000);
	talked_end(talk);
	return talk->verdicts[talk->told - 1];
}

static void a_refused_attempt_belongs_to_the_connection_that_follows(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict = go_on_from_a_refusal(talk, 2);

	assert_int_equal(talk->told, 1);
	assert_int_equal(verdict->n_phases, 3);
	assert_int_equal(verdict->phases[0].kind, PHASE_ATTEMPT);
	assert_int_equal(verdict->phases[0].end_ns, TRIP * 1000);
	assert_int_equal(total_us(verdict), 3 * TRIP + 1 * MS);
	assert_int_equal(talked_part(verdict, PART_CLIENT), 1 * MS);
	talked_free(talk);
	(void)state;
}

static void an_attempt_of_somebody_else_does_not(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict = go_on_from_a_refusal(talk, 3);

	assert_int_equal(talk->told, 2);
	assert_int_equal(verdict->n_phases, 2);
	assert_int_equal(total_us(verdict), 2 * TRIP);
	assert_false(verdict->refused);
	assert_true(talk->verdicts[0]->refused);
	talked_free(talk);
	(void)state;
}

/* A question for www.test, and its answer: 10.0.1.9. */
#define QUESTION "\x12\x34\x01\x00\0\1\0\0\0\0\0\0\3www\4test\0\0\1\0\1"
#define ANSWER                                                                                     \
	"\x12\x34\x81\x80\0\1\0\1\0\0\0\0\3www\4test\0\0\1\0\1"                                    \
	"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x0a\0\1\x09"

/* The first query is lost, and repeated after a second. */
static void a_lookup_belongs_to_the_connection_that_has_waited_for_it(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us;

	talk->protocol = IPPROTO_UDP;
	talk->server_port = 53;
	talk->lose = true;
	talked_send(talk, UP, 0, 0, QUESTION, sizeof(QUESTION) - 1);
	at_us = talked_send(talk, UP, 1000 * MS, 0, QUESTION, sizeof(QUESTION) - 1);
	at_us = talked_send(talk, DOWN, at_us, 0, ANSWER, sizeof(ANSWER) - 1);
	talk->protocol = IPPROTO_TCP;
	talk->server_port = 80;
	talk->server = 9;
	talked_open(talk, at_us);
	verdict = talked_only(talk);
	assert_string_equal(verdict->name, "www.test");
	assert_int_equal(verdict->phases[0].kind, PHASE_DNS);
	assert_int_equal(verdict->phases[0].round_trips, 1);
	assert_int_equal(talked_part(verdict, PART_LOST), 1000 * MS);
	assert_int_equal(verdict->losses[0].packet, 1);
	assert_int_equal(total_us(verdict), 1000 * MS + 2 * TRIP);
	talked_free(talk);
	(void)state;
}

/* The first question is lost, and asked again after a second. */
static void a_question_for_the_neighbour_belongs_to_the_connection_that_follows(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us;

	talk->protocol = NEIGHBOUR_PROTOCOL;
	talk->lose = true;
	talked_send(talk, UP, 0, 0, NULL, 0);
	for (int i = 0; i < 2; i++) {
		talk->protocol = NEIGHBOUR_PROTOCOL;
		at_us = talked_send(talk, UP, (1000 + 5000 * (uint64_t)i) * MS, 0, NULL, 0);
		at_us = talked_send(talk, DOWN, at_us, ACK, NULL, 0);
		talk->protocol = IPPROTO_TCP;
		talk->client_port++;
		talked_open(talk, at_us);
	}
	talked_end(talk);
	assert_int_equal(talk->told, 2);
	verdict = talk->verdicts[0];
	assert_int_equal(verdict->phases[0].kind, PHASE_ARP);
	assert_string_equal(verdict->phases[0].detail, "10.0.1.1");
	assert_int_equal(verdict->phases[0].round_trips, 1);
	assert_int_equal(talked_part(verdict, PART_LOST), 1000 * MS);
	assert_int_equal(total_us(verdict), 1000 * MS + 2 * TRIP);
	assert_int_equal(verdict->losses[0].packet, 1);
	/* Asked again later, it had not been lost before. */
	verdict = talk->verdicts[1];
	assert_int_equal(verdict->phases[0].kind, PHASE_ARP);
	assert_int_equal(total_us(verdict), 2 * TRIP);
	assert_int_equal(talked_part(verdict, PART_LOST), 0);
	talked_free(talk);
	(void)state;
}

/* The name first, then the neighbour: the phases follow each other. */
static void a_neighbour_that_is_asked_behind_a_lookup_follows_it(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us;

	talk->protocol = IPPROTO_UDP;
	talk->server_port = 53;
	at_us = talked_send(talk, UP, 0, 0, QUESTION, sizeof(QUESTION) - 1);
	at_us = talked_send(talk, DOWN, at_us, 0, ANSWER, sizeof(ANSWER) - 1);
	talk->server = 9;
	talk->protocol = NEIGHBOUR_PROTOCOL;
	at_us = talked_send(talk, UP, at_us + 2 * MS, 0, NULL, 0);
	at_us = talked_send(talk, DOWN, at_us, ACK, NULL, 0);
	talk->protocol = IPPROTO_TCP;
	talk->server_port = 80;
	talked_open(talk, at_us);
	verdict = talked_only(talk);
	assert_int_equal(verdict->n_phases, 3);
	assert_int_equal(verdict->phases[0].kind, PHASE_DNS);
	assert_int_equal(verdict->phases[1].kind, PHASE_ARP);
	assert_int_equal(talked_part(verdict, PART_CLIENT), 2 * MS);
	assert_int_equal(total_us(verdict), 3 * TRIP + 2 * MS);
	assert_int_equal(verdict_round_trips(verdict), 3);
	talked_free(talk);
	(void)state;
}

/* Appends a record of TLS to `to`. Returns its end. */
static uint8_t *add_record(uint8_t *to, uint8_t type, const void *data, uint16_t bytes)
{
	*to++ = type;
	*to++ = 3;
	*to++ = 3;
	*to++ = (uint8_t)(bytes >> 8);
	*to++ = (uint8_t)bytes;
	if (data)
		memcpy(to, data, bytes);
	else
		memset(to, 0x5a, bytes);
	return to + bytes;
}

/* The hellos of TLS 1.3, without anything that is not needed; the server is `a.test`. */
static uint16_t make_hello(bool client, uint8_t *hello)
{
	static const uint8_t asks[] = {0, 2, 0x13, 1, 1, 0,   0,   15,  0,   0,   0,  11,
	                               0, 9, 0,    0, 6, 'a', '.', 't', 'e', 's', 't'};
	static const uint8_t answers[] = {0x13, 1, 0, 0, 6, 0, 43, 0, 2, 3, 4};
	const uint8_t *rest = client ? asks : answers;
	const uint16_t bytes = client ? sizeof(asks) : sizeof(answers);

	memset(hello, 0, 39);
	hello[0] = client ? 1 : 2;
	hello[3] = (uint8_t)(35 + bytes);
	hello[4] = hello[5] = 3;
	memcpy(hello + 39, rest, bytes); /* no session */
	return (uint16_t)(39 + bytes);
}

static void a_handshake_of_tls_ends_when_the_client_may_ask(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint8_t hello[128], data[4096], *end;
	uint64_t at_us;

	talk->server_port = 443;
	at_us = talked_open(talk, 0);
	end = add_record(data, 22, hello, make_hello(true, hello));
	at_us = talked_send(talk, UP, at_us, ACK, data, (uint32_t)(end - data));
	end = add_record(data, 22, hello, make_hello(false, hello));
	end = add_record(add_record(end, 20, NULL, 1), 23, NULL, 1300);
	at_us = talked_send(talk, DOWN, at_us + 2 * MS, ACK, data, (uint32_t)(end - data));
	end = add_record(add_record(data, 20, NULL, 1), 23, NULL, 53);
	at_us += 3 * MS; /* the client computes */
	talked_send(talk, UP, at_us, ACK, data, (uint32_t)(end - data));
	end = add_record(data, 23, NULL, 80);
	at_us = talked_send(talk, UP, at_us, ACK, data, (uint32_t)(end - data));
	/* A ticket, which nobody has asked for, and the answer. */
	end = add_record(add_record(data, 23, NULL, 250), 23, NULL, 900);
	at_us = talked_send(talk, DOWN, at_us, ACK, data, (uint32_t)(end - data));
	/* A goodbye, for which nobody waits. */
	end = add_record(data, 23, NULL, 19);
	talked_send(talk, UP, at_us + 9 * MS, FIN | ACK, data, (uint32_t)(end - data));
	verdict = talked_only(talk);
	assert_string_equal(verdict->name, "a.test");
	assert_string_equal(talked_phase(verdict, PHASE_TLS)->detail, "1.3");
	assert_int_equal(talked_phase(verdict, PHASE_TLS)->end_ns, (2 * TRIP + 5 * MS) * 1000);
	assert_int_equal(talked_phase(verdict, PHASE_REQUEST)->round_trips, 1);
	assert_int_equal(total_us(verdict), 3 * TRIP + 5 * MS);
	talked_free(talk);
	(void)state;
}

/* The hello, ChangeCipherSpec and the request are one packet, as of openssl. */
static void early_data_asks_with_the_hello(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint8_t hello[128], data[4096], *end;
	uint64_t at_us;

	talk->server_port = 443;
	at_us = talked_open(talk, 0);
	end = add_record(data, 22, hello, make_hello(true, hello));
	end = add_record(add_record(end, 20, NULL, 1), 23, NULL, 50);
	at_us = talked_send(talk, UP, at_us, ACK, data, (uint32_t)(end - data));
	end = add_record(data, 22, hello, make_hello(false, hello));
	end = add_record(add_record(end, 20, NULL, 1), 23, NULL, 300);
	end = add_record(end, 23, NULL, 900);
	at_us = talked_send(talk, DOWN, at_us, ACK, data, (uint32_t)(end - data));
	/* The end of early data, Finished, and a goodbye. */
	end = add_record(add_record(add_record(data, 23, NULL, 17), 23, NULL, 69), 23, NULL, 19);
	talked_send(talk, UP, at_us + 5 * MS, FIN | ACK, data, (uint32_t)(end - data));
	verdict = talked_only(talk);
	assert_string_equal(talked_phase(verdict, PHASE_TLS)->detail, "1.3 with 0-RTT");
	assert_int_equal(talked_phase(verdict, PHASE_TLS)->round_trips, 0);
	assert_int_equal(talked_phase(verdict, PHASE_REQUEST)->round_trips, 1);
	assert_int_equal(total_us(verdict), 2 * TRIP);
	talked_free(talk);
	(void)state;
}

/* An Initial of QUIC, with nothing that can be read in it. */
static uint64_t greet(struct talked *talk, int way, uint64_t at_us)
{
	static const uint8_t hello[1200] = {0xc0, 0, 0, 0, 1, 8, 1, 2,    3,
	                                    4,    5, 6, 7, 8, 0, 0, 0x44, 0x9f};

	return talked_send(talk, way, at_us, 0, hello, sizeof(hello));
}

/* A datagram of QUIC behind the handshake. */
static uint64_t talk_quic(struct talked *talk, int way, uint64_t at_us, uint32_t bytes)
{
	static const uint8_t payload[1200] = {0x40};

	return talked_send(talk, way, at_us, 0, payload, bytes);
}

static struct talked *talked_make_quic(void)
{
	struct talked *talk = talked_make(false);

	talk->protocol = IPPROTO_UDP;
	talk->server_port = 443;
	return talk;
}

static void a_greeting_of_quic_that_is_lost_costs_until_it_is_sent_again(void **state)
{
	struct talked *talk = talked_make_quic();
	const struct verdict *verdict;
	uint64_t at_us;

	talk->lose = true;
	greet(talk, UP, 0);
	at_us = greet(talk, DOWN, greet(talk, UP, 1000 * MS));
	talk_quic(talk, DOWN, talk_quic(talk, UP, at_us, 100), 1000);
	verdict = talked_only(talk);
	assert_int_equal(total_us(verdict), 1000 * MS + 2 * TRIP);
	assert_int_equal(talked_part(verdict, PART_LOST), 1000 * MS);
	assert_int_equal(talked_part(verdict, PART_DELAY), 2 * TRIP);
	assert_int_equal(verdict_round_trips(verdict), 2);
	assert_int_equal(verdict->losses[0].resent, RESENT_TIMEOUT);
	assert_int_equal(verdict->losses[0].cost_ns, 1000 * MS * 1000);
	talked_free(talk);
	(void)state;
}

/* The second of five datagrams of an answer is lost; the client acknowledges the others. */
static void
a_datagram_of_quic_that_is_lost_is_repeated_once_later_ones_are_acknowledged(void **state)
{
	struct talked *talk = talked_make_quic();
	const struct verdict *verdict;
	uint64_t at_us = greet(talk, DOWN, greet(talk, UP, 0)), asked_us = 0;

	at_us = talk_quic(talk, UP, at_us, 100);
	for (int i = 0; i < 5; i++) {
		uint64_t came_us;

		talk->lose = i == 1;
		came_us = talk_quic(talk, DOWN, at_us, 1200);
		if (came_us > 0)
			asked_us = talk_quic(talk, UP, came_us, 40);
	}
	talk_quic(talk, UP, talk_quic(talk, DOWN, asked_us, 1200), 40);
	verdict = talked_only(talk);
	assert_int_equal(total_us(verdict), 3 * TRIP);
	assert_int_equal(talked_part(verdict, PART_LOST), TRIP);
	assert_int_equal(verdict_round_trips(verdict), 2);
	assert_int_equal(verdict->losses[0].resent, RESENT_FAST);
	talked_free(talk);
	(void)state;
}

/* ---- many ---- */

static void a_long_connection_is_explained_in_parts(void **state)
{
	struct talked *talk = talked_make(false);
	const struct verdict *verdict;
	uint64_t at_us = talked_open(talk, 0);
	const int packets = 100000;

	at_us = ask(talk, at_us);
	talk->rate_us = 100;
	talk->free_us[UP] = talk->free_us[DOWN] = 0;
	for (int i = 0; i < packets; i++) {
		uint64_t came_us =
		        talked_send(talk, DOWN, at_us + (uint64_t)i * 100, ACK, NULL, 100);

		if (i % 2)
			talked_send(talk, UP, came_us, ACK, NULL, 0);
	}
	verdict = talked_only(talk);
	assert_int_equal(total_us(verdict), 2 * TRIP + packets * 100);
	assert_int_equal(verdict->packets[DOWN], packets + 1);
	assert_int_equal(verdict->bytes[DOWN], packets * 100);
	assert_int_equal(talked_part(verdict, PART_UNEXPLAINED), 0);
	talked_free(talk);
	(void)state;
}

static void more_connections_than_there_is_room_for_are_told_early(void **state)
{
	struct talked *talk = talked_make(false);
	const uint32_t more = 10;

	for (uint32_t i = 0; i < FLOWS_MAX + more; i++) {
		talk->client_port = (uint16_t)(1024 + i % 60000);
		talk->server = (uint8_t)(1 + i / 60000);
		talked_send(talk, UP, i, SYN, NULL, 0);
	}
	assert_int_equal(explainer_left_out(talk->explainer).cut, more);
	assert_int_equal(talk->told, more);
	talked_end(talk);
	assert_int_equal(talk->told, FLOWS_MAX + more);
	talked_free(talk);
	(void)state;
}

static void a_closed_connection_is_told_when_it_is_over(void **state)
{
	struct talked *talk = talked_make(false);
	uint64_t at_us = talked_open(talk, 0);

	at_us = talked_send(talk, UP, at_us, FIN | ACK, NULL, 0);
	at_us = talked_send(talk, DOWN, at_us, FIN | ACK, NULL, 0);
	explainer_step(talk->explainer, at_us * 1000);
	assert_int_equal(talk->told, 0);
	explainer_step(talk->explainer, at_us * 1000 + EXPLAINER_REST_NS + 1);
	assert_int_equal(talk->told, 1);
	assert_false(talk->verdicts[0]->open);
	talked_free(talk);
	(void)state;
}

/* Once each host has heard that the other one has everything, nothing more comes. If that was lost,
 * one of them sends again what it has sent last. */
static void one_that_both_hosts_know_to_be_over_is_told_at_once(void **state)
{
	for (int lost = 0; lost < 2; lost++) {
		struct talked *talk = talked_make(false);
		uint64_t at_us = talked_open(talk, 0);

		at_us = talked_send(talk, UP, at_us, FIN | ACK, NULL, 0);
		at_us = talked_send(talk, DOWN, at_us, FIN | ACK, NULL, 0);
		talk->lose = lost;
		talked_send(talk, UP, at_us, ACK, NULL, 0);
		explainer_step(talk->explainer, at_us * 1000);
		assert_int_equal(talk->told, 0);
		explainer_step(talk->explainer, (at_us + 200 * MS) * 1000);
		assert_int_equal(talk->told, !lost);
		explainer_step(talk->explainer, at_us * 1000 + EXPLAINER_REST_NS + 1);
		assert_int_equal(talk->told, 1);
		assert_int_equal(talk->verdicts[0]->packets[UP], 4);
		talked_free(talk);
	}
	(void)state;
}

/* Frames and fates without any sense: whatever they are, the sums are right (keep() asserts it). */
static void any_packets_have_parts_that_sum_to_the_whole(void **state)
{
	uint32_t random = 1;

	for (int round = 0; round < 200; round++) {
		struct talked *talk = talked_make(round % 2);
		uint64_t at_us = 0;

		for (int i = 0; i < 100; i++) {
			uint8_t flags;

			random = random * 1664525u + 1013904223u;
			at_us += (random >> 8) % (20 * MS) * (random >> 30);
			flags = (uint8_t)(random >> 24 & (FIN | SYN | RST | ACK));
			talk->rate_us = random >> 12 & 1 ? 2 * MS : 0;
			talk->delay_us = (random >> 4) % (80 * MS);
			talk->lose = (random >> 13) % 7 == 0;
			talk->late_us = random >> 14 & 1 ? 1 * MS : 0;
			talk->window = (uint16_t)(random >> 15 & 1 ? 0 : 1000);
			talk->protocol = random >> 16 & 7 ? IPPROTO_TCP : IPPROTO_UDP;
			talk->server_port = random >> 19 & 1 ? 53 : 443;
			if (random >> 20 & 3)
				talked_send(talk, random >> 22 & 1, at_us, flags, NULL,
				            random >> 23 & 63);
			else
				talked_again(talk, random >> 22 & 1, at_us, flags,
				             talk->sequence[random >> 22 & 1] -
				                     (random >> 23 & 127),
				             NULL, random >> 17 & 63);
		}
		talked_end(talk);
		talked_free(talk);
	}
	(void)state;
}

/* Hosts that do not hear of weir have not waited for it. What they would have waited is added. */
static void a_capture_says_what_it_would_take_over_the_path(void **state)
{
	struct talked *talk = talked_make(true);
	const struct verdict *verdict;

	talked_send(talk, UP, 0, SYN, NULL, 0);
	talked_send(talk, DOWN, 10 * MS, SYN | ACK, NULL, 0);
	ask(talk, 11 * MS);
	talked_send(talk, DOWN, 25 * MS, ACK, NULL, 1000);
	verdict = talked_only(talk);
	assert_int_equal(total_us(verdict), 25 * MS + 2 * TRIP);
	assert_int_equal(talked_part(verdict, PART_DELAY), 2 * TRIP);
	assert_int_equal(talked_part(verdict, PART_UNEXPLAINED), 0);
	assert_int_equal(verdict_round_trips(verdict), 2);
	talked_free(talk);
	(void)state;
}

GROUP(explain)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_request_takes_two_round_trips),
	        cmocka_unit_test(an_answer_of_three_windows_takes_two_more_round_trips),
	        cmocka_unit_test(the_bytes_of_a_busy_link_are_its_rate_and_no_round_trips),
	        cmocka_unit_test(packets_of_others_in_the_queue_are_the_queue),
	        cmocka_unit_test(a_timeout_costs_from_the_loss_to_the_repetition),
	        cmocka_unit_test(a_loss_in_the_handshake_is_named),
	        cmocka_unit_test(a_fast_recovery_is_told_from_a_timeout),
	        cmocka_unit_test(a_loss_that_delays_nothing_is_named_without_a_cost),
	        cmocka_unit_test(what_weir_hands_over_late_is_its_own),
	        cmocka_unit_test(a_delayed_acknowledgement_is_told),
	        cmocka_unit_test(a_closed_window_is_told),
	        cmocka_unit_test(requests_of_one_connection_have_a_phase_each),
	        cmocka_unit_test(a_refused_attempt_belongs_to_the_connection_that_follows),
	        cmocka_unit_test(an_attempt_of_somebody_else_does_not),
	        cmocka_unit_test(a_lookup_belongs_to_the_connection_that_has_waited_for_it),
	        cmocka_unit_test(
	                a_question_for_the_neighbour_belongs_to_the_connection_that_follows),
	        cmocka_unit_test(a_neighbour_that_is_asked_behind_a_lookup_follows_it),
	        cmocka_unit_test(a_handshake_of_tls_ends_when_the_client_may_ask),
	        cmocka_unit_test(early_data_asks_with_the_hello),
	        cmocka_unit_test(a_greeting_of_quic_that_is_lost_costs_until_it_is_sent_again),
	        cmocka_unit_test(
	                a_datagram_of_quic_that_is_lost_is_repeated_once_later_ones_are_acknowledged),
	        cmocka_unit_test(a_long_connection_is_explained_in_parts),
	        cmocka_unit_test(more_connections_than_there_is_room_for_are_told_early),
	        cmocka_unit_test(a_closed_connection_is_told_when_it_is_over),
	        cmocka_unit_test(one_that_both_hosts_know_to_be_over_is_told_at_once),
	        cmocka_unit_test(any_packets_have_parts_that_sum_to_the_whole),
	        cmocka_unit_test(a_capture_says_what_it_would_take_over_the_path),
	};

	return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
