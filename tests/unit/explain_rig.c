/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain_rig.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "explain/before.h"
#include "packet/headers.h"

#define IP_AT        14
#define TRANSPORT_AT 34
#define FRAME_ROOM   4096

static void keep(void *argument, struct verdict *verdict)
{
	struct talked *talk = argument;

	talked_sums(verdict);
	talk->told++;
	if (talk->n < RIG_VERDICTS)
		talk->verdicts[talk->n++] = verdict;
	else
		verdict_free(verdict);
}

struct talked *talked_make(bool deaf)
{
	struct talked *talk = calloc(1, sizeof(*talk));

	assert_non_null(talk);
	talk->protocol = IPPROTO_TCP;
	talk->client_port = 40000;
	talk->server_port = 80;
	talk->client = 2;
	talk->server = 1;
	talk->delay_us = 50 * MS;
	talk->window = 60000;
	talk->sequence[UP] = UINT32_MAX - 5; /* it wraps */
	talk->sequence[DOWN] = 1000;
	talk->explainer = explainer_make(deaf, keep, talk);
	assert_non_null(talk->explainer);
	return talk;
}

void talked_free(struct talked *talk)
{
	for (uint32_t i = 0; i < talk->n; i++)
		verdict_free(talk->verdicts[i]);
	explainer_free(talk->explainer);
	free(talk);
}

void talked_end(struct talked *talk)
{
	explainer_end(talk->explainer);
}

const struct verdict *talked_only(struct talked *talk)
{
	talked_end(talk);
	assert_int_equal(talk->told, 1);
	return talk->verdicts[0];
}

/* ---- frames ---- */

static uint32_t make_frame(const struct talked *talk, int way, uint8_t flags, uint32_t sequence,
                           const void *data, uint32_t bytes, uint8_t *frame)
{
	const bool tcp = talk->protocol == IPPROTO_TCP;
	const uint32_t head = tcp ? 20 : 8;
	uint8_t *ip = frame + IP_AT, *transport = frame + TRANSPORT_AT;

	memset(frame, 0, TRANSPORT_AT + head + bytes);
	headers_put_u16(frame + 12, 0x0800);
	ip[0] = 0x45;
	headers_put_u16(ip + 2, (uint16_t)(20 + head + bytes));
	ip[8] = 64;
	ip[9] = talk->protocol;
	headers_put_u32(ip + 12,
	                way == UP ? 0x0a000000u + talk->client : 0x0a000100u + talk->server);
	headers_put_u32(ip + 16,
	                way == UP ? 0x0a000100u + talk->server : 0x0a000000u + talk->client);
	headers_put_u16(transport, way == UP ? talk->client_port : talk->server_port);
	headers_put_u16(transport + 2, way == UP ? talk->server_port : talk->client_port);
	if (tcp) {
		headers_put_u32(transport + 4, sequence);
		headers_put_u32(transport + 8, talk->sequence[!way]);
		transport[12] = 0x50;
		transport[13] = flags;
		headers_put_u16(transport + 14, talk->window);
	} else {
		headers_put_u16(transport + 4, (uint16_t)(8 + bytes));
	}
	if (data)
		memcpy(transport + head, data, bytes);
	return TRANSPORT_AT + head + bytes;
}

static uint32_t make_question(const struct talked *talk, int way, uint8_t flags, uint8_t *frame)
{
	static const uint8_t kind[] = {0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0};
	const uint32_t client = 0x0a000000u + talk->client, server = 0x0a000100u + talk->server;

	memset(frame, 0, 42);
	frame[0] = flags & ACK ? 0x02 : 0xff;
	memcpy(frame + 12, kind, sizeof(kind));
	frame[21] = flags & ACK ? 2 : 1;
	headers_put_u32(frame + 28, way == UP ? client : server);
	headers_put_u32(frame + 38, way == UP ? server : client);
	return 42;
}

