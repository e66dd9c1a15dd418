/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the explanation of connections: the input is a sequence of fates, each with a frame.
 *
 *   1 byte    bits 0-1: arrives and is delivered, is lost, stays under way, is delivered late;
 *             bit 2: the port; bit 3: the client's; bits 4-7: how long after the one before it
 *   2 bytes   the length of the payload behind the header of TCP or UDP, 0 to 2047
 *   1 byte    bit 0: UDP; bits 1-3: which of eight servers' ports; bits 4-7: the client's; all
 *             set: a question for a neighbour by ARP, or its answer
 *   12 bytes  sequence, acknowledgement, flags, window, delay
 *   payload
 *
 * Asserts that the parts of each phase sum to its time, and the phases to that of the connection,
 * and prints it, as text and as JSON.
 */
#include <assert.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explainer.h"
#include "explain/explanation.h"
#include "packet/headers.h"

#define HEAD_BYTES    16
#define PAYLOAD_MAX   2047
#define TRANSPORT_AT  34
#define FATES_MAX     4096
#define LONG_STEP_NS  (SIMTIME_S * 3)
#define SHORT_STEP_NS (SIMTIME_MS / 3)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint16_t ports[8] = {53, 80, 443, 22, 5201, 8443, 53, 443};

struct run {
	struct explainer *explainer;
	struct explanation *explanation;
	uint64_t packets[2];
	simtime now;
};

static void check(void *argument, struct verdict *verdict)
{
	struct run *run = argument;
	simtime end_ns = verdict->begin_ns;

	for (uint32_t i = 0; i < verdict->n_phases; i++) {
		const struct verdict_phase *phase = &verdict->phases[i];
		uint64_t sum_ns = 0;

		for (int part = 0; part < PART_COUNT; part++)
			sum_ns += phase->parts_ns[part];
		assert(phase->begin_ns == end_ns);
		assert(phase->end_ns - phase->begin_ns == sum_ns);
		end_ns = phase->end_ns;
	}
	assert(verdict->end_ns == end_ns);
	explanation_add(run->explanation, verdict);
}

static uint32_t make_frame(const uint8_t *head, const uint8_t *payload, uint32_t bytes,
                           uint8_t *frame)
{
	const bool udp = head[3] & 1, up = head[0] & 8;
	const uint32_t transport = udp ? 8 : 20;
	const uint16_t server = ports[head[3] >> 1 & 7],
	               client = (uint16_t)(40000 + (head[3] >> 4));
	uint8_t *ip = frame + 14, *at = frame + TRANSPORT_AT;

	memset(frame, 0, TRANSPORT_AT + transport);
	headers_put_u16(frame + 12, 0x0800);
	ip[0] = 0x45;
	headers_put_u16(ip + 2, (uint16_t)(20 + transport + bytes));
	ip[9] = udp ? IPPROTO_UDP : IPPROTO_TCP;
	headers_put_u32(ip + 12, up ? 1 : 2);
	headers_put_u32(ip + 16, up ? 2 : 1);
	headers_put_u16(at, up ? client : server);
	headers_put_u16(at + 2, up ? server : client);
	if (udp) {
		headers_put_u16(at + 4, (uint16_t)(8 + bytes));
	} else {
		headers_put_u32(at + 4, (uint32_t)headers_u16(head + 4) << (head[12] & 16));
		headers_put_u32(at + 8, headers_u32(head + 6));
		at[12] = 0x50;
		at[13] = head[10];
		headers_put_u16(at + 14, headers_u16(head + 12));
	}
	memcpy(at + transport, payload, bytes);
	return TRANSPORT_AT + transport + bytes;
}

static uint32_t make_question(const uint8_t *head, const uint8_t *payload, uint32_t bytes,
                              uint8_t *frame)
{
	static const uint8_t kind[] = {0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0};
	const bool up = head[0] & 8;

	memset(frame, 0, TRANSPORT_AT + 20);
	memcpy(frame + 22, payload, bytes < 20 ? bytes : 20);
	frame[0] = head[4];
	memcpy(frame + 12, kind, sizeof(kind));
	frame[21] = head[10] & 16 ? 2 : 1;
	headers_put_u32(frame + 28, up ? 1 : 2);
	headers_put_u32(frame + 38, up ? 2 : 1);
	return 42;
}

static void happen(struct run *run, const uint8_t *head, const uint8_t *payload, uint32_t bytes)
{
	static uint8_t frame[TRANSPORT_AT + 20 + PAYLOAD_MAX];
	const uint32_t length = head[3] == UINT8_MAX ? make_question(head, payload, bytes, frame)
	                                             : make_frame(head, payload, bytes, frame);
	const uint32_t port = head[0] >> 2 & 1;
	const simtime delay_ns = headers_u16(head + 14) * (SIMTIME_MS / 8);
	struct fate fate = {.packet = ++run->packets[port],
	                    .port = port,
	                    .kind = FATE_ARRIVED,
	                    .wire_bytes = length,
	                    .cloud = port ? "up" : "down",
	                    .frame = {.data = frame, .bytes = length}};
	struct fate fates[3];
	uint32_t n = 0;

	run->now += head[0] >> 4 == 15 ? LONG_STEP_NS : (head[0] >> 4) * SHORT_STEP_NS;
	fate.at_ns = fate.t_in_ns = run->now;
	fates[n++] = fate;
	fate.frame.bytes = 0;
	fate.kind = FATE_DROPPED;
	fate.reason = (enum reason)(head[11] % REASON_COUNT);
	if ((head[0] & 3) == 1)
		fates[n++] = fate;
	fate.kind = FATE_DELIVERED;
	fate.entered_ns = run->now + delay_ns / 3;
	fate.t_out_ns = run->now + delay_ns;
	if ((head[0] & 3) % 3 == 0)
		fates[n++] = fate;
	fate.kind = FATE_SENT;
	fate.t_in_ns = fate.t_out_ns;
	fate.at_ns = fate.t_out_ns + SIMTIME_MS;
	if ((head[0] & 3) == 3)
		fates[n++] = fate;
	explainer_take(run->explainer,
	               (const struct fate *const[]){&fates[0], &fates[1], &fates[2]}, n);
	explainer_step(run->explainer, run->now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char names[2][SCENARIO_NAME_BYTES] = {"a", "b"};
	struct explanation_of of = {.n_ports = 2, .ports = names};
	struct explainer_left_out left_out;
	struct run run = {.now = 0};
	FILE *nothing = fopen("/dev/null", "w");

	assert(nothing);
	of.json = nothing;
	of.deaf = size > 0 && data[0] & 0x40;
	run.explanation = explanation_make(&of);
	run.explainer = explainer_make(of.deaf, check, &run);
	assert(run.explanation && run.explainer);
	for (uint32_t i = 0; i < FATES_MAX && size >= HEAD_BYTES; i++) {
		uint32_t bytes = headers_u16(data + 1) & PAYLOAD_MAX;

		if (bytes > size - HEAD_BYTES)
			bytes = (uint32_t)size - HEAD_BYTES;
		happen(&run, data, data + HEAD_BYTES, bytes);
		data += HEAD_BYTES + bytes;
		size -= HEAD_BYTES + bytes;
	}
	explainer_end(run.explainer);
	left_out = explainer_left_out(run.explainer);
	explanation_print(run.explanation, &left_out, nothing);
	explanation_end_json(run.explanation, &left_out);
	explainer_free(run.explainer);
	explanation_free(run.explanation);
	fclose(nothing);
	return 0;
}
