/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "header/feedback_proxy.h"

#define WORD_BITS 64u

int sink_init(struct sink *sink, const struct tcp_conf *conf, struct frame_end here,
              struct frame_end there, simtime delay_ns)
{
	uint32_t bits = WORD_BITS;

	memset(sink, 0, sizeof(*sink));
	while (bits < 2 * conf->window)
		bits *= 2;
	sink->ahead = calloc(bits / WORD_BITS, sizeof(*sink->ahead));
	if (!sink->ahead)
		return -ENOMEM;
	if (conf->hops) {
		sink->ledger = calloc(1, sizeof(*sink->ledger));
		if (!sink->ledger) {
			sink_release(sink);
			return -ENOMEM;
		}
	}
	sink->ahead_bits = bits;
	sink->conf = conf;
	sink->here = here;
	sink->there = there;
	sink->sequence = here.address ^ (uint32_t)here.port << 16;
	sink->delay_ns = delay_ns;
	sink->expires_ns = SIMTIME_NEVER;
	return 0;
}

void sink_release(struct sink *sink)
{
	free(sink->ledger);
	free(sink->ahead);
	sink->ledger = NULL;
	sink->ahead = NULL;
}

static uint64_t *word_of(struct sink *sink, int64_t packet, uint64_t *bit)
{
	uint64_t at = (uint64_t)packet & (sink->ahead_bits - 1);

	*bit = UINT64_C(1) << at % WORD_BITS;
	return &sink->ahead[at / WORD_BITS];
}

/* Takes a packet. Returns true if it was the one expected, and its successor had not arrived
 * before. */
static bool take(struct sink *sink, int64_t packet)
{
	uint64_t *word, bit;
	bool gap = false;

	if (packet < sink->next) {
		sink->counters.duplicates++;
		return false;
	}
	if (packet >= sink->next + sink->ahead_bits)
		return false;
	word = word_of(sink, packet, &bit);
	if (*word & bit)
		sink->counters.duplicates++;
	*word |= bit;
	if (packet > sink->next)
		return false;
	for (;;) {
		word = word_of(sink, sink->next, &bit);
		if (!(*word & bit))
			break;
		*word &= ~bit;
		gap = sink->next > packet;
		sink->next++;
		sink->counters.in_order++;
	}
	return !gap;
}

/* Queues a router's answer, in the request, to be returned. */
static void heed(struct sink *sink, const struct frame_oq *oq)
{
	if (oq->mode == OQ_TTL && oq->probe != OQ_NO_PROBE &&
	    (oq->request.number[0] != OQ_NOBODY || oq->request.number[1] != OQ_NOBODY))
		ledger_queue(sink->ledger, oq->probe, oq->ttl, &oq->request);
}

/* Takes the oldest answers that wait. Returns false if there are none. */
static bool answer(struct sink *sink, struct frame_oq *oq)
{
	const struct ledger_run *run = ledger_next(sink->ledger);

	if (!run)
		return false;
	*oq = (struct frame_oq){.res_probe = run->probe, .res_ttl = run->ttl, .n = run->n};
	memcpy(oq->answers, run->answers, sizeof(oq->answers));
	ledger_told(sink->ledger);
	return true;
}

static void acknowledge(struct sink *sink, bool syn, bool echo)
{
	struct frame_oq oq;
	struct segment segment = {
	        .from = sink->here,
	        .to = sink->there,
	        .seq = sink->sequence + (syn ? 0 : 1),
	        .ack = sink->peer_sequence + 1,
	        .flags = FRAME_TCP_ACK,
	        .ttl = FRAME_TTL,
	        .window = UINT16_MAX,
	        .window_scale = -1,
	        .echoed_ttl = sink->conf->response->tells_ttl ? sink->ttl : 0,
	};

	if (sink->next > 0)
		segment.ack += (uint32_t)(sink->next - 1) * tcp_data_bytes(sink->conf);
	if (syn) {
		uint32_t scale = 0;

		segment.flags |= FRAME_TCP_SYN;
		while ((uint64_t)sink->conf->window * tcp_data_bytes(sink->conf) >> scale >
		       UINT16_MAX)
			scale++;
		if (scale)
			segment.window_scale = (int8_t)scale;
	}
	if (echo)
		segment.flags |= FRAME_TCP_ECE;
	if (unlikely(sink->ledger != NULL) && answer(sink, &oq))
		segment.oq = &oq;
	sink->owes = false;
	sink->expires_ns = SIMTIME_NEVER;
	sink->wire(sink->argument, &segment);
}

/* Returns true if the acknowledgement of this packet carries ECE. */
static bool echoes(struct sink *sink, const struct segment *segment)
{
	bool marked = segment->ecn == FRAME_ECN_CE;

	switch (sink->conf->response->echo) {
	case ECHO_LATCHED:
		if (segment->flags & FRAME_TCP_CWR)
			sink->latched = false;
		if (marked)
			sink->latched = true;
		return sink->capable && sink->latched;
	case ECHO_EACH:
		return sink->capable && marked;
	case ECHO_NONE:
		break;
	}
	return false;
}

void sink_segment(struct sink *sink, simtime now, const struct segment *segment)
{
	bool syn = segment->flags & FRAME_TCP_SYN;
	bool marked = segment->ecn == FRAME_ECN_CE, in_order, echo;
	int64_t packet = 0;

	sink->counters.arrived++;
	sink->counters.marked += marked;
	sink->ttl = segment->ttl;
	if (unlikely(segment->oq && sink->ledger))
		heed(sink, segment->oq);
	if (syn) {
		sink->peer_sequence = segment->seq;
		sink->capable = (segment->flags & FRAME_TCP_ECE) &&
		                (segment->flags & FRAME_TCP_CWR) && sink->conf->response->capable;
	} else if (sink->next == 0) {
		return; /* no connection yet */
	} else {
		uint32_t expected = sink->peer_sequence + 1 +
		                    (uint32_t)(sink->next - 1) * tcp_data_bytes(sink->conf);

		packet = sink->next +
		         (int32_t)(segment->seq - expected) / (int32_t)tcp_data_bytes(sink->conf);
	}
	in_order = take(sink, packet);
	if (syn) {
		acknowledge(sink, true, sink->capable);
		return;
	}
	echo = echoes(sink, segment);
	if (sink->delay_ns && in_order && !sink->owes && !marked && !echo) {
		sink->owes = true;
		sink->expires_ns = now + sink->delay_ns;
		return;
	}
	acknowledge(sink, false, echo);
}

void sink_expire(struct sink *sink, simtime now)
{
	(void)now;
	sink->expires_ns = SIMTIME_NEVER;
	if (sink->owes)
		acknowledge(sink, false,
		            sink->conf->response->echo == ECHO_LATCHED && sink->capable &&
		                    sink->latched);
}