static void tell(struct talked *talk, const struct fate *fate)
{
	explainer_take(talk->explainer, &fate, 1);
}

uint64_t talked_again(struct talked *talk, int way, uint64_t at_us, uint8_t flags,
                      uint32_t sequence, const void *data, uint32_t bytes)
{
	uint8_t frame[FRAME_ROOM];
	const uint32_t length =
	        talk->protocol == NEIGHBOUR_PROTOCOL
	                ? make_question(talk, way, flags, frame)
	                : make_frame(talk, way, flags, sequence, data, bytes, frame);
	const uint64_t begins_us = at_us > talk->free_us[way] ? at_us : talk->free_us[way];
	const uint64_t due_us = begins_us + talk->rate_us + talk->delay_us;
	const bool lost = talk->lose;
	struct fate fate = {.packet = ++talk->packets[way],
	                    .port = (uint32_t)way,
	                    .to_port = (uint32_t)!way,
	                    .kind = FATE_ARRIVED,
	                    .wire_bytes = length,
	                    .at_ns = at_us * 1000,
	                    .t_in_ns = at_us * 1000,
	                    .cloud = way == UP ? "up" : "down",
	                    .frame = {.data = frame, .bytes = length}};

	talk->lose = false;
	tell(talk, &fate);
	fate.frame = (struct fate_frame){.bytes = 0};
	if (lost) {
		fate.kind = FATE_DROPPED;
		fate.reason = REASON_LOSS;
		tell(talk, &fate);
		return 0;
	}
	if (talk->rate_us > 0)
		talk->free_us[way] = begins_us + talk->rate_us;
	fate.kind = FATE_DELIVERED;
	fate.entered_ns = (due_us - talk->delay_us) * 1000;
	fate.t_out_ns = due_us * 1000;
	tell(talk, &fate);
	if (talk->late_us > 0) {
		fate.kind = FATE_SENT;
		fate.t_in_ns = due_us * 1000;
		fate.at_ns = (due_us + talk->late_us) * 1000;
		tell(talk, &fate);
	}
	return due_us + talk->late_us;
}

uint64_t talked_send(struct talked *talk, int way, uint64_t at_us, uint8_t flags, const void *data,
                     uint32_t bytes)
{
	const uint64_t arrives_us =
	        talked_again(talk, way, at_us, flags, talk->sequence[way], data, bytes);

	talk->sequence[way] += bytes + !!(flags & SYN) + !!(flags & FIN);
	return arrives_us;
}

uint64_t talked_open(struct talked *talk, uint64_t at_us)
{
	uint64_t there_us = talked_send(talk, UP, at_us, SYN, NULL, 0);
	uint64_t back_us = talked_send(talk, DOWN, there_us, SYN | ACK, NULL, 0);

	talked_send(talk, UP, back_us, ACK, NULL, 0);
	return back_us;
}

/* ---- verdicts ---- */

void talked_sums(const struct verdict *verdict)
{
	simtime end_ns = verdict->begin_ns;

	for (uint32_t i = 0; i < verdict->n_phases; i++) {
		const struct verdict_phase *phase = &verdict->phases[i];
		uint64_t sum_ns = 0;

		for (int part = 0; part < PART_COUNT; part++)
			sum_ns += phase->parts_ns[part];
		assert_int_equal(phase->begin_ns, end_ns);
		assert_int_equal(phase->end_ns - phase->begin_ns, sum_ns);
		end_ns = phase->end_ns;
	}
	assert_int_equal(verdict->end_ns, end_ns);
}

uint64_t talked_part(const struct verdict *verdict, enum part part)
{
	return verdict_part_ns(verdict, part) / 1000;
}

const struct verdict_phase *talked_phase(const struct verdict *verdict, enum phase kind)
{
	for (uint32_t i = 0; i < verdict->n_phases; i++) {
		if (verdict->phases[i].kind == kind)
			return &verdict->phases[i];
	}
	return NULL;
}
