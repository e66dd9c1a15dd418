/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss_tcp_byte.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/selection.h"
#include "snapshot/snapshot.h"
#include "stage/stage.h"

#define PROTOCOL_TCP 6
#define TCP_BYTES    20
#define TCP_SYN      0x02

_Static_assert(sizeof(struct tcp_flow_name) == 48, "compared as bytes");

static void name_flow(const uint8_t *frame, const struct headers *headers,
                      struct tcp_flow_name *flow)
{
	const uint8_t *ip = frame + headers->network, *tcp = frame + headers->transport;

	memset(flow, 0, sizeof(*flow));
	if (headers->ip == 4) {
		memcpy(flow->source, ip + 12, 4);
		memcpy(flow->target, ip + 16, 4);
	} else {
		memcpy(flow->source, ip + 8, 16);
		memcpy(flow->target, ip + 24, 16);
	}
	memcpy(&flow->source_port, tcp, 2);
	memcpy(&flow->target_port, tcp + 2, 2);
	memcpy(flow->tag, headers->tag, sizeof(flow->tag));
	flow->ip = headers->ip;
	flow->n_tags = headers->n_tags;
}

/* Fills in the segment. Returns false if the packet is not TCP, or if its TCP header is not in the
 * first segment of the mbuf. */
static bool tcp_segment_find(struct burst *burst, uint32_t i, struct tcp_segment *segment)
{
	const struct headers *headers = burst_headers(burst, i);
	const uint8_t *frame = burst_frame(burst, i), *tcp;
	uint32_t header_bytes;

	if (headers->ip == 0 || headers->protocol != PROTOCOL_TCP || headers->transport == 0 ||
	    headers->transport_here < TCP_BYTES)
		return false;
	tcp = frame + headers->transport;
	header_bytes = (tcp[12] >> 4) * 4u;
	if (header_bytes < TCP_BYTES || header_bytes > headers->transport_bytes)
		return false;
	name_flow(frame, headers, &segment->flow);
	segment->sequence = headers_u32(tcp + 4);
	segment->syn = tcp[13] & TCP_SYN;
	segment->payload_bytes = headers->transport_bytes - header_bytes;
	return true;
}

_Static_assert(sizeof(struct tcp_flow) == 88, "loss_tcp_byte.h says so");

struct tcp_flows {
	uint64_t sets; /* a power of two */
	uint64_t segments;
	struct tcp_flow flow[];
};

struct tcp_flows *tcp_flows_make(uint64_t flows)
{
	struct tcp_flows *made;
	uint64_t sets = 1;

	while (sets * TCP_FLOWS_WAYS < flows)
		sets *= 2;
	made = calloc(1, sizeof(*made) + sets * TCP_FLOWS_WAYS * sizeof(made->flow[0]));
	if (made)
		made->sets = sets;
	return made;
}

void tcp_flows_free(struct tcp_flows *flows)
{
	free(flows);
}

uint64_t tcp_flows_room(const struct tcp_flows *flows)
{
	return flows->sets * TCP_FLOWS_WAYS;
}

/* Hashes a name by multiply and fold, word by word, with a key: an attacker who does not know the
 * seed cannot fill one set. */
static uint64_t hash_of(struct draw_key key, const struct tcp_flow_name *name)
{
	uint64_t hash = (uint64_t)key.word[1] << 32 | key.word[0], word;

	for (size_t i = 0; i < sizeof(*name); i += sizeof(word)) {
		unsigned __int128 product;

		memcpy(&word, (const uint8_t *)name + i, sizeof(word));
		product = (unsigned __int128)(hash ^ word ^ UINT64_C(0x9e3779b97f4a7c15)) *
		          UINT64_C(0xd6e8feb86659fd93);
		hash = (uint64_t)product ^ (uint64_t)(product >> 64);
	}
	return hash;
}

static void begin(struct tcp_flow *flow, const struct tcp_segment *segment)
{
	*flow = (struct tcp_flow){
	        .name = segment->flow,
	        .sequence = segment->sequence,
	        .byte = segment->syn ? 0 : 1,
	        .beginning = segment->sequence,
	        .syn_seen = segment->syn,
	};
}

