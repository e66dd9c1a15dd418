/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes rules on arbitrary packets. Each segment of a packet lies at the end of a block of its
 * own, so that the sanitizer detects every access beyond it.
 *
 *   byte 0, odd    the text of a rule follows, up to a zero byte
 *           even   a byte n, then n % 8 + 1 steps of 4 bytes, from which a valid rule is made
 *   then           two bytes: where the frame is cut into segments; one: how much longer the frame
 *                  was on the wire; the rest is the frame
 *
 * Asserts: a rule that is refused has an error that says why and where; a packet keeps its length;
 * a packet whose bytes changed is counted. For generated rules that do not move layers also:
 * checksums that were right, or wrong by some amount, still are, computed anew over all bytes.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cloud.h"
#include "holding/hold.h"
#include "input.h"
#include "packet/headers.h"
#include "packet/packet.h"
#include "rewrite/rewrite.h"
#include "rewrite/rewrite_field.h"
#include "rewrite/rewrite_rule.h"

#define INPUT_MAX    16384
#define SEGMENTS_MAX 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- rules ---- */

static bool is_sum(const char *name)
{
	return strstr(name, "checksum") != NULL;
}

/* Writes an operation on any field by name, with a value that fits. */
static size_t make_step(char *text, size_t room, struct input *input)
{
	static const char *const operations[] = {"set", "min", "max", "add", "random"};
	const struct rewrite_field *field = rewrite_fields;
	uint32_t operation = take(input) % 5, which = take(input), n = 0;
	uint64_t value = (uint64_t)take(input) << 8, max;

	value = (value | take(input)) * UINT64_C(0x9e3779b97f4a7c15);
	for (const struct rewrite_field *row = rewrite_fields; row->name; row++)
		n += !is_sum(row->name) && row->place[1].width == 0;
	which %= n;
	for (;; field++) {
		if (!is_sum(field->name) && field->place[1].width == 0 && which-- == 0)
			break;
	}
	max = rewrite_place_max(&field->place[0]);
	if (operation == 4)
		return (size_t)snprintf(text, room, " random %s", field->name);
	return (size_t)snprintf(text, room, " %s %s 0x%" PRIx64, operations[operation], field->name,
	                        value & max);
}

static char *read_rule(struct input *input, bool made)
{
	char *text = calloc(1, INPUT_MAX + 1024);
	size_t n = 0;

	assert(text != NULL);
	if (made) {
		for (int steps = take(input) % 8; steps >= 0; steps--)
			n += make_step(text + n, 1024 - n, input);
		return text;
	}
	while (input->left > 0 && (text[n] = (char)take(input)) != 0)
		n++;
	return text;
}

/* ---- packets ---- */

struct frame {
	struct rte_mbuf *segment[SEGMENTS_MAX];
	void *block[SEGMENTS_MAX];
	uint32_t n;
};

static struct rte_mbuf *make_segment(struct frame *frame, const uint8_t *bytes, uint32_t n)
{
	uint32_t i = frame->n++;
	struct rte_mbuf *mbuf = aligned_alloc(64, sizeof(*mbuf) + 128);

	frame->block[i] = malloc(n ? n : 1);
	assert(mbuf != NULL && frame->block[i] != NULL);
	memset(mbuf, 0, sizeof(*mbuf) + 128);
	memcpy(frame->block[i], bytes, n);
	mbuf->buf_addr = frame->block[i];
	mbuf->data_len = (uint16_t)n;
	mbuf->pkt_len = n;
	mbuf->nb_segs = 1;
	mbuf->priv_size = PACKET_PRIVATE_BYTES;
	rte_mbuf_refcnt_set(mbuf, 1);
	frame->segment[i] = mbuf;
	return mbuf;
}

static struct rte_mbuf *make_frame(struct frame *frame, struct input *input)
{
	uint32_t cut[2] = {take(input), take(input)}, longer = take(input), done = 0;
	uint32_t bytes = (uint32_t)input->left;

	frame->n = 0;
	for (int i = 0; i < 2; i++) {
		if (cut[i] > 0 && cut[i] < bytes - done) {
			make_segment(frame, input->at + done, cut[i]);
			done += cut[i];
		}
	}
	make_segment(frame, input->at + done, bytes - done);
	for (uint32_t i = 0; i + 1 < frame->n; i++)
		frame->segment[i]->next = frame->segment[i + 1];
	frame->segment[0]->pkt_len = bytes;
	frame->segment[0]->nb_segs = (uint16_t)frame->n;
	*packet_of(frame->segment[0]) = (struct packet){.wire_bytes = bytes + longer};
	return frame->segment[0];
}

