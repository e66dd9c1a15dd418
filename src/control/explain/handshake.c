/* SPDX-License-Identifier: BSD-3-Clause */
/* The phases before the first request: TCP, and TLS or QUIC. */
#include <netinet/in.h>

#include "explain/teller.h"

bool teller_opens(struct teller *teller, const struct moment *moment)
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
		teller_begin(teller, PHASE_TCP, "");
	if (moment->way == FLOW_DOWN) {
		story->opened = true;
		teller_end(teller, moment);
	}
	return true;
}

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

bool teller_shakes_hands(struct teller *teller, const struct moment *moment)
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
		teller_begin(teller, quic ? PHASE_QUIC : PHASE_TLS, handshake_detail(speech));
	if (early && moment->way == FLOW_UP) {
		teller_end(teller, moment);
		story->shaken = true;
		return !(marks & PASSAGE_TURN);
	}
	story->answered |= moment->way == FLOW_DOWN && marks & PASSAGE_HELLO;
	if (story->answered && marks & PASSAGE_SECRET)
		story->secret[moment->way] = true;
	if (story->in_phase && is_over(teller)) {
		teller_end(teller, moment);
		story->shaken = true;
		story->answered = false;
		/* Its Finished, and maybe the request behind it in one packet. */
		return moment->way == FLOW_DOWN || !(marks & PASSAGE_TURN);
	}
	return true;
}
