/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/flow.h"

#include <stdlib.h>
#include <string.h>

#include "explain/verdict.h"

#define CHAINS (1u << 17) /* a power of two */

struct name {
	uint64_t id;   /* 0: free */
	uint64_t flow; /* its number, which no later flow has */
	uint32_t place;
	uint32_t number;
	uint32_t way;
};

struct flow_table {
	struct flow **chains;
	struct flow **places; /* FLOWS_MAX; NULL: free */
	uint32_t *vacant;     /* places that are free, of those below n_places */
	uint32_t n_vacant, n_places;
	uint32_t n;
	uint64_t begun;
	struct flow *newest, *oldest;
	struct name *names;
};

struct flow_table *flow_table_make(void)
{
	struct flow_table *flows = calloc(1, sizeof(*flows));

	if (!flows)
		return NULL;
	flows->chains = calloc(CHAINS, sizeof(*flows->chains));
	flows->places = calloc(FLOWS_MAX, sizeof(*flows->places));
	flows->vacant = calloc(FLOWS_MAX, sizeof(*flows->vacant));
	flows->names = calloc(NAMES_ROOM, sizeof(*flows->names));
	if (flows->chains && flows->places && flows->vacant && flows->names)
		return flows;
	flow_table_free(flows);
	return NULL;
}

void flow_table_free(struct flow_table *flows)
{
	if (!flows)
		return;
	while (flows->oldest)
		flow_table_remove(flows, flows->oldest);
	free(flows->chains);
	free(flows->places);
	free(flows->vacant);
	free(flows->names);
	free(flows);
}

uint32_t flow_table_n(const struct flow_table *flows)
{
	return flows->n;
}

/* ---- by their ends ---- */

static uint64_t end_hash(const struct flow_end *end)
{
	uint64_t half[2];

	memcpy(half, end->address, sizeof(half));
	half[0] = (half[0] ^ half[1] * 31 ^ end->port) * UINT64_C(0x9e3779b97f4a7c15);
	return half[0] ^ half[0] >> 29;
}

/* The same for both directions. */
static struct flow **chain_of(const struct flow_table *flows, uint8_t protocol,
                              const struct flow_end *from, const struct flow_end *to)
{
	const uint64_t hash =
	        (end_hash(from) + end_hash(to) + protocol) * UINT64_C(0x9e3779b97f4a7c15);

	return &flows->chains[hash >> 47];
}

static bool same_end(const struct flow_end *a, const struct flow_end *b)
{
	return a->port == b->port && a->family == b->family &&
	       memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

struct flow *flow_table_find(const struct flow_table *flows, uint8_t protocol,
                             const struct flow_end *from, const struct flow_end *to, int *way)
{
	for (struct flow *flow = *chain_of(flows, protocol, from, to); flow; flow = flow->next) {
		if (flow->protocol != protocol)
			continue;
		for (*way = FLOW_UP; *way < FLOW_WAYS; (*way)++) {
			if (same_end(&flow->ends[*way], from) && same_end(&flow->ends[!*way], to))
				return flow;
		}
	}
	return NULL;
}

struct flow *flow_table_add(struct flow_table *flows, uint8_t protocol, const struct flow_end *from,
                            const struct flow_end *to)
{
	struct flow **chain = chain_of(flows, protocol, from, to);
	struct flow *flow = flows->n < FLOWS_MAX ? calloc(1, sizeof(*flow)) : NULL;

	if (!flow)
		return NULL;
	flow->protocol = protocol;
	flow->ends[FLOW_UP] = *from;
	flow->ends[FLOW_DOWN] = *to;
	flow->story.last = flow->story.heard = PASSAGE_NONE;
	flow->number = ++flows->begun;
	flow->place = flows->n_vacant > 0 ? flows->vacant[--flows->n_vacant] : flows->n_places++;
	flows->places[flow->place] = flow;
	flow->next = *chain;
	*chain = flow;
	flow->older = flows->newest;
	*(flows->newest ? &flows->newest->newer : &flows->oldest) = flow;
	flows->newest = flow;
	flows->n++;
	return flow;
}

static void unlink_in_time(struct flow_table *flows, struct flow *flow)
{
	*(flow->newer ? &flow->newer->older : &flows->newest) = flow->older;
	*(flow->older ? &flow->older->newer : &flows->oldest) = flow->newer;
	flow->newer = flow->older = NULL;
}

void flow_table_remove(struct flow_table *flows, struct flow *flow)
{
	struct flow **at =
	        chain_of(flows, flow->protocol, &flow->ends[FLOW_UP], &flow->ends[FLOW_DOWN]);

	while (*at != flow)
		at = &(*at)->next;
	*at = flow->next;
	unlink_in_time(flows, flow);
	flows->places[flow->place] = NULL;
	flows->vacant[flows->n_vacant++] = flow->place;
	flows->n--;
	for (int i = 0; i < FLOW_WAYS; i++)
		way_free(&flow->ways[i]);
	speech_free(&flow->speech);
	verdict_free(flow->verdict);
	free(flow);
}

void flow_table_touch(struct flow_table *flows, struct flow *flow, simtime now)
{
	flow->latest_ns = simtime_max(flow->latest_ns, now);
	if (flow == flows->newest)
		return;
	unlink_in_time(flows, flow);
	flow->older = flows->newest;
	*(flows->newest ? &flows->newest->newer : &flows->oldest) = flow;
	flows->newest = flow;
}

struct flow *flow_table_oldest(const struct flow_table *flows)
{
	return flows->oldest;
}

struct flow *flow_table_newer(const struct flow *flow)
{
	return flow->newer;
}

struct flow *flow_table_newest(const struct flow_table *flows)
{
	return flows->newest;
}

struct flow *flow_table_older(const struct flow *flow)
{
	return flow->older;
}

/* ---- by the names of packets ---- */

static struct name *name_of(const struct flow_table *flows, uint64_t id)
{
	/* Packets of one port have numbers in sequence, and so have their places. */
	return &flows->names[(id ^ (id >> 48) * UINT64_C(0x9e3779b97f4a7c15)) & (NAMES_ROOM - 1)];
}

void flow_table_name(struct flow_table *flows, uint64_t id, struct flow *flow, int way,
                     uint32_t number)
{
	if (id != 0)
		*name_of(flows, id) = (struct name){.id = id,
		                                    .flow = flow->number,
		                                    .place = flow->place,
		                                    .number = number,
		                                    .way = (uint32_t)way};
}

struct passage *flow_table_named(const struct flow_table *flows, uint64_t id, struct flow **flow)
{
	const struct name *name = name_of(flows, id);
	struct way *way;

	if (id == 0 || name->id != id)
		return NULL;
	*flow = flows->places[name->place];
	if (!*flow || (*flow)->number != name->flow)
		return NULL;
	way = &(*flow)->ways[name->way];
	if (name->number < way->first || name->number >= way->end)
		return NULL;
	return way_at(way, name->number);
}