/* Returns the place of the flow, taking one for a new flow. */
static struct tcp_flow *place_of(struct tcp_flows *flows, uint64_t hash,
                                 const struct tcp_segment *segment)
{
	struct tcp_flow *set = &flows->flow[(hash & (flows->sets - 1)) * TCP_FLOWS_WAYS];
	struct tcp_flow *oldest = set;

	for (int i = 0; i < TCP_FLOWS_WAYS; i++) {
		if (memcmp(&set[i].name, &segment->flow, sizeof(segment->flow)) == 0)
			return &set[i];
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	begin(oldest, segment);
	return oldest;
}

/* Returns the flow of a segment, and in `first` the number of its first payload byte, which is 0 or
 * less if the segment precedes the first one seen. `key` distributes the flows over the table. */
static struct tcp_flow *tcp_flows_follow(struct tcp_flows *flows, struct draw_key key,
                                         const struct tcp_segment *segment, int64_t *first)
{
	struct tcp_flow *flow = place_of(flows, hash_of(key, &segment->flow), segment);
	int32_t ahead;

	flow->used = ++flows->segments;
	if (segment->syn && (!flow->syn_seen || flow->beginning != segment->sequence)) {
		begin(flow, segment);
		flow->used = flows->segments;
	}
	ahead = (int32_t)(segment->sequence - flow->sequence);
	*first = flow->byte + ahead + segment->syn;
	if (ahead > 0) {
		flow->byte += ahead;
		flow->sequence = segment->sequence;
	}
	return flow;
}

/* ---- snapshots ---- */

/* No flow has had more than 2^62 bytes. */
#define BYTE_MAX (INT64_C(1) << 62)

static bool is_used(const struct tcp_flow *flow)
{
	return flow->name.ip != 0;
}

static void flow_snapshot(struct tcp_flow *flow, uint64_t segments, struct snapshot *snapshot)
{
	snapshot_bytes(snapshot, &flow->name, sizeof(flow->name)); /* it has no padding */
	snapshot_value(snapshot, flow->used);
	snapshot_value(snapshot, flow->byte);
	snapshot_value(snapshot, flow->sequence);
	snapshot_value(snapshot, flow->beginning);
	flow->syn_seen = snapshot_flag(snapshot, flow->syn_seen);
	snapshot_value(snapshot, flow->epoch);
	snapshot_value(snapshot, flow->drops);
	snapshot_holds(snapshot, is_used(flow) && flow->used <= segments && flow->byte >= 0 &&
	                                 flow->byte <= BYTE_MAX);
}

/* Writes the places that are used, in ascending order, and the end. */
static void flows_write(struct tcp_flows *flows, struct snapshot *snapshot)
{
	const uint64_t room = tcp_flows_room(flows);
	uint64_t end = room;

	for (uint64_t i = 0; i < room; i++) {
		if (!is_used(&flows->flow[i]))
			continue;
		snapshot_value(snapshot, i);
		flow_snapshot(&flows->flow[i], flows->segments, snapshot);
	}
	snapshot_value(snapshot, end);
}

static void flows_read(struct tcp_flows *flows, struct snapshot *snapshot)
{
	const uint64_t room = tcp_flows_room(flows);
	uint64_t from = 0, i = 0;

	for (;; from = i + 1) {
		snapshot_value(snapshot, i);
		if (!snapshot_holds(snapshot, i >= from && i <= room) || i == room)
			return;
		flow_snapshot(&flows->flow[i], flows->segments, snapshot);
	}
}

/* Writes the flows, or reads them into a table that has none (snapshot.h). Cost: a look at each
 * place. */
static void tcp_flows_snapshot(struct tcp_flows *flows, struct snapshot *snapshot)
{
	snapshot_value(snapshot, flows->segments);
	if (snapshot->restores)
		flows_read(flows, snapshot);
	else
		flows_write(flows, snapshot);
}

struct loss_tcp_byte {
	struct stage stage;
	int64_t byte;
	uint64_t drops_max; /* per flow */
	uint32_t epoch;     /* drops of a flow in another epoch do not count */
	struct tcp_flows *flows;
};

static bool is_lost(struct loss_tcp_byte *loss, struct burst *burst, uint16_t i)
{
	struct tcp_segment segment;
	struct tcp_flow *flow;
	int64_t first;

	if (!tcp_segment_find(burst, i, &segment))
		return false;
	flow = tcp_flows_follow(loss->flows, loss->stage.key, &segment, &first);
	if (flow->epoch != loss->epoch) {
		flow->epoch = loss->epoch;
		flow->drops = 0;
	}
	if (loss->byte < first || loss->byte - first >= segment.payload_bytes ||
	    flow->drops >= loss->drops_max)
		return false;
	flow->drops++;
	return true;
}

static void loss_tcp_byte_process(struct stage *stage, struct burst *burst)
{
	struct loss_tcp_byte *loss = (struct loss_tcp_byte *)stage;

	stage->drawn += burst->n;
	for (uint16_t i = 0; i < burst->n; i++) {
		if (is_lost(loss, burst, i))
			cloud_drop(stage->cloud, burst, i, REASON_LOSS);
	}
}

static int loss_tcp_byte_check(const struct conf *conf, const struct cloud_conf *cloud,
                               struct problem *problem)
{
	const struct loss_tcp_byte_conf *tcp = (const struct loss_tcp_byte_conf *)conf;

	return selection_check_copies(cloud, tcp->flows * sizeof(struct tcp_flow), problem);
}

static int loss_tcp_byte_make(const struct conf *conf, struct stage **stage)
{
	const struct loss_tcp_byte_conf *tcp = (const struct loss_tcp_byte_conf *)conf;
	struct loss_tcp_byte *loss = calloc(1, sizeof(*loss));

	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_tcp_byte_process;
	loss->byte = (int64_t)tcp->byte;
	loss->drops_max = tcp->retransmits + 1;
	loss->flows = tcp_flows_make(tcp->flows);
	if (!loss->flows) {
		free(loss);
		return -ENOMEM;
	}
	*stage = &loss->stage;
	return 0;
}

static void loss_tcp_byte_free(struct stage *stage)
{
	tcp_flows_free(((struct loss_tcp_byte *)stage)->flows);
	free(stage);
}

/* Exchanges the tables, so that nothing is copied. */
static void loss_tcp_byte_adopt(struct stage *stage, const struct stage *old)
{
	struct loss_tcp_byte *to = (struct loss_tcp_byte *)stage;
	struct loss_tcp_byte *from = (struct loss_tcp_byte *)(uintptr_t)old;
	struct tcp_flows *flows = to->flows;

	if (tcp_flows_room(flows) != tcp_flows_room(from->flows))
		return;
	to->flows = from->flows;
	from->flows = flows;
	to->epoch = from->epoch + 1;
}

/* The epoch counts how often the statement came into force again, which depends on whether packets
 * came in between (timeline.h). */
static void loss_tcp_byte_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	struct loss_tcp_byte *loss = (struct loss_tcp_byte *)stage;

	snapshot_value(snapshot, loss->epoch);
	tcp_flows_snapshot(loss->flows, snapshot);
}

