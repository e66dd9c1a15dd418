/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/story.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "explain/teller.h"

/* Packets that are kept when a long flow is told in parts: later ones may repeat their bytes. What
 * became of the last half of them may not be known yet. */
#define KEPT 4096

/* ---- phases ---- */

struct verdict_phase *teller_begin(struct teller *teller, enum phase kind, const char *detail)
{
	struct verdict_phase *phase = verdict_phase_add(teller->verdict, kind);

	if (!phase) {
		teller->failed = true;
		return NULL;
	}
	snprintf(phase->detail, sizeof(phase->detail), "%s", detail);
	teller->story->in_phase = true;
	return phase;
}

struct verdict_phase *teller_last(const struct teller *teller)
{
	return &teller->verdict->phases[teller->verdict->n_phases - 1];
}

void teller_extend(struct teller *teller, const struct moment *moment)
{
	struct verdict_phase *phase = teller_last(teller);

	if (moment->t_ns <= teller->story->from_ns)
		return;
	walk(&teller->ground,
	     (struct walk_from){moment->way, moment->number, moment->way == FLOW_UP},
	     teller->story->from_ns, phase, teller->verdict);
	teller->story->from_ns = moment->t_ns;
	phase->end_ns = phase->begin_ns;
	for (int part = 0; part < PART_COUNT; part++)
		phase->end_ns += phase->parts_ns[part];
	teller->verdict->end_ns = phase->end_ns;
}

void teller_end(struct teller *teller, const struct moment *moment)
{
	if (!teller->story->in_phase)
		return;
	teller_extend(teller, moment);
	teller->story->in_phase = false;
}

struct moment teller_moment(const struct teller *teller, int way, uint32_t number)
{
	const struct passage *passage = way_at(&teller->flow->ways[way], number);

	return (struct moment){.way = way,
	                       .number = number,
	                       .t_ns = way == FLOW_UP ? passage->sent_ns
	                                              : ground_got_ns(&teller->ground, passage),
	                       .passage = passage};
}

/* ---- moments ---- */

static void tell_moment(struct teller *teller, const struct moment *moment)
{
	if (teller->verdict->n_phases == 0 && !teller->story->begun) {
		teller->story->begun = true;
		teller->story->from_ns = moment->t_ns;
		teller->verdict->begin_ns = teller->verdict->end_ns = moment->t_ns;
		teller->verdict->whole = teller->flow->protocol != IPPROTO_TCP ||
		                         moment->passage->marks & PASSAGE_SYN;
	}
	if (teller_opens(teller, moment) || teller_shakes_hands(teller, moment))
		return;
	teller_take_turn(teller, moment);
}

/* ---- the whole ---- */

/* Gets the next moment of the client, in the order of time. Returns false if there is none. */
static bool next_moment(const struct teller *teller, uint32_t *up, uint32_t *down,
                        struct moment *moment)
{
	const struct ground *ground = &teller->ground;
	const struct way *sent = &teller->flow->ways[FLOW_UP];
	struct moment got = {.t_ns = SIMTIME_NEVER};

	if (*down < ground->n[FLOW_DOWN])
		got = teller_moment(teller, FLOW_DOWN, ground->order[FLOW_DOWN][*down]);
	if (*up < sent->end) {
		*moment = teller_moment(teller, FLOW_UP, *up);
		/* At one instant, what the client gets comes before what it says to that. */
		if (moment->t_ns < got.t_ns) {
			(*up)++;
			return true;
		}
	}
	*moment = got;
	(*down)++;
	return got.t_ns != SIMTIME_NEVER;
}

static void tell_moments(struct teller *teller, simtime until_ns)
{
	uint32_t up = teller->flow->ways[FLOW_UP].first, down = 0;
	struct story *story = teller->story;
	const simtime done_ns = story->done_ns;
	const bool again = story->begun;
	struct moment moment = {.t_ns = 0}, last = moment;

	while (!teller->failed && next_moment(teller, &up, &down, &moment)) {
		if (moment.t_ns > until_ns || (again && moment.t_ns <= done_ns))
			continue;
		tell_moment(teller, &moment);
		last = moment;
		story->done_ns = simtime_max(story->done_ns, moment.t_ns);
	}
	/* Nobody has answered: the client has waited until then, as far as can be seen. */
	if (until_ns == SIMTIME_NEVER && story->in_phase && !story->answered && !story->left &&
	    (story->last == PASSAGE_NONE || story->last_way == FLOW_UP) && last.passage)
		teller_end(teller, &last);
}

static void forget(struct flow *flow)
{
	for (int way = 0; way < FLOW_WAYS; way++) {
		if (way_kept(&flow->ways[way]) > KEPT)
			way_forget(&flow->ways[way], flow->ways[way].end - KEPT);
	}
}

static void name(struct verdict *verdict, const struct flow *flow)
{
	static const char *const names[] = {
#define X(id, words) words,
	        SPEECHES(X)
#undef X
	};
	const struct speech *speech = &flow->speech;

	memcpy(verdict->ends, flow->ends, sizeof(verdict->ends));
	verdict->protocol = flow->protocol;
	if (speech->name[0])
		memcpy(verdict->name, speech->name, sizeof(verdict->name));
	if (speech->kind != SPEECH_SILENT && speech->kind != SPEECH_UNKNOWN)
		snprintf(verdict->speech, sizeof(verdict->speech), "%s", names[speech->kind]);
}

bool story_tell(struct flow *flow, bool deaf, bool over)
{
	struct teller teller = {.flow = flow, .story = &flow->story};

	if (!flow->verdict)
		flow->verdict = verdict_make();
	if (!flow->verdict || !ground_begin(&teller.ground, flow, deaf))
		return false;
	teller.verdict = flow->verdict;
	if (flow->speech.kind == SPEECH_QUIC)
		losses_join(flow, &teller.ground);
	losses_tell(flow, &teller.ground, over ? 0 : KEPT / 2, flow->verdict);
	tell_moments(&teller, over ? SIMTIME_NEVER : flow->latest_ns);
	/* What has happened so far is explained before its packets are forgotten. */
	teller_end_turn(&teller, over);
	ground_end(&teller.ground);
	name(flow->verdict, flow);
	flow->verdict->refused = flow->reset && flow->speech.kind == SPEECH_SILENT;
	flow->verdict->open = !flow->reset && !(flow->closed[FLOW_UP] && flow->closed[FLOW_DOWN]);
	if (!over)
		forget(flow);
	return !teller.failed;
}
