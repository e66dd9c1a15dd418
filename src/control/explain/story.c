/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/story.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "explain/walk.h"

/* Packets that are kept when a long flow is told in parts: later ones may repeat their bytes. What
 * became of the last half of them may not be known yet. */
#define KEPT 4096

struct teller {
	struct flow *flow;
	struct verdict *verdict;
	struct story *story;
	struct ground ground;
	bool failed;
};

/* An instant of the client: it sends a packet, or gets one. */
struct moment {
	int way;
	uint32_t number;
	simtime t_ns;
	const struct passage *passage;
};

/* ---- phases ---- */

static struct verdict_phase *begin_phase(struct teller *teller, enum phase kind, const char *detail)
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

static struct verdict_phase *last_phase(const struct teller *teller)
{
	return &teller->verdict->phases[teller->verdict->n_phases - 1];
}

/* Extends the last phase to a moment, and explains the time since it was extended last. */
static void extend(struct teller *teller, const struct moment *moment)
{
	struct verdict_phase *phase = last_phase(teller);

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

static void end_phase(struct teller *teller, const struct moment *moment)
{
	if (!teller->story->in_phase)
		return;
	extend(teller, moment);
	teller->story->in_phase = false;
}

static struct moment moment_of(const struct teller *teller, int way, uint32_t number)
{
	const struct passage *passage = way_at(&teller->flow->ways[way], number);

	return (struct moment){.way = way,
	                       .number = number,
	                       .t_ns = way == FLOW_UP ? passage->sent_ns
	                                              : ground_got_ns(&teller->ground, passage),
	                       .passage = passage};
}

/* ---- the beginning ---- */

/* Returns true if the moment belongs to the opening of a TCP connection. */
static bool open_tcp(struct teller *teller, const struct moment *moment)
{
	struct story *story = teller->story;

	if (story->opened)
		return false;
	if (teller->flow->protocol != IPPROTO_TCP ||
	    (moment->way == FLOW_UP && !(moment->passage->marks & PASSAGE_SYN) &&
	     !story->in_phase)) {
		story->opened = true;
		return false;
	}
	if (moment->way == FLOW_UP && !story->in_phase)
		begin_phase(teller, PHASE_TCP, "");
	if (moment->way == FLOW_DOWN) {
		story->opened = true;
		end_phase(teller, moment);
	}
	return true;
}

/* ---- the handshake of TLS and QUIC ---- */

static const char *handshake_detail(const struct speech *speech)
{
	if (speech->kind == SPEECH_QUIC)
		return speech->quic.early ? "0-RTT" : "";
	switch (speech->tls.version) {
	case TLS_VERSION_1_3:
		return speech->tls.early     ? "1.3 with 0-RTT"
		       : speech->tls.resumed ? "1.3 resumed"
		                             : "1.3";
	case TLS_VERSION_1_2:
		return speech->tls.resumed ? "1.2 resumed" : "1.2";
	case 0:
		return "";
	default:
		return "before 1.2";
	}
}

static bool is_over(const struct teller *teller)
{
	const struct speech *speech = &teller->flow->speech;
	const struct story *story = teller->story;

	if (speech->kind == SPEECH_QUIC || speech->tls.version == TLS_VERSION_1_3)
		return story->secret[FLOW_UP];
	return story->secret[FLOW_UP] && story->secret[FLOW_DOWN];
}

/* Returns true if the moment belongs to the handshake. */
static bool shake_hands(struct teller *teller, const struct moment *moment)
{
	const struct speech *speech = &teller->flow->speech;
	struct story *story = teller->story;
	const uint16_t marks = moment->passage->marks;
	const bool quic = speech->kind == SPEECH_QUIC;
	const bool early = quic ? speech->quic.early : speech->tls.early;

	if (story->shaken || (!quic && speech->kind != SPEECH_TLS))
		return false;
	if (!(marks & PASSAGE_HELLO) && !story->in_phase)
		return true; /* the last packet of the opening */
	if (!story->in_phase)
		begin_phase(teller, quic ? PHASE_QUIC : PHASE_TLS, handshake_detail(speech));
	if (early && moment->way == FLOW_UP) {
		end_phase(teller, moment);
		story->shaken = true;
		return !(marks & PASSAGE_TURN);
	}
	story->answered |= moment->way == FLOW_DOWN && marks & PASSAGE_HELLO;
	if (story->answered && marks & PASSAGE_SECRET)
		story->secret[moment->way] = true;
	if (story->in_phase && is_over(teller)) {
		end_phase(teller, moment);
		story->shaken = true;
		story->answered = false;
		/* Its Finished, and maybe the request behind it in one packet. */
		return moment->way == FLOW_DOWN || !(marks & PASSAGE_TURN);
	}
	return true;
}

/* ---- turns ---- */

/* Returns true if the client's packets are one exchange, however often the hosts take turns. */
static bool is_exchange(const struct speech *speech)
{
	return speech->kind == SPEECH_UNKNOWN || speech->kind == SPEECH_SSH ||
	       speech->kind == SPEECH_SILENT;
}

static enum phase turn_phase(const struct speech *speech)
{
	if (speech->kind == SPEECH_DNS)
		return PHASE_DNS;
	return is_exchange(speech) ? PHASE_EXCHANGE : PHASE_REQUEST;
}

static void end_turn(struct teller *teller, bool over)
{
	struct story *story = teller->story;
	struct moment last;

	/* A client of QUIC says goodbye in secret. What comes after that, and is not
	 * acknowledged, is what the server has sent again. */
	if (over && teller->flow->speech.kind == SPEECH_QUIC && story->heard != PASSAGE_NONE)
		story->last = story->heard;
	if (!story->in_phase || story->last == PASSAGE_NONE ||
	    story->last < teller->flow->ways[story->last_way].first)
		return;
	last = moment_of(teller, story->last_way, story->last);
	extend(teller, &last);
}

static bool begins_turn(const struct teller *teller, const struct moment *moment, const char *line)
{
	const struct story *story = teller->story;
	const struct speech *speech = &teller->flow->speech;

	if (!story->in_phase)
		return true;
	if (!story->answered || is_exchange(speech))
		return false;
	if (speech->kind == SPEECH_HTTP && !line && moment->way == FLOW_UP)
		return false;
	return teller->verdict->n_phases < VERDICT_PHASES_MAX;
}

static void client_speaks(struct teller *teller, const struct moment *moment)
{
	struct story *story = teller->story;
	const struct speech *speech = &teller->flow->speech;
	const char *line = speech_line(speech, moment->number);

	if (begins_turn(teller, moment, line)) {
		end_turn(teller, false);
		story->last = story->heard = PASSAGE_NONE;
		begin_phase(teller, turn_phase(speech), line ? line : "");
	}
	if (story->answered || last_phase(teller)->turns == 0)
		last_phase(teller)->turns++;
	story->answered = false;
	if (story->last == PASSAGE_NONE || is_exchange(speech)) {
		story->last = moment->number;
		story->last_way = FLOW_UP;
	}
}

static void server_speaks(struct teller *teller, const struct moment *moment)
{
	struct story *story = teller->story;
	const struct speech *speech = &teller->flow->speech;

	if (!story->in_phase && !is_exchange(speech)) {
		/* Nobody has asked for it: tickets for later connections, settings. */
		way_at(&teller->flow->ways[FLOW_DOWN], moment->number)->marks &= ~PASSAGE_DATA;
		return;
	}
	if (!story->in_phase)
		begin_phase(teller, turn_phase(speech), "");
	story->answered = true;
	story->last = moment->number;
	story->last_way = FLOW_DOWN;
}

/* Returns true if the packet has nothing that another one has not brought before. */
static bool is_old(const struct teller *teller, const struct moment *moment)
{
	const struct way *way = &teller->flow->ways[FLOW_DOWN];
	uint32_t number = moment->passage->repeats;

	while (number != PASSAGE_NONE && number >= way->first) {
		const struct passage *earlier = way_at(way, number);

		if (ground_got_ns(&teller->ground, earlier) <= moment->t_ns)
			return true;
		number = earlier->repeats;
	}
	return moment->passage->bytes == 0;
}

static void take_turn(struct teller *teller, const struct moment *moment)
{
	struct story *story = teller->story;
	const uint16_t marks = moment->passage->marks;

	if (moment->way == FLOW_UP) {
		story->left |= marks & PASSAGE_FIN;
		if (story->last_way == FLOW_DOWN)
			story->heard = story->last;
		if (moment->passage->repeats != PASSAGE_NONE)
			return;
		if (marks & PASSAGE_TURN)
			client_speaks(teller, moment);
		return;
	}
	if (marks & PASSAGE_TURN && !is_old(teller, moment)) {
		server_speaks(teller, moment);
	} else if (story->in_phase && !story->answered && !story->left) {
		/* The client may wait to hear that what it has sent has come there. */
		story->last = moment->number;
		story->last_way = FLOW_DOWN;
	}
}

static void tell_moment(struct teller *teller, const struct moment *moment)
{
	if (teller->verdict->n_phases == 0 && !teller->story->begun) {
		teller->story->begun = true;
		teller->story->from_ns = moment->t_ns;
		teller->verdict->begin_ns = teller->verdict->end_ns = moment->t_ns;
		teller->verdict->whole = teller->flow->protocol != IPPROTO_TCP ||
		                         moment->passage->marks & PASSAGE_SYN;
	}
	if (open_tcp(teller, moment) || shake_hands(teller, moment))
		return;
	take_turn(teller, moment);
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
		got = moment_of(teller, FLOW_DOWN, ground->order[FLOW_DOWN][*down]);
	if (*up < sent->end) {
		*moment = moment_of(teller, FLOW_UP, *up);
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
		end_phase(teller, &last);
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
	end_turn(&teller, over);
	ground_end(&teller.ground);
	name(flow->verdict, flow);
	flow->verdict->open = !flow->reset && !(flow->closed[FLOW_UP] && flow->closed[FLOW_DOWN]);
	if (!over)
		forget(flow);
	return !teller.failed;
}
