/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/flow.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "explain/verdict.h"
#include "fates/fate_capture.h"

#define CHAINS (1u << 17) /* a power of two */

/* Four in a cache line. Whether the place still has this packet, the passage there says. */
struct name {
	uint64_t id; /* 0: free */
	uint32_t flow : 31, way : 1;
	uint32_t number;
};

struct flow_table {
	struct flow **chains;
	struct flow *flows;  /* FLOWS_MAX; memory behind `used` was never touched */
	struct flow *vacant; /* those below `used` that are free, by `next`: the last one first */
	uint32_t used, n;
	struct flow_order {
		struct flow *newest, *oldest;
	} orders[FLOW_ORDERS];
	struct name *names;
};

struct flow_table *flow_table_make(void)
{
	struct flow_table *flows = calloc(1, sizeof(*flows));

	if (!flows)
		return NULL;
	flows->chains = calloc(CHAINS, sizeof(*flows->chains));
	flows->flows = aligned_alloc(FLOW_ALIGN, FLOWS_MAX * sizeof(*flows->flows));
	flows->names = calloc(NAMES_ROOM, sizeof(*flows->names));
	if (flows->chains && flows->flows && flows->names)
		return flows;
	flow_table_free(flows);
	return NULL;
}

void flow_table_free(struct flow_table *flows)
{
	if (!flows)
		return;
	while (flows->orders[FLOW_ACTIVE].oldest)
		flow_table_remove(flows, flows->orders[FLOW_ACTIVE].oldest);
	for (uint32_t i = 0; i < 2 * flows->used; i++)
		way_free(&flows->flows[i / 2].ways[i % 2]);
	free(flows->chains);
	free(flows->flows);
	free(flows->names);
	free(flows);
}

uint32_t flow_table_n(const struct flow_table *flows)
{
	return flows->n;
}

/* ---- by time ---- */

static void link_in(struct flow_table *flows, int which, struct flow *flow, simtime now)
{
	struct flow_order *order = &flows->orders[which];

	flow->places[which] = (struct flow_place){.older = order->newest, .since_ns = now};
	*(order->newest ? &order->newest->places[which].newer : &order->oldest) = flow;
	order->newest = flow;
}

static void unlink_from(struct flow_table *flows, int which, struct flow *flow)
{
	struct flow_order *order = &flows->orders[which];
	const struct flow_place *place = &flow->places[which];

	*(place->newer ? &place->newer->places[which].older : &order->newest) = place->older;
	*(place->older ? &place->older->places[which].newer : &order->oldest) = place->newer;
}

void flow_table_touch(struct flow_table *flows, struct flow *flow, simtime now)
{
	flow->latest_ns = simtime_max(flow->latest_ns, now);
	if (flow->latest_ns < flow->places[FLOW_ACTIVE].since_ns + FLOW_TOUCH_NS)
		return;
	unlink_from(flows, FLOW_ACTIVE, flow);
	link_in(flows, FLOW_ACTIVE, flow, flow->latest_ns);
}

void flow_table_close(struct flow_table *flows, struct flow *flow, simtime now)
{
	if (flow->closing)
		unlink_from(flows, FLOW_CLOSING, flow);
	flow->closing = true;
	link_in(flows, FLOW_CLOSING, flow, now);
}

struct flow *flow_table_oldest(const struct flow_table *flows, int order)
{
	return flows->orders[order].oldest;
}

struct flow *flow_table_newest(const struct flow_table *flows, int order)
{
	return flows->orders[order].newest;
}

/* ---- by their ends ---- */

static uint64_t end_hash(const struct flow_end *end)
{
	uint64_t half[2];

	memcpy(half, end->address, sizeof(half));
	half[0] = (half[0] ^ half[1] * 31 ^ end->port) * UINT64_C(0x9e3779b97f4a7c15);
	return half[0] ^ half[0] >> 29;
}

uint32_t flow_hash(uint8_t protocol, const struct flow_end *from, const struct flow_end *to)
{
	const uint64_t hash =
	        (end_hash(from) + end_hash(to) + protocol) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(hash >> 32);
}

static struct flow **chain_of(const struct flow_table *flows, uint32_t hash)
{
	return &flows->chains[hash / (UINT32_MAX / CHAINS + 1)];
}

