/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/before.h"

#include <stdlib.h>
#include <string.h>

#include "explain/story.h"

/* Flows of DNS that one connection may have waited for: two families, several servers, TCP. */
#define FLOWS_OF_NAME 16
/* The flows among which they are looked for: the latest ones. */
#define FLOWS_AMONG 512
/* The lookup of a name begins at most this long before its answer. */
#define LOOKUP_LONGEST_NS (60 * SIMTIME_S)

struct lookup {
	struct dns_address server;
	struct flow_end client; /* its address */
	char name[DNS_NAME_BYTES];
};

struct lookups {
	struct lookup table[LOOKUPS_MAX];
};

struct lookups *lookups_make(void)
{
	return calloc(1, sizeof(struct lookups));
}

void lookups_free(struct lookups *lookups)
{
	free(lookups);
}

static struct lookup *place_of(struct lookups *lookups, const uint8_t address[16],
                               const struct flow_end *client)
{
	uint64_t words[4];

	memcpy(words, address, 16);
	memcpy(words + 2, client->address, 16);
	words[0] = (words[0] ^ words[1] * 3 ^ words[2] * 5 ^ words[3] * 7) *
	           UINT64_C(0x9e3779b97f4a7c15);
	return &lookups->table[words[0] >> 52 & (LOOKUPS_MAX - 1)];
}

void lookups_note(struct lookups *lookups, struct flow *flow)
{
	const struct dns_message *message = flow->speech.dns;

	if (flow->speech.kind != SPEECH_DNS || !message || !message->answer)
		return;
	for (uint32_t i = 0; i < message->n_addresses; i++) {
		struct lookup *lookup =
		        place_of(lookups, message->addresses[i].bytes, &flow->ends[FLOW_UP]);

		lookup->server = message->addresses[i];
		lookup->client = flow->ends[FLOW_UP];
		memcpy(lookup->name, message->name, sizeof(lookup->name));
	}
}

/* ---- the lookups that a connection has waited for ---- */

/* Collects the flows of DNS in which the client has asked for the name, and told what they are,
 * the latest beginning first. */
static uint32_t collect(struct flow_table *flows, const struct lookup *lookup, simtime now,
                        bool deaf, struct flow *found[FLOWS_OF_NAME])
{
	uint32_t n = 0, among = FLOWS_AMONG;

	for (struct flow *flow = flow_table_newest(flows, FLOW_ACTIVE);
	     flow && n < FLOWS_OF_NAME && among-- > 0; flow = flow->places[FLOW_ACTIVE].older) {
		uint32_t at = n;

		if (flow->latest_ns + LOOKUP_LONGEST_NS < now)
			break;
		if (flow->used || flow->speech.kind != SPEECH_DNS ||
		    strcmp(flow->speech.name, lookup->name) != 0 ||
		    memcmp(flow->ends[FLOW_UP].address, lookup->client.address, 16) != 0 ||
		    !story_tell(flow, deaf, true))
			continue;
		while (at > 0 && found[at - 1]->verdict->begin_ns < flow->verdict->begin_ns) {
			found[at] = found[at - 1];
			at--;
		}
		found[at] = flow;
		n++;
	}
	return n;
}

static bool has_answer(const struct flow *flow)
{
	return flow->story.answered;
}

/* Fills the time up to an instant: a question without an answer was lost. */
static void fill(struct verdict *to, const struct flow *lookup, simtime until_ns)
{
	struct verdict_phase *phase;

	if (until_ns <= to->end_ns)
		return;
	phase = verdict_phase_add(to, PHASE_DNS);
	if (!phase)
		return;
	phase->parts_ns[has_answer(lookup) ? PART_CLIENT : PART_LOST] = until_ns - to->end_ns;
	phase->end_ns = to->end_ns = until_ns;
}

static struct verdict *join(struct flow *const *found, uint32_t n, simtime now)
{
	struct verdict *verdict = verdict_make();

	if (!verdict)
		return NULL;
	verdict->whole = true;
	verdict->begin_ns = verdict->end_ns = found[n - 1]->verdict->begin_ns;
	for (uint32_t i = n; i > 0; i--) {
		const struct flow *lookup = found[i - 1];
		const simtime next_ns = i > 1 ? found[i - 2]->verdict->begin_ns : now;

		/* One that the next one overtakes was not what the client has waited for, but
		 * for its beginning. */
		if (i > 1 && lookup->verdict->end_ns > next_ns) {
			fill(verdict, lookup, next_ns);
			continue;
		}
		verdict_append(verdict, lookup->verdict, now);
		if (i > 1)
			fill(verdict, lookup, next_ns);
	}
	for (uint32_t i = 0; i < verdict->n_phases; i++) {
		if (verdict->phases[i].kind == PHASE_TCP)
			memcpy(verdict->phases[i].detail, "by TCP", sizeof("by TCP"));
		if (verdict->phases[i].kind != PHASE_ARP)
			verdict->phases[i].kind = PHASE_DNS;
	}
	return verdict;
}

void lookups_give(struct lookups *lookups, struct flow_table *flows, struct flow *flow, simtime now,
                  bool deaf)
{
	const struct flow_end *server = &flow->ends[FLOW_DOWN];
	const struct lookup *lookup = place_of(lookups, server->address, &flow->ends[FLOW_UP]);
	struct flow *found[FLOWS_OF_NAME];
	uint32_t n;

	if (!lookup->name[0] || lookup->server.family != server->family ||
	    memcmp(lookup->server.bytes, server->address, 16) != 0 ||
	    memcmp(lookup->client.address, flow->ends[FLOW_UP].address, 16) != 0)
		return;
	memcpy(flow->speech.name, lookup->name, sizeof(flow->speech.name));
	n = collect(flows, lookup, now, deaf, found);
	if (flow->verdict || n == 0 || found[0]->verdict->end_ns > now ||
	    found[0]->verdict->end_ns + LOOKUP_FRESH_NS < now)
		return;
	flow->verdict = join(found, n, now);
	for (uint32_t i = 0; i < n; i++)
		found[i]->used = true;
	flow->story.begun = flow->verdict != NULL;
	/* What the client does between the answer and its first packet is part of what follows. */
	flow->story.from_ns = found[0]->story.from_ns;
}
