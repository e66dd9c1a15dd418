/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/walk.h"

/* ---- of QUIC: which datagram repeats which ---- */

/* So many later packets have to be acknowledged before one counts as lost. */
#define LATER 3
/* It is looked for among so many packets. */
#define AMONG 1024

static uint32_t end_of(const struct way *way, uint32_t from)
{
	return way->end - from > AMONG ? from + AMONG : way->end;
}

/* Returns the number of the first packet of a way that was sent at `t` or later. */
static uint32_t first_since(const struct way *way, simtime t)
{
	uint32_t low = way->first, high = way->end;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (way_at(way, middle)->sent_ns >= t)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Returns when the host knows that a packet of it has come at `got_ns`: the first packet that the
 * other has sent since is there. SIMTIME_NEVER: it does not. */
static simtime heard_since(const struct ground *ground, int way, simtime got_ns)
{
	const struct way *other = &ground->flow->ways[!way];

	const uint32_t first = first_since(other, got_ns);

	for (uint32_t i = first; i < end_of(other, first); i++) {
		const struct passage *answer = way_at(other, i);

		if (answer->fate == PASSAGE_ARRIVED)
			return answer->arrived_ns;
	}
	return SIMTIME_NEVER;
}

/* Returns when the host of a lost packet can know of it by acknowledgements; or SIMTIME_NEVER. */
static simtime known_at(const struct ground *ground, int way, uint32_t lost)
{
	const struct way *own = &ground->flow->ways[way];
	const simtime late_ns = way_at(own, lost)->sent_ns + ground->trip_ns + ground->trip_ns / 8;
	simtime known_ns = SIMTIME_NEVER;
	int later = 0;

	for (uint32_t i = lost + 1; i < end_of(own, lost) && later < LATER; i++) {
		const struct passage *passage = way_at(own, i);

		if (passage->fate != PASSAGE_ARRIVED)
			continue;
		later++;
		if (later == 1)
			known_ns =
			        simtime_max(heard_since(ground, way, passage->arrived_ns), late_ns);
		else if (later == LATER)
			known_ns = simtime_min(known_ns,
			                       heard_since(ground, way, passage->arrived_ns));
	}
	return known_ns;
}

/* Returns true if a host sends the packet because it has heard nothing for a while. */
static bool is_probe(const struct ground *ground, int way, uint32_t number)
{
	const struct way *own = &ground->flow->ways[way];
	const struct passage *passage = way_at(own, number);
	/* Until it has an answer, it does not know the round trip. */
	const bool knows = ground_latest(ground, !way, passage->sent_ns) != PASSAGE_NONE;
	const simtime silence_ns = simtime_max(knows ? ground->trip_ns : 0, ground->soon_ns[way]);

	return passage->sent_ns - way_at(own, number - 1)->sent_ns > silence_ns &&
	       !ground_reacts(ground, way, passage);
}

static void join_lost(struct way *own, const struct ground *ground, int way, uint32_t lost)
{
	const simtime known_ns = known_at(ground, way, lost);

	for (uint32_t i = lost + 1; i < end_of(own, lost); i++) {
		struct passage *passage = way_at(own, i);

		if (!(passage->marks & PASSAGE_DATA) || passage->repeats != PASSAGE_NONE ||
		    (passage->sent_ns < known_ns && !is_probe(ground, way, i)))
			continue;
		passage->repeats = lost;
		way_at(own, lost)->latest = i;
		return;
	}
}

void losses_join(struct flow *flow, const struct ground *ground)
{
	for (int way = 0; way < FLOW_WAYS; way++) {
		struct way *own = &flow->ways[way];

		for (uint32_t i = own->first; i < own->end; i++) {
			const struct passage *passage = way_at(own, i);

			if (passage->fate == PASSAGE_LOST && passage->marks & PASSAGE_DATA &&
			    passage->latest == PASSAGE_NONE)
				join_lost(own, ground, way, i);
		}
	}
}

/* ---- what is told of them ---- */

static void add_loss(struct verdict *verdict, int way, uint32_t number,
                     const struct passage *passage)
{
	struct verdict_loss *loss;

	verdict->lost[way]++;
	loss = verdict_loss_add(verdict);
	if (loss)
		*loss = (struct verdict_loss){.packet = passage->packet,
		                              .number = number,
		                              .port = passage->port,
		                              .way = (uint8_t)way,
		                              .reason = passage->reason,
		                              .acknowledgement = passage->bytes == 0,
		                              .at_ns = passage->sent_ns};
}

static void add_resent(struct verdict *verdict, const struct ground *ground, int way,
                       const struct passage *passage)
{
	const struct way *own = &ground->flow->ways[way];

	if (passage->repeats < own->first ||
	    way_at(own, passage->repeats)->fate == PASSAGE_ARRIVED) {
		verdict->needless++;
		return;
	}
	for (uint32_t i = 0; i < verdict->n_losses; i++) {
		struct verdict_loss *loss = &verdict->losses[i];

		if (loss->way != way || loss->number != passage->repeats)
			continue;
		loss->again_ns = passage->sent_ns;
		loss->resent =
		        !(passage->marks & PASSAGE_SYN) && ground_reacts(ground, way, passage)
		                ? RESENT_FAST
		                : RESENT_TIMEOUT;
	}
}

void losses_tell(struct flow *flow, const struct ground *ground, uint32_t recent,
                 struct verdict *verdict)
{
	for (int way = 0; way < FLOW_WAYS; way++) {
		const struct way *own = &ground->flow->ways[way];
		const uint32_t until = way_kept(own) > recent ? own->end - recent : own->first;
		uint32_t i = flow->story.told[way];

		for (i = i > own->first ? i : own->first; i < until; i++) {
			const struct passage *passage = way_at(own, i);

			verdict->packets[way]++;
			if (passage->fate == PASSAGE_UNDER_WAY)
				verdict->holes++;
			if (passage->fate == PASSAGE_LOST)
				add_loss(verdict, way, i, passage);
			if (passage->repeats != PASSAGE_NONE)
				add_resent(verdict, ground, way, passage);
			else
				verdict->bytes[way] +=
				        passage->bytes -
				        !!(passage->marks & (PASSAGE_SYN | PASSAGE_FIN));
		}
		flow->story.told[way] = i;
	}
}
