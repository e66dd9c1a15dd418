/* SPDX-License-Identifier: BSD-3-Clause */
#include "snapshot_rig.h"

#include <stdio.h>
#include <string.h>

#include <rte_ip.h>

#include "engine/cloud.h"
#include "engine/engine_state.h"
#include "frame.h"
#include "header/feedback_proxy.h"
#include "header/oq_header.h"
#include "header/xcp.h"
#include "link/aqm.h"
#include "schedule_rig.h"
#include "statements.h"

#define IPV4     14
#define PAYLOAD  34
#define FLOWS    12
#define ECN_BITS 3

/* ---- packets ---- */

const struct draw_key traffic_draws = {{5, 6}};

uint32_t traffic_make(uint8_t *frame, uint64_t number)
{
	const uint64_t draw = draw_u64(traffic_draws, number, 0);
	const uint32_t flow = (uint32_t)(draw % FLOWS);
	struct frame_shape shape = {
	        .ip = 4,
	        .protocol = flow % 2 ? FRAME_UDP : FRAME_TCP,
	        .source_port = (uint16_t)(2000 + flow),
	        .host = (uint8_t)(1 + flow),
	        .payload_bytes = 60 + (uint32_t)(draw >> 8) % 1000,
	        .syn = number % 997 == 1,
	        .sequence = (uint32_t)number * 50,
	};
	uint32_t bytes = frame_make(frame, &shape);
	uint8_t *ip = frame + IPV4;
	uint16_t sum;

	ip[1] = (uint8_t)(draw >> 24 & ECN_BITS);
	ip[8] = draw >> 32 & 7 ? 64 - (draw >> 36 & 3) : 1;
	if (flow == 1) { /* a request, which a router has answered, and answers of others */
		ip[9] = OQ_PROTOCOL_DEFAULT;
		memset(frame + PAYLOAD, 0, OQ_BYTES);
		frame[PAYLOAD + OQ_REQ_MODE] = OQ_TTL;
		frame[PAYLOAD + OQ_REQ_PROBE] = (uint8_t)(1 + number % 3);
		frame[PAYLOAD + OQ_REQ_TTL] = (uint8_t)(60 + number % 5);
		frame[PAYLOAD + OQ_RES_PROBE] = OQ_LOSS;
		frame[PAYLOAD + OQ_RES_LEN] = OQ_ANSWER_BYTES;
		frame[PAYLOAD + OQ_RES_TTL] = (uint8_t)(number % 64);
		frame[PAYLOAD + OQ_NEXT] = FRAME_UDP;
	} else if (flow == 3) {
		ip[9] = XCP_PROTOCOL_DEFAULT;
		memset(frame + PAYLOAD, 0, XCP_BYTES);
		frame[PAYLOAD + XCP_LENGTH] = XCP_BYTES;
		frame[PAYLOAD + XCP_VERSION_FORMAT] = XCP_VERSION << 4 | XCP_DATA;
		frame[PAYLOAD + XCP_RTT] = 1;
		frame[PAYLOAD + XCP_X + 1] = 1;
		frame[PAYLOAD + XCP_DELTA + 1] = 100;
	}
	memset(ip + 10, 0, 2);
	sum = (uint16_t)~rte_raw_cksum(ip, 20);
	memcpy(ip + 10, &sum, 2);
	return bytes;
}

struct traffic traffic;

void traffic_come(struct rig *rig, uint64_t from, uint64_t to, simtime now)
{
	for (uint64_t number = from; number < to;) {
		struct rte_mbuf *mbufs[BURST_MAX];
		uint16_t n = 0, of = 1 + (uint16_t)(draw_u64(traffic_draws, number, 1) % 20);

		for (; n < of && number < to; number++) {
			uint8_t frame[FRAME_BYTES_MAX];
			uint32_t bytes = traffic_make(frame, number);

			mbufs[n] = rig_packet(rig, RIG_PLAIN, 0, traffic.numbers_from + number,
			                      bytes, 0, now);
			packet_of(mbufs[n])->age_ns = traffic.age_ns;
			memcpy(rte_pktmbuf_mtod(mbufs[n], void *), frame, bytes);
			n++;
		}
		rig_advance(rig, now);
		rig_ingress(rig, mbufs, n);
		now += draw_u64(traffic_draws, number, 2) % (8 * SIMTIME_MS);
	}
}

void traffic_play(struct rig *rig, uint64_t from, uint64_t to, simtime now)
{
	traffic_come(rig, from, to, now);
	rig_run_out(rig);
}

/* ---- engines ---- */