static const struct field loss_tcp_byte_fields[] = {
        {FIELD("byte", FIELD_COUNT, struct loss_tcp_byte_conf, byte,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .min = 1, .max = LOSS_TCP_BYTE_MAX,
               .help = "of each flow, the first byte after SYN being 1")},
        {FIELD("retransmits", FIELD_COUNT, struct loss_tcp_byte_conf, retransmits,
               .max = LOSS_TCP_RETRANSMITS_MAX,
               .help = "how many retransmissions of that byte are lost as well")},
        {FIELD("flows", FIELD_COUNT, struct loss_tcp_byte_conf, flows, .min = 8,
               .max = TCP_FLOWS_MAX, .initial = LOSS_TCP_FLOWS,
               .help = "how many flows are followed at a time")},
        FIELD_END,
};

const struct statement loss_tcp_byte_statement = {
        .name = "loss",
        .variant = "tcp-byte",
        .help = "the TCP segment with a certain byte of each flow is lost",
        .example = "tcp-byte 1000",
        .role = ROLE_STAGE,
        .fields = loss_tcp_byte_fields,
        .conf_bytes = sizeof(struct loss_tcp_byte_conf),
        .check = loss_tcp_byte_check,
        .acts = {DROPS(LOSS), COUNTER(ecn_marked)},
        .make = loss_tcp_byte_make,
        .free = loss_tcp_byte_free,
        .adopt = loss_tcp_byte_adopt,
        .snapshot = loss_tcp_byte_snapshot,
};
