/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/explainer.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "explain/before.h"
#include "explain/flow.h"
#include "explain/story.h"
#include "fates/fate_capture.h"
#include "packet/packet.h"
#include "scenario/names.h"
#include "text/array.h"

/* A flow with so many packets of a way is told as far as it goes, so that they can be forgotten. */
#define LONG_FLOW 32768u

/* How often a flow that is closing is looked at. Its last packets have their fates by then. */
#define SETTLE_NS (SIMTIME_S / 20)

/* When the link of a cloud has sent its latest packet. */
struct link_end {
	char *cloud;
	simtime sent_ns;
};

struct explainer {
	bool deaf;
	explainer_tell *tell;
	void *argument;
	struct flow_table *flows;
	struct lookups *lookups;
	struct names clouds;
	struct link_end *links;
	size_t room;
	uint32_t n_links, latest_link;
	uint64_t passages; /* that are kept */
	struct explainer_left_out left_out;
};

struct explainer *explainer_make(bool deaf, explainer_tell *tell, void *argument)
{
	struct explainer *explainer = calloc(1, sizeof(*explainer));

	if (!explainer)
		return NULL;
	explainer->deaf = deaf;
	explainer->tell = tell;
	explainer->argument = argument;
	explainer->flows = flow_table_make();
	explainer->lookups = lookups_make();
	if (explainer->flows && explainer->lookups)
		return explainer;
	explainer_free(explainer);
	return NULL;
}

void explainer_free(struct explainer *explainer)
{
	if (!explainer)
		return;
	flow_table_free(explainer->flows);
	lookups_free(explainer->lookups);
	for (uint32_t i = 0; i < explainer->n_links; i++)
		free(explainer->links[i].cloud);
	names_clear(&explainer->clouds);
	free(explainer->links);
	free(explainer);
}

struct explainer_left_out explainer_left_out(const struct explainer *explainer)
{
	return explainer->left_out;
}

/* ---- connections ---- */

static uint64_t kept(const struct flow *flow)
{
	return way_kept(&flow->ways[FLOW_UP]) + (uint64_t)way_kept(&flow->ways[FLOW_DOWN]);
}

/* What a connection has waited for is told with it. */
static void finish(struct explainer *explainer, struct flow *flow)
{
	if (!flow->used && flow->protocol != NEIGHBOUR_PROTOCOL &&
	    story_tell(flow, explainer->deaf, true) && flow->verdict->n_phases > 0) {
		explainer->tell(explainer->argument, flow->verdict);
		flow->verdict = NULL;
	}
	explainer->passages -= kept(flow);
	flow_table_remove(explainer->flows, flow);
}

static bool is_closed(const struct flow *flow)
{
	return flow->reset || (flow->closed[FLOW_UP] && flow->closed[FLOW_DOWN]);
}

/* Returns true if neither host has a reason to send anything more, and that was a while ago: each
 * has heard that the other one has all that it has sent. What a lookup was for, shows later. */
static bool is_settled(const struct flow *flow, simtime now)
{
	if (flow->reset || flow->speech.kind == SPEECH_DNS)
		return false;
	for (int i = 0; i < FLOW_WAYS; i++) {
		const struct way *way = &flow->ways[i], *other = &flow->ways[!i];
		const struct passage *last;

		if (!flow->closed[i] || way_kept(way) == 0)
			return false;
		last = way_at(way, way->end - 1);
		if (last->fate != PASSAGE_ARRIVED || last->arrived_ns + SETTLE_NS > now ||
		    last->ack != (uint32_t)other->reach)
			return false;
		for (uint32_t number = way->first; number < way->end; number++) {
			if (way_at(way, number)->fate == PASSAGE_UNDER_WAY)
				return false;
		}
	}
	return true;
}

void explainer_step(struct explainer *explainer, simtime now)
{
	struct flow_table *flows = explainer->flows;
	struct flow *flow;

	while ((flow = flow_table_oldest(flows, FLOW_CLOSING)) &&
	       flow->places[FLOW_CLOSING].since_ns + SETTLE_NS < now) {
		if (flow->latest_ns + EXPLAINER_REST_NS < now || is_settled(flow, now))
			finish(explainer, flow);
		else
			flow_table_close(flows, flow, now);
	}
	while ((flow = flow_table_oldest(flows, FLOW_ACTIVE)) &&
	       flow->places[FLOW_ACTIVE].since_ns + EXPLAINER_SILENCE_NS < now)
		finish(explainer, flow);
}

void explainer_end(struct explainer *explainer)
{
	struct flow *flow;

	while ((flow = flow_table_oldest(explainer->flows, FLOW_ACTIVE)))
		finish(explainer, flow);
}

