/* SPDX-License-Identifier: BSD-3-Clause */
#include "match/flows.h"

#include <stdlib.h>
#include <string.h>

#include "match/packet_key.h"
#include "random/draw.h"
#include "snapshot/snapshot.h"

struct flow {
	uint64_t number;     /* of its next packet */
	uint64_t used;       /* ordinal of its latest packet among all */
	uint64_t connection; /* its other name; 0: it has none */
	uint64_t memory[FLOW_SLOTS];
};

struct flow_set {
	uint64_t name[FLOWS_WAYS]; /* 0: the place is free. One cache line */
	struct flow flow[FLOWS_WAYS];
};

struct flows {
	uint64_t key;
	uint64_t packets; /* so far, of all flows */
	uint64_t sets;    /* a power of two */
	bool connections; /* flows need the other name */
	/* of damaged packets, which remember nothing */
	uint64_t no_memory[BURST_ROOM][FLOW_SLOTS];
	struct flow_set set[] __rte_cache_aligned;
};

_Static_assert(FLOWS_KNOWN % FLOWS_WAYS == 0 && FLOWS_KNOWN_OF_MANY % FLOWS_WAYS == 0,
               "whole sets");

static uint64_t sets_for(bool many)
{
	return (many ? FLOWS_KNOWN_OF_MANY : FLOWS_KNOWN) / FLOWS_WAYS;
}

uint64_t flows_bytes(bool many)
{
	return sizeof(struct flows) + sets_for(many) * sizeof(struct flow_set);
}

struct flows *flows_make(uint64_t seed, bool many)
{
	struct draw_key key = draw_key_make(seed, "", "flows");
	struct flows *flows = aligned_alloc(RTE_CACHE_LINE_SIZE, flows_bytes(many));

	if (!flows)
		return NULL;
	memset(flows, 0, flows_bytes(many)); /* so that its pages exist before packets come */
	flows->key = (uint64_t)key.word[1] << 32 | key.word[0];
	flows->sets = sets_for(many);
	return flows;
}

void flows_free(struct flows *flows)
{
	free(flows);
}

void flows_name_connections(struct flows *flows, bool needed)
{
	flows->connections = needed;
}

/* ---- names ---- */

/* Multiplies and folds. */
static inline uint64_t mix(uint64_t hash, uint64_t word)
{
	unsigned __int128 product =
	        (unsigned __int128)(hash ^ word ^ UINT64_C(0x9e3779b97f4a7c15)) *
	        UINT64_C(0xd6e8feb86659fd93);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Never returns 0. */
static uint64_t name_of(uint64_t hash, const struct packet_key *key)
{
	for (uint32_t i = 0; i < 4; i++) /* the addresses */
		hash = mix(hash, key->word[i]);
	hash = mix(hash, (uint64_t)key->source_port << 16 | key->destination_port |
	                         (uint64_t)key->protocol << 32 | (uint64_t)key->ethertype << 40 |
	                         (uint64_t)key->has_ports << 56);
	hash = mix(hash, 0);
	return hash ? hash : 1;
}

#define DAMAGED_BYTES 256

/* Names a damaged packet. */
static uint64_t name_of_bytes(uint64_t hash, const struct packet_bytes *frame)
{
	uint32_t n = RTE_MIN(frame->bytes, (uint32_t)DAMAGED_BYTES);

	hash = mix(hash, frame->wire_bytes);
	for (uint32_t at = 0; at < n; at += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, frame->data + at, RTE_MIN(sizeof(word), (size_t)(n - at)));
		hash = mix(hash, word);
	}
	return hash;
}

/* ---- counting ---- */

/* Returns the place of the flow, which is taken for it if it is new. Returns NULL if the flow that
 * had to go for it has had a packet after the `since`-th of all. */
static inline struct flow *place_of(struct flows *flows, uint64_t name, uint64_t since)
{
	struct flow_set *set = &flows->set[name & (flows->sets - 1)];
	uint32_t oldest = 0;

	for (uint32_t i = 0; i < FLOWS_WAYS; i++) {
		if (likely(set->name[i] == name))
			return &set->flow[i];
	}
	for (uint32_t i = 1; i < FLOWS_WAYS; i++) {
		if (set->flow[i].used < set->flow[oldest].used)
			oldest = i;
	}
	if (set->flow[oldest].used > since)
		return NULL;
	set->name[oldest] = name;
	set->flow[oldest] = (struct flow){0};
	return &set->flow[oldest];
}

#define FAMILY UINT64_C(0x2545f4914f6cdd1d) /* keeps names of families apart from those of flows */

/* Gives a flow that is about to be counted its other name, from the number of its family: of the
 * flows that differ in chosen ports only. Returns false, and has to be called again, if the family
 * found no place (place_of). */