static const char *const cases[] = {
        "loss random 10%",
        "loss random 10% correlation 60%",
        "loss random 10% correlation 60% as-netem",
        "loss every 7 burst 2",
        "loss burst 3% length 5..60",
        "loss gilbert-elliott p 10% r 3%",
        "loss four-state p13 10% p31 3% p32 5% p14 2%",
        "loss bit-error 1e-5",
        "loss tcp-byte 1500 retransmits 3 flows 16",
        "loss random 10% correlation 60% keyed flow; duplicate every 9 keyed flow;"
        "corrupt random 10% correlation 50% keyed flow",
        "loss burst 3% length 5..60 keyed flow; rate 12mbit queue 100pkt; reorder 5% gap 3 keyed "
        "flow; delay 9ms jitter 3ms correlation 50% order allow keyed flow",
        "loss gilbert-elliott p 10% r 3% keyed connection; every 100ms for 37ms no loss",
        "duplicate random 10% correlation 60%",
        "duplicate every 9",
        "corrupt random 10% correlation 50%",
        "corrupt bit-error 1e-5",
        "corrupt checksum ip,udp probability 10%",
        "police 1mbit burst 5kB",
        "meter window 70ms; rate 12mbit queue 100pkt",
        "hop 192.0.2.99 limit 20 burst 30 mtu 700",
        "hop 192.0.2.99; feedback header window 70ms; rate 12mbit queue 100pkt",
        "feedback proxy insert hops 5 ttl 63",
        "feedback proxy strip",
        "rewrite match ip.ttl = 64 random ip.id",
        "rate 12mbit queue 100pkt; red min 10pkt max 40pkt",
        "rate 12mbit queue 100pkt; ecn on; red min 5kB max 40kB weight 1% adaptive on",
        "rate 12mbit queue 100pkt; ecn on; red min 5kB max 40kB weight 1% alpha 50%",
        "hop 192.0.2.99; rate 12mbit queue 100pkt; ecn on; red min 5kB max 40kB weight 1%;"
        "becn limit 10 burst 20",
        "hop 192.0.2.99; rate 12mbit queue 100pkt; ecn on; mark above 10pkt;"
        "becn limit 10 burst 20",
        "rate 12mbit queue 100pkt; codel target 1ms interval 10ms",
        "rate 12mbit queue 100pkt; ecn on; pie target 2ms",
        "rate 12mbit queue 100pkt; fq-codel flows 16 target 1ms interval 10ms",
        "rate 12mbit queue 100pkt; dualpi2 target 2ms",
        "loss every 9; every 100ms for 37ms loss every 4 burst 2",
        "loss tcp-byte 1500 flows 16; every 100ms for 37ms loss tcp-byte 900 flows 16",
        "flap down 20ms every 300ms; police 1mbit burst 5kB",
        "at 3s loss burst 3% length 5..60; at 20s loss every 3; loss random 9% correlation 60%",
        "wave loss 0%..40% period 300ms; loss gilbert-elliott p 3% r 10%",
        "markov a 60ms loss burst 9% length 5..60 then b 30ms loss every 5",
        "rate 12mbit queue 100pkt; every 100ms for 37ms codel target 1ms interval 10ms",
};

/* Returns true if a case above has the statement. */
static bool has_case(const struct statement *statement)
{
	char words[80];
	size_t n = (size_t)snprintf(words, sizeof(words), "%s%s%s", statement->name,
	                            statement->variant ? " " : "", statement->variant ?: "");

	for (size_t i = 0; i < LENGTH(cases); i++) {
		for (const char *at = cases[i]; (at = strstr(at, words)) != NULL; at += n) {
			if ((at == cases[i] || strchr(" ;", at[-1])) && strchr(" ;", at[n]))
				return true;
		}
	}
	return false;
}

/* Writes the statement as its help has it, with those beside it, behind a queue. */
static void write_example(const struct statement *statement, char *text, size_t room)
{
	size_t at = (size_t)snprintf(text, room, "rate 12mbit queue 100pkt");

	for (uint32_t i = 0; i < STATEMENT_BESIDE && statement->beside[i]; i++)
		at += (size_t)snprintf(text + at, room - at, "; %s", statement->beside[i]);
	snprintf(text + at, room - at, "; %s%s%s", statement->name,
	         statement->example[0] ? " " : "", statement->example);
}

const char *remembering(size_t i)
{
	static char text[256];

	if (i < LENGTH(cases))
		return cases[i];
	i -= LENGTH(cases);
	for (const struct statement *const *row = statements; *row; row++) {
		if (((*row)->snapshot || ((*row)->aqm && (*row)->aqm->snapshot)) &&
		    !has_case(*row) && (*row)->example && i-- == 0) {
			write_example(*row, text, sizeof(text));
			return text;
		}
	}
	return NULL;
}

struct rig *engine_open(const char *words)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = SEED});

	rig_cloud(rig, "x", 0, 1);
	schedule_set(rig, words);
	rig_apply(rig, 0);
	return rig;
}

struct cloud *cloud_of(const struct rig *rig)
{
	return rig->engine->cloud_table->slots[0];
}

void assert_same_departures(const struct rig *rig, uint32_t from, const struct rig *other,
                            const char *words)
{
	if (rig->n_departures - from != other->n_departures)
		fail_msg("%s: %u and %u packets leave", words, rig->n_departures - from,
		         other->n_departures);
	for (uint32_t i = 0; i < other->n_departures; i++) {
		const struct departure *a = &rig->departures[from + i], *b = &other->departures[i];

		if (a->due_ns != b->due_ns || a->digest != b->digest || a->port != b->port ||
		    a->wire_bytes != b->wire_bytes)
			fail_msg("%s: packet %u behind the snapshot leaves at %lu, and at %lu",
			         words, i, a->due_ns, b->due_ns);
	}
}