bool flow_end_same_host(const struct flow_end *a, const struct flow_end *b)
{
	return a->family == b->family && memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

void flow_end_text(const struct flow_end *end, char *text, size_t room)
{
	inet_ntop(end->family == 4 ? AF_INET : AF_INET6, end->address, text, (socklen_t)room);
}

static bool same_end(const struct flow_end *a, const struct flow_end *b)
{
	return a->port == b->port && flow_end_same_host(a, b);
}

struct flow *flow_table_find(const struct flow_table *flows, const struct segment *segment,
                             int *way)
{
	for (struct flow *flow = *chain_of(flows, segment->hash); flow; flow = flow->next) {
		if (flow->protocol != segment->protocol)
			continue;
		for (*way = FLOW_UP; *way < FLOW_WAYS; (*way)++) {
			if (same_end(&flow->ends[*way], &segment->from) &&
			    same_end(&flow->ends[!*way], &segment->to))
				return flow;
		}
	}
	return NULL;
}

/* Returns a flow that is all zero, but for the room of its ways; NULL: there is no place. */
static struct flow *take_place(struct flow_table *flows)
{
	struct flow *flow = flows->vacant;
	struct way ways[FLOW_WAYS] = {{.room = 0}};

	if (flow) {
		flows->vacant = flow->next;
		memcpy(ways, flow->ways, sizeof(ways));
	} else if (flows->used < FLOWS_MAX) {
		flow = &flows->flows[flows->used++];
	} else {
		return NULL;
	}
	memset(flow, 0, sizeof(*flow));
	memcpy(flow->ways, ways, sizeof(ways));
	return flow;
}

struct flow *flow_table_add(struct flow_table *flows, uint8_t protocol, const struct flow_end *from,
                            const struct flow_end *to)
{
	struct flow **chain = chain_of(flows, flow_hash(protocol, from, to));
	struct flow *flow = take_place(flows);

	if (!flow)
		return NULL;
	flow->protocol = protocol;
	flow->ends[FLOW_UP] = *from;
	flow->ends[FLOW_DOWN] = *to;
	flow->story.last = flow->story.heard = PASSAGE_NONE;
	flow->next = *chain;
	*chain = flow;
	link_in(flows, FLOW_ACTIVE, flow, 0);
	flows->n++;
	return flow;
}

void flow_table_remove(struct flow_table *flows, struct flow *flow)
{
	struct flow **at = chain_of(
	        flows, flow_hash(flow->protocol, &flow->ends[FLOW_UP], &flow->ends[FLOW_DOWN]));

	while (*at != flow)
		at = &(*at)->next;
	*at = flow->next;
	unlink_from(flows, FLOW_ACTIVE, flow);
	if (flow->closing)
		unlink_from(flows, FLOW_CLOSING, flow);
	flows->n--;
	for (int i = 0; i < FLOW_WAYS; i++)
		way_empty(&flow->ways[i]);
	speech_free(&flow->speech);
	verdict_free(flow->verdict);
	flow->next = flows->vacant;
	flows->vacant = flow;
}

/* ---- by the names of packets ---- */

static struct name *name_of(const struct flow_table *flows, uint64_t id)
{
	/* Packets of one port have numbers in sequence, and so have their places. */
	return &flows->names[(id ^ (id >> FATE_ID_SHIFT) * UINT64_C(0x9e3779b97f4a7c15)) &
	                     (NAMES_ROOM - 1)];
}

void flow_table_name(struct flow_table *flows, uint64_t id, struct flow *flow, int way,
                     uint32_t number)
{
	if (id != 0)
		*name_of(flows, id) = (struct name){.id = id,
		                                    .flow = (uint32_t)(flow - flows->flows),
		                                    .way = (uint32_t)way & 1,
		                                    .number = number};
}

static bool has_id(const struct passage *passage, uint64_t id)
{
	return passage->port == (uint8_t)(id >> FATE_ID_SHIFT) &&
	       (passage->packet ^ id) << (64 - FATE_ID_SHIFT) == 0;
}

struct passage *flow_table_named(const struct flow_table *flows, uint64_t id)
{
	const struct name *name = name_of(flows, id);
	struct passage *passage;
	struct way *way;

	if (id == 0 || name->id != id)
		return NULL;
	way = &flows->flows[name->flow].ways[name->way];
	if (name->number < way->first || name->number >= way->end)
		return NULL;
	passage = way_at(way, name->number);
	return has_id(passage, id) ? passage : NULL;
}

/* ---- ahead of that ---- */

/* The passage of a number, which need not be there: who has a place may be another flow by now. */
static void fetch_passage(const struct way *way, uint32_t number)
{
	const uintptr_t at =
	        (uintptr_t)way->passages + (size_t)(number - way->first) * sizeof(struct passage);

	__builtin_prefetch((const void *)at);
	__builtin_prefetch((const void *)(at + sizeof(struct passage) - 1));
}

void flow_table_fetch(const struct flow_table *flows, int step, const struct segment *segment)
{
	struct flow *const *chain = chain_of(flows, segment->hash);
	const struct flow *flow = step > 0 ? *chain : NULL;
	const struct way *way;

	if (step == 0)
		__builtin_prefetch(chain);
	if (!flow)
		return;
	if (step == 1) {
		__builtin_prefetch(flow);
		__builtin_prefetch(flow->ways);
		__builtin_prefetch(flow->places);
		__builtin_prefetch(&flow->speech);
		return;
	}
	way = &flow->ways[flow->ends[FLOW_UP].port != segment->from.port];
	fetch_passage(way, way->end);
	fetch_passage(way, way->end - 1);
}

void flow_table_fetch_named(const struct flow_table *flows, int step, uint64_t id)
{
	const struct name *name = name_of(flows, id);
	const struct way *way = &flows->flows[name->flow].ways[name->way];

	if (step == 0)
		__builtin_prefetch(name);
	else if (step == 1)
		__builtin_prefetch(way);
	else
		fetch_passage(way, name->number);
}