static __attribute__((noinline)) bool name_connection(struct flows *flows, struct flow *flow,
                                                      const struct packet_key *key, uint64_t since)
{
	struct packet_key shared = *key;
	struct flow *family;
	uint64_t name;

	if (shared.source_port >= FLOWS_CHOSEN_PORTS)
		shared.source_port = 0;
	if (shared.destination_port >= FLOWS_CHOSEN_PORTS)
		shared.destination_port = 0;
	name = name_of(flows->key ^ FAMILY, &shared);
	flow->used = flows->packets + 1; /* so that it keeps its place */
	family = place_of(flows, name, since);
	if (!family)
		return false;
	family->used = flows->packets + 1;
	name = mix(mix(name, family->number++), 0);
	flow->connection = name ? name : 1;
	return true;
}

static inline bool lacks_name(const struct flows *flows, const struct flow *flow)
{
	return unlikely(flows->connections) && flow->connection == 0;
}

static inline struct burst_flow count(struct flows *flows, struct flow *flow, uint64_t name)
{
	flow->used = ++flows->packets;
	return (struct burst_flow){
	        .name = {name, flow->connection}, .number = flow->number++, .memory = flow->memory};
}

/* Returns a damaged packet as a flow of its own; `i` is its place in its burst. */
static __attribute__((noinline)) struct burst_flow
damaged(struct flows *flows, const struct packet_bytes *frame, uint16_t i)
{
	const uint64_t name = name_of_bytes(flows->key, frame);

	memset(flows->no_memory[i], 0, sizeof(flows->no_memory[i]));
	return (struct burst_flow){.name = {name, name}, .memory = flows->no_memory[i]};
}

uint16_t flows_count(struct flows *flows, struct burst *burst, uint16_t from)
{
	const uint64_t since = flows->packets;
	struct packet_key key;

	for (uint16_t i = from; i < burst->n; i++) {
		struct flow *flow;
		uint64_t name;

		if (unlikely(burst_flags(burst, i) & PACKET_DAMAGED)) {
			struct packet_bytes frame = packet_bytes_of(burst, i);

			burst->flow[i] = damaged(flows, &frame, i);
			continue;
		}
		packet_key_read(burst, i, &key);
		name = name_of(flows->key, &key);
		flow = place_of(flows, name, since);
		if (unlikely(!flow) ||
		    (lacks_name(flows, flow) && !name_connection(flows, flow, &key, since)))
			return i - from;
		burst->flow[i] = count(flows, flow, name);
	}
	return burst->n - from;
}

struct burst_flow flows_count_one(struct flows *flows, const struct packet_bytes *frame,
                                  uint32_t flags)
{
	struct packet_key key;
	struct flow *flow;
	uint64_t name;

	if (unlikely(flags & PACKET_DAMAGED))
		return damaged(flows, frame, 0);
	packet_key_of(frame->data, frame->bytes, frame->wire_bytes, &key);
	name = name_of(flows->key, &key);
	flow = place_of(flows, name, flows->packets);
	if (lacks_name(flows, flow))
		name_connection(flows, flow, &key, flows->packets);
	return count(flows, flow, name);
}

/* ---- snapshots ---- */

/* No flow has had more packets, and no cloud. */
#define NUMBER_MAX  (UINT64_C(1) << 48)
#define PACKETS_MAX (UINT64_C(1) << 62)

static void flow_snapshot(struct flow_set *set, uint64_t way, uint64_t packets,
                          struct snapshot *snapshot)
{
	struct flow *flow = &set->flow[way];

	snapshot_value(snapshot, set->name[way]);
	snapshot_value(snapshot, flow->number);
	snapshot_value(snapshot, flow->used);
	snapshot_value(snapshot, flow->connection);
	snapshot_value(snapshot, flow->memory);
	snapshot_holds(snapshot,
	               set->name[way] != 0 && flow->used <= packets && flow->number <= NUMBER_MAX);
}

/* Writes the places that are used, in ascending order, and the end. */
static void flows_write(struct flows *flows, struct snapshot *snapshot)
{
	uint64_t end = flows->sets * FLOWS_WAYS;

	for (uint64_t i = 0; i < flows->sets * FLOWS_WAYS; i++) {
		struct flow_set *set = &flows->set[i / FLOWS_WAYS];

		if (set->name[i % FLOWS_WAYS] == 0)
			continue;
		snapshot_value(snapshot, i);
		flow_snapshot(set, i % FLOWS_WAYS, flows->packets, snapshot);
	}
	snapshot_value(snapshot, end);
}

static void flows_read(struct flows *flows, struct snapshot *snapshot)
{
	const uint64_t end = flows->sets * FLOWS_WAYS;
	uint64_t from = 0, i = 0;

	for (;; from = i + 1) {
		snapshot_value(snapshot, i);
		if (!snapshot_holds(snapshot, i >= from && i <= end) || i == end)
			return;
		flow_snapshot(&flows->set[i / FLOWS_WAYS], i % FLOWS_WAYS, flows->packets,
		              snapshot);
	}
}

void flows_snapshot(struct flows *flows, struct snapshot *snapshot)
{
	snapshot_value(snapshot, flows->key); /* a table that is made for the snapshot lacks it */
	snapshot_value(snapshot, flows->packets);
	if (!snapshot_holds(snapshot, flows->packets <= PACKETS_MAX))
		return;
	if (snapshot->restores)
		flows_read(flows, snapshot);
	else
		flows_write(flows, snapshot);
}