/* Makes room for a flow, or a packet, at the cost of the flow that is silent for longest. */
static void make_room(struct explainer *explainer)
{
	struct flow *oldest = flow_table_oldest(explainer->flows, FLOW_ACTIVE);

	if (flow_table_n(explainer->flows) < FLOWS_MAX && explainer->passages < PASSAGES_MAX)
		return;
	explainer->left_out.cut++;
	finish(explainer, oldest);
}

static void shorten(struct explainer *explainer, struct flow *flow)
{
	if (way_kept(&flow->ways[FLOW_UP]) < LONG_FLOW &&
	    way_kept(&flow->ways[FLOW_DOWN]) < LONG_FLOW)
		return;
	explainer->passages -= kept(flow);
	story_tell(flow, explainer->deaf, false);
	explainer->passages += kept(flow);
}

/* ---- a packet arrives ---- */

/* Finds what a flow that has just begun has waited for. */
static void give_before(struct explainer *explainer, struct flow *flow, simtime now)
{
	if (flow->protocol == IPPROTO_TCP)
		attempts_give(explainer->flows, flow, now, explainer->deaf);
	lookups_give(explainer->lookups, explainer->flows, flow, now, explainer->deaf);
	neighbours_give(explainer->flows, flow, now, explainer->deaf);
}

/* Returns true if the ports are used again, or a question for a neighbour is asked again that had
 * an answer. */
static bool begins_anew(const struct flow *flow, int way, const struct segment *segment,
                        simtime now)
{
	if (flow->protocol == NEIGHBOUR_PROTOCOL)
		return !segment->acknowledges &&
		       (way == FLOW_DOWN || way_kept(&flow->ways[FLOW_DOWN]) > 0);
	return segment->marks & PASSAGE_SYN && way == FLOW_UP &&
	       flow->latest_ns + EXPLAINER_REST_NS < now &&
	       (flow->reset || flow->closed[FLOW_UP] || flow->closed[FLOW_DOWN]);
}

static struct flow *flow_of(struct explainer *explainer, const struct segment *segment, simtime now,
                            int *way)
{
	struct flow *flow = flow_table_find(explainer->flows, segment, way);
	bool down;

	if (flow && begins_anew(flow, *way, segment, now)) {
		finish(explainer, flow);
		flow = NULL;
	}
	if (flow)
		return flow;
	make_room(explainer);
	down = segment_is_answer(segment);
	flow = flow_table_add(explainer->flows, segment->protocol,
	                      down ? &segment->to : &segment->from,
	                      down ? &segment->from : &segment->to);
	*way = down ? FLOW_DOWN : FLOW_UP;
	if (flow && !down && (segment->marks & PASSAGE_SYN || segment->protocol == IPPROTO_UDP))
		give_before(explainer, flow, now);
	return flow;
}

/* Reads the payload, if it is new. */
static void hear(struct explainer *explainer, struct flow *flow, int which,
                 const struct segment *segment, const struct passage *passage)
{
	const struct way *way = &flow->ways[which];
	const uint64_t syn = segment->marks & PASSAGE_SYN ? 1 : 0;
	uint16_t marks = segment->marks;

	if (segment->bytes > 0 && passage->repeats == PASSAGE_NONE)
		marks |= speech_take(
		        &flow->speech,
		        &(struct speech_words){.way = which,
		                               .number = way->end - 1,
		                               .server_port = flow->ends[FLOW_DOWN].port,
		                               .tcp = flow->protocol == IPPROTO_TCP,
		                               .at = passage->at + syn,
		                               .data = segment->data,
		                               .here = segment->here,
		                               .bytes = segment->bytes});
	else if (segment->bytes > 0)
		marks |= PASSAGE_DATA | PASSAGE_TURN;
	way_mark(&flow->ways[which], marks);
	if (flow->speech.kind == SPEECH_DNS && which == FLOW_DOWN)
		lookups_note(explainer->lookups, flow);
}

/* A datagram of DNS, or a question for a neighbour, that asks the same once more. */
static void join_questions(struct flow *flow, uint32_t number)
{
	struct way *way = &flow->ways[FLOW_UP];
	struct passage *passage = way_at(way, number);
	const bool dns = flow->speech.kind == SPEECH_DNS && flow->protocol == IPPROTO_UDP;
	const struct dns_message *message = dns ? flow->speech.dns : NULL;

	if (!message && flow->protocol != NEIGHBOUR_PROTOCOL)
		return;
	if (message)
		passage->ack = (uint32_t)message->id << 16 | message->type;
	for (uint32_t i = number; i > way->first && number - i < 16; i--) {
		if (way_at(way, i - 1)->ack != passage->ack)
			continue;
		passage->repeats = i - 1;
		return;
	}
}

