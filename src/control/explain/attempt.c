/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/before.h"

#include <netinet/in.h>
#include <string.h>

#include "explain/story.h"

/* A client goes on to the next address this soon after a refusal, and this long after a SYN that
 * nobody answers. */
#define REFUSED_WITHIN_NS (50 * SIMTIME_MS)
#define PATIENCE_LEAST_NS (100 * SIMTIME_MS)
#define PATIENCE_MOST_NS  (500 * SIMTIME_MS)
#define ATTEMPTS_AMONG    64

/* An attempt by the other family has another address of the client. */
static bool may_be_one_client(const struct flow_end *one, const struct flow_end *two)
{
	return one->family != two->family || flow_end_same_host(one, two);
}

static bool is_attempt(const struct flow *earlier, const struct flow *flow)
{
	const struct flow_end *one = &earlier->ends[FLOW_DOWN], *two = &flow->ends[FLOW_DOWN];

	return earlier != flow && !earlier->used && earlier->protocol == IPPROTO_TCP &&
	       earlier->speech.kind == SPEECH_SILENT && one->port == two->port &&
	       !flow_end_same_host(one, two) &&
	       may_be_one_client(&earlier->ends[FLOW_UP], &flow->ends[FLOW_UP]) &&
	       way_kept(&earlier->ways[FLOW_UP]) > 0;
}

/* Returns true if the client has given this attempt up at `now`. */
static bool is_given_up(const struct flow *attempt, simtime now)
{
	const struct way *up = &attempt->ways[FLOW_UP], *down = &attempt->ways[FLOW_DOWN];
	const simtime begun_ns = way_at(up, up->first)->sent_ns;
	const struct passage *answer = way_kept(down) > 0 ? way_at(down, down->first) : NULL;

	if (attempt->reset)
		return answer && answer->fate == PASSAGE_ARRIVED && answer->arrived_ns <= now &&
		       now - answer->arrived_ns <= REFUSED_WITHIN_NS;
	return !answer && now >= begun_ns + PATIENCE_LEAST_NS && now <= begun_ns + PATIENCE_MOST_NS;
}

static struct flow *find_attempt(const struct flow_table *flows, const struct flow *flow,
                                 simtime now)
{
	uint32_t among = ATTEMPTS_AMONG;

	for (struct flow *each = flow_table_newest(flows, FLOW_ACTIVE); each && among-- > 0;
	     each = each->places[FLOW_ACTIVE].older) {
		if (is_attempt(each, flow) && is_given_up(each, now))
			return each;
	}
	return NULL;
}

/* Its last phase is the attempt. If nobody answered, it lasts until the client began anew: its SYN,
 * or the answer, is lost, or still on its way. */
static void end_attempt(struct verdict *verdict, const struct flow *attempt, simtime now)
{
	struct verdict_phase *phase;

	if (verdict->n_phases == 0)
		return;
	phase = &verdict->phases[verdict->n_phases - 1];
	phase->kind = PHASE_ATTEMPT;
	flow_end_text(&attempt->ends[FLOW_DOWN], phase->detail, sizeof(phase->detail));
	if (attempt->reset || verdict->end_ns >= now)
		return;
	phase->parts_ns[verdict->lost[FLOW_UP] > 0 ? PART_LOST : PART_DELAY] +=
	        now - verdict->end_ns;
	phase->end_ns = verdict->end_ns = now;
}

/* Makes the phases of an attempt the first ones of a flow. */
static void give(struct flow *attempt, struct flow *flow, simtime now, bool deaf)
{
	struct verdict *verdict = verdict_make();

	if (!verdict || !story_tell(attempt, deaf, true)) {
		verdict_free(verdict);
		return;
	}
	verdict->whole = attempt->verdict->whole;
	verdict->begin_ns = verdict->end_ns = attempt->verdict->begin_ns;
	verdict_append(verdict, attempt->verdict, now);
	end_attempt(verdict, attempt, now);
	memcpy(flow->speech.name, attempt->speech.name, sizeof(flow->speech.name));
	attempt->used = true;
	flow->verdict = verdict;
	flow->story.begun = true;
	flow->story.from_ns = attempt->reset ? attempt->story.from_ns : now;
}

void attempts_give(struct flow_table *flows, struct flow *flow, simtime now, bool deaf)
{
	struct flow *attempt = find_attempt(flows, flow, now);

	if (attempt)
		give(attempt, flow, now, deaf);
}