/* Frees the frame, and writes its bytes contiguously. */
static void take_apart(struct frame *frame, uint8_t *bytes)
{
	for (uint32_t i = 0; i < frame->n; i++) {
		memcpy(bytes, frame->block[i], frame->segment[i]->data_len);
		bytes += frame->segment[i]->data_len;
		free(frame->block[i]);
		free(frame->segment[i]);
	}
}

/* ---- the check of checksums ---- */

/* Returns the sum of the words from `at` to `end`, modulo 2^16 - 1; both are even, or nothing
 * follows. */
static uint32_t sum_of(const uint8_t *bytes, uint32_t at, uint32_t end)
{
	uint64_t sum = 0;

	for (; at < end; at++)
		sum += at & 1 ? bytes[at] : (uint32_t)bytes[at] << 8;
	return (uint32_t)(sum % 0xffff);
}

static bool is_ended_by(const uint8_t *bytes, const struct headers *headers, uint32_t *end)
{
	*end = headers->transport + headers->transport_here;
	return headers->transport != 0 &&
	       (headers->ip == 4 || bytes[headers->network + 6] == headers->protocol);
}

static void judge(const uint8_t *before, const uint8_t *after, uint32_t bytes, uint32_t wire_bytes)
{
	struct headers then, now;
	uint32_t at, end, protocol, sum;

	headers_find(before, bytes, wire_bytes, &then);
	headers_find(after, bytes, wire_bytes, &now);
	if (then.ip == 0 || then.ip != now.ip || then.network != now.network ||
	    then.transport != now.transport || then.protocol != now.protocol ||
	    then.transport_bytes != now.transport_bytes)
		return;
	at = then.network;
	if (then.ip == 4)
		assert(sum_of(before, at, at + (before[at] & 0xfu) * 4) ==
		       sum_of(after, at, at + (after[at] & 0xfu) * 4));
	protocol = then.protocol;
	if (!is_ended_by(before, &then, &end) || !(protocol == 6 || protocol == 17))
		return;
	sum = then.transport + (protocol == 6 ? 16 : 6);
	if (sum + 2 > end || (protocol == 17 && headers_u16(before + sum) == 0))
		return;
	at += then.ip == 4 ? 12 : 8;
	assert((sum_of(before, at, at + (then.ip == 4 ? 8 : 32)) +
	        sum_of(before, then.transport, end)) %
	               0xffff ==
	       (sum_of(after, at, at + (then.ip == 4 ? 8 : 32)) +
	        sum_of(after, then.transport, end)) %
	               0xffff);
}

/* ---- */

static void run(struct rewrite_conf *conf, struct input *input, bool judged)
{
	static struct holder holder; /* has no pool: copying fails */
	static struct cloud cloud;
	uint32_t bytes = input->left > 3 ? (uint32_t)input->left - 3 : 0, first, wire_bytes;
	const uint8_t *original = input->at + 3;
	uint8_t *after = malloc(bytes ? bytes : 1);
	struct stage *stage;
	struct rte_mbuf *mbuf;
	struct burst burst;
	struct frame frame;

	if (bytes == 0 || !after)
		goto done;
	memset(&cloud, 0, sizeof(cloud));
	cloud.holder = &holder;
	assert(rewrite_statement.make(&conf->conf, &stage) == 0);
	stage->cloud = &cloud;
	assert(rewrite_statement.ready(stage, &conf->conf) == 0);
	mbuf = make_frame(&frame, input);
	first = mbuf->data_len;
	wire_bytes = packet_of(mbuf)->wire_bytes;
	burst_read(&burst, &mbuf, 1);
	stage->process(stage, &burst);
	assert(!burst.gaps && burst.mbuf[0] == frame.segment[0] && mbuf->pkt_len == bytes);
	rewrite_statement.free(stage);
	take_apart(&frame, after);
	if (memcmp(after, original, bytes) != 0)
		assert(cloud.counters.rewritten == 1);
	if (judged && first == bytes)
		judge(original, after, bytes, wire_bytes);
done:
	free(after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct problem problem = {.text = ""};
	struct rewrite_conf conf = {.conf = {.statement = &rewrite_statement, .number = 3}};
	bool made;

	if (size < 4 || size > INPUT_MAX)
		return 0;
	made = !(take(&input) & 1);
	conf.rule = read_rule(&input, made);
	if (rewrite_statement.check(&conf.conf, NULL, &problem) == 0) {
		run(&conf, &input, made);
	} else {
		assert(!made);
		assert(problem.text[0] != 0 && problem.field == 0);
		assert(problem.letter <= strlen(conf.rule));
	}
	free(conf.rule);
	return 0;
}