static void arrive(struct explainer *explainer, const struct fate *fate,
                   const struct segment *segment)
{
	struct passage passage, *added;
	struct flow *flow;
	uint32_t number;
	int way;

	flow = flow_of(explainer, segment, fate->at_ns, &way);
	passage = segment_passage(segment, fate);
	added = flow ? way_add(&flow->ways[way], &passage, segment->protocol == IPPROTO_TCP,
	                       segment->sequence, &number)
	             : NULL;
	if (!added) {
		explainer->left_out.packets++;
		return;
	}
	explainer->passages++;
	flow_table_name(explainer->flows, fate_id(fate), flow, way, number);
	flow_table_touch(explainer->flows, flow, fate->at_ns);
	hear(explainer, flow, way, segment, added);
	if (way == FLOW_UP)
		join_questions(flow, number);
	segment_scale(segment, &flow->scale[way], &added->window);
	flow->closed[way] |= (segment->marks & PASSAGE_FIN) != 0;
	flow->reset |= (segment->marks & PASSAGE_RST) != 0;
	if (!flow->closing && is_closed(flow))
		flow_table_close(explainer->flows, flow, fate->at_ns);
	shorten(explainer, flow);
}

/* ---- what becomes of it ---- */

/* Returns when the link of the cloud had sent its latest packet; NULL: there is no memory. */
static simtime *link_of(struct explainer *explainer, const char *cloud)
{
	uint32_t at = explainer->latest_link;
	struct link_end *link;

	if (at < explainer->n_links && strcmp(explainer->links[at].cloud, cloud) == 0)
		return &explainer->links[at].sent_ns;
	at = names_find(&explainer->clouds, cloud);
	if (at == NAMES_NONE) {
		at = explainer->n_links;
		if (!array_fits(&explainer->links, &explainer->room, at + 1, sizeof(*link)))
			return NULL;
		link = &explainer->links[at];
		*link = (struct link_end){.cloud = strdup(cloud)};
		if (!link->cloud || !names_add(&explainer->clouds, link->cloud, at)) {
			free(link->cloud);
			return NULL;
		}
		explainer->n_links++;
	}
	explainer->latest_link = at;
	return &explainer->links[at].sent_ns;
}

/* Returns when the link could begin to send the packet, and notes when it has sent it. */
static simtime pass_link(struct explainer *explainer, const struct fate *fate)
{
	simtime *sent_ns = link_of(explainer, fate->cloud), free_ns = fate->t_in_ns;

	if (sent_ns) {
		free_ns = simtime_max(*sent_ns, free_ns);
		*sent_ns = simtime_max(*sent_ns, fate->entered_ns);
	}
	return free_ns;
}

static bool is_taken(const struct fate *fate)
{
	return !(fate->flags & (PACKET_GENERATED | PACKET_BACK)) &&
	       EXPLAINER_KINDS & 1u << fate->kind;
}

static void take(struct explainer *explainer, const struct fate *fate,
                 const struct segment *segment)
{
	struct passage *passage = flow_table_named(explainer->flows, fate_id(fate));

	if (fate->kind == FATE_ARRIVED) {
		/* A packet that goes on into another cloud comes there once more. */
		if (!passage && segment->protocol != 0)
			arrive(explainer, fate, segment);
	} else if (fate->kind == FATE_DELIVERED) {
		const simtime free_ns = pass_link(explainer, fate);

		if (passage)
			passage_deliver(passage, fate, free_ns);
	} else if (passage && fate->kind == FATE_DROPPED) {
		passage_drop(passage, fate);
	} else if (passage) {
		passage_send(passage, fate);
	}
}

void explainer_take(void *argument, const struct fate *const fates[], uint32_t n)
{
	struct explainer *explainer = argument;
	struct segment segments[EXPLAINER_AT_ONCE];

	for (uint32_t i = 0; i < n; i++) {
		if (fates[i]->kind != FATE_ARRIVED ||
		    !segment_read(&fates[i]->frame, fates[i]->wire_bytes, &segments[i]))
			segments[i].protocol = 0;
		else
			segments[i].hash =
			        flow_hash(segments[i].protocol, &segments[i].from, &segments[i].to);
	}
	for (int step = 0; n > 1 && step < FLOW_FETCHES; step++) {
		for (uint32_t i = 0; i < n; i++) {
			if (segments[i].protocol != 0)
				flow_table_fetch(explainer->flows, step, &segments[i]);
			else
				flow_table_fetch_named(explainer->flows, step, fate_id(fates[i]));
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		if (is_taken(fates[i]))
			take(explainer, fates[i], &segments[i]);
	}
}
