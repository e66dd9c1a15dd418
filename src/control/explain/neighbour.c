/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/before.h"

#include <netinet/in.h>
#include <string.h>

#include "explain/story.h"

#define ETHERTYPE_ARP     0x0806
#define ETHERNET_BYTES    14
#define TAG_BYTES         4
#define MULTICAST         1 /* of the first byte of a link address */
#define ARP_BYTES         28
#define ARP_ETHERNET_IPV4 0x0001080006040000 /* its first words, without the operation */
#define SOLICITATION      135
#define ADVERTISEMENT     136
#define TARGET_AT         8
#define NEIGHBOUR_BYTES   24

static void set_end(struct flow_end *end, const uint8_t *address, uint8_t family)
{
	memcpy(end->address, address, family == 4 ? 4 : 16);
	end->family = family;
}

static bool is_nobody(const struct flow_end *end)
{
	static const uint8_t nobody[16];

	return memcmp(end->address, nobody, sizeof(nobody)) == 0;
}

static bool read_arp(const uint8_t *arp, struct segment *segment)
{
	const uint64_t kind = (uint64_t)headers_u32(arp) << 32 | headers_u16(arp + 4) << 16;

	if (kind != ARP_ETHERNET_IPV4)
		return false;
	segment->acknowledges = headers_u16(arp + 6) == 2;
	set_end(&segment->from, arp + 14, 4);
	set_end(&segment->to, arp + 24, 4);
	return true;
}

/* The answer comes from the address that was asked for, and goes to the one that asked. */
static bool read_ipv6(const uint8_t *ip, const uint8_t *message, struct segment *segment)
{
	segment->acknowledges = message[0] == ADVERTISEMENT;
	if (!segment->acknowledges && message[0] != SOLICITATION)
		return false;
	set_end(&segment->from, segment->acknowledges ? message + TARGET_AT : ip + 8, 6);
	set_end(&segment->to, segment->acknowledges ? ip + 24 : message + TARGET_AT, 6);
	return true;
}

bool neighbour_read(const uint8_t *frame, const struct headers *headers, uint32_t bytes,
                    struct segment *segment)
{
	const uint32_t at = ETHERNET_BYTES + TAG_BYTES * headers->n_tags;
	bool found = false;

	if (headers->ethertype == ETHERTYPE_ARP && bytes >= at + ARP_BYTES)
		found = read_arp(frame + at, segment);
	else if (headers->ip == 6 && headers->protocol == IPPROTO_ICMPV6 &&
	         headers->transport > 0 && headers->transport_here >= NEIGHBOUR_BYTES)
		found = read_ipv6(frame + headers->network, frame + headers->transport, segment);
	/* Without an address, a host looks whether its own is free. */
	if (!found || is_nobody(&segment->from) ||
	    (!segment->acknowledges && !(frame[0] & MULTICAST)) ||
	    flow_end_same_host(&segment->from, &segment->to))
		return false;
	segment->protocol = NEIGHBOUR_PROTOCOL;
	segment->data = frame + at;
	segment->here = segment->bytes = ARP_BYTES;
	return true;
}

/* ---- who has waited for it ---- */

/* A host sends what has waited this soon after the answer. */
#define SOON_NS (20 * SIMTIME_MS)
/* The flows among which it is looked for: the latest ones. */
#define AMONG 64

static bool has_waited_for(const struct flow *flow, const struct flow *question, simtime now)
{
	const struct way *answers = &question->ways[FLOW_DOWN];
	const struct passage *answer;

	if (question->protocol != NEIGHBOUR_PROTOCOL || question->used || way_kept(answers) == 0 ||
	    way_kept(&question->ways[FLOW_UP]) == 0 ||
	    !flow_end_same_host(&flow->ends[FLOW_UP], &question->ends[FLOW_UP]))
		return false;
	answer = way_at(answers, answers->first);
	return answer->fate == PASSAGE_ARRIVED && answer->arrived_ns <= now &&
	       now - answer->arrived_ns <= SOON_NS;
}

static struct flow *find(const struct flow_table *flows, const struct flow *flow, simtime now)
{
	uint32_t among = AMONG;

	for (struct flow *each = flow_table_newest(flows, FLOW_ACTIVE); each && among-- > 0;
	     each = each->places[FLOW_ACTIVE].older) {
		if (has_waited_for(flow, each, now))
			return each;
	}
	return NULL;
}

/* Appends the question as one phase. What the client did before it is part of that. */
static void append(struct verdict *verdict, const struct flow *question)
{
	const struct verdict *own = question->verdict;
	const uint32_t from = verdict->n_phases;
	const simtime before_ns = verdict->end_ns;

	if (own->n_phases != 1 || own->begin_ns < before_ns)
		return;
	verdict_append(verdict, own, SIMTIME_NEVER);
	if (verdict->n_phases == from)
		return;
	verdict->phases[from].kind = PHASE_ARP;
	verdict->phases[from].begin_ns = before_ns;
	verdict->phases[from].parts_ns[PART_CLIENT] += own->begin_ns - before_ns;
	flow_end_text(&question->ends[FLOW_DOWN], verdict->phases[from].detail,
	              sizeof(verdict->phases[from].detail));
}

void neighbours_give(struct flow_table *flows, struct flow *flow, simtime now, bool deaf)
{
	struct flow *question = find(flows, flow, now);

	if (!question || !story_tell(question, deaf, true))
		return;
	if (!flow->verdict) {
		flow->verdict = verdict_make();
		if (!flow->verdict)
			return;
		flow->verdict->whole = true;
		flow->verdict->begin_ns = flow->verdict->end_ns = question->verdict->begin_ns;
	}
	append(flow->verdict, question);
	question->used = true;
	flow->story.begun = true;
	flow->story.from_ns = question->story.from_ns;
}
