/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and exchanges: who speaks, and when the other has answered. */
#include "explain/teller.h"

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

void teller_end_turn(struct teller *teller, bool over)
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
	last = teller_moment(teller, story->last_way, story->last);
	teller_extend(teller, &last);
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
		teller_end_turn(teller, false);
		story->last = story->heard = PASSAGE_NONE;
		teller_begin(teller, turn_phase(speech), line ? line : "");
	}
	if (story->answered || teller_last(teller)->turns == 0)
		teller_last(teller)->turns++;
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
		teller_begin(teller, turn_phase(speech), "");
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

void teller_take_turn(struct teller *teller, const struct moment *moment)
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
