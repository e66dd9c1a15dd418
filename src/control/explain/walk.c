/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/walk.h"

#include <netinet/in.h>

struct walker {
	const struct ground *ground;
	struct verdict_phase *phase;
	struct verdict *verdict;
	simtime now_ns, from_ns;
	simtime host_ns; /* when it was at a host last */
	int way;         /* the packet where it is */
	uint32_t number;
};

static const struct passage *here(const struct walker *walker)
{
	return way_at(&walker->ground->flow->ways[walker->way], walker->number);
}

static uint64_t spend(struct walker *walker, enum part part, simtime until_ns)
{
	uint64_t spent_ns = 0;

	until_ns = simtime_max(until_ns, walker->from_ns);
	if (until_ns < walker->now_ns) {
		spent_ns = walker->now_ns - until_ns;
		walker->phase->parts_ns[part] += spent_ns;
		walker->now_ns = until_ns;
	}
	return spent_ns;
}

static simtime before(simtime t, simtime ns)
{
	return t > ns ? t - ns : 0;
}

/* Returns the number of the packet that the link sent directly before this one of the same way, if
 * it was still busy with it when this one came; or PASSAGE_NONE. */
static uint32_t ahead_in_link(const struct walker *walker)
{
	const struct way *way = &walker->ground->flow->ways[walker->way];
	const struct passage *own = here(walker);

	for (uint32_t i = walker->number; own->clouds == 1 && i > way->first; i--) {
		const struct passage *ahead = way_at(way, i - 1);

		if (ahead->fate != PASSAGE_ARRIVED)
			continue;
		if (ahead->clouds != 1 || ahead->entered_ns <= own->sent_ns)
			break;
		/* With several queues, one that came earlier may have left later. */
		if (ahead->entered_ns <= own->entered_ns)
			return i - 1;
	}
	return PASSAGE_NONE;
}

/* From the arrival of a packet back to when its host sent it, or sent the first of those that the
 * link has sent one behind the other. */
static void walk_path(struct walker *walker)
{
	const struct passage *passage = here(walker);
	uint32_t ahead;

	spend(walker, PART_WEIR, before(passage->arrived_ns, passage->late_ns));
	spend(walker, PART_DELAY, passage->entered_ns);
	while ((ahead = ahead_in_link(walker)) != PASSAGE_NONE &&
	       walker->now_ns > walker->from_ns) {
		const simtime free_ns =
		        way_at(&walker->ground->flow->ways[walker->way], ahead)->entered_ns;

		spend(walker, PART_RATE,
		      simtime_max(free_ns, before(passage->entered_ns, passage->rate_ns)));
		spend(walker, PART_QUEUE, free_ns);
		walker->number = ahead;
		passage = here(walker);
	}
	spend(walker, PART_RATE,
	      simtime_max(passage->sent_ns, before(passage->entered_ns, passage->rate_ns)));
	spend(walker, PART_QUEUE, passage->sent_ns);
}

/* ---- why a host has sent something ---- */

/* Adds what the path would have taken for a packet that has not waited for it. */
static void add_path(struct walker *walker)
{
	const struct passage *passage = here(walker);
	uint64_t *parts_ns = walker->phase->parts_ns;
	simtime link_ns;

	/* One that came at the beginning belongs to what was before. */
	if (passage->fate != PASSAGE_ARRIVED || passage->sent_ns < walker->from_ns ||
	    (walker->way == FLOW_DOWN && passage->sent_ns == walker->from_ns))
		return;
	link_ns = passage->entered_ns - passage->sent_ns;
	parts_ns[PART_DELAY] += passage->arrived_ns - passage->entered_ns;
	parts_ns[PART_RATE] += simtime_min(link_ns, passage->rate_ns);
	parts_ns[PART_QUEUE] += link_ns - simtime_min(link_ns, passage->rate_ns);
}

/* Goes on with a packet that came to the host. */
static void go_to(struct walker *walker, uint32_t number, bool waited)
{
	walker->way = !walker->way;
	walker->number = number;
	if (walker->way == FLOW_UP && here(walker)->sent_ns >= walker->from_ns)
		walker->phase->round_trips++;
	if (waited && walker->ground->flow->protocol == IPPROTO_TCP)
		walker->phase->windows++;
	if (walker->ground->deaf)
		add_path(walker);
	else
		walk_path(walker);
}

static enum part own_time(const struct walker *walker)
{
	return walker->way == FLOW_UP ? PART_CLIENT : PART_SERVER;
}

static void add_cost(const struct walker *walker, uint64_t cost_ns)
{
	for (uint32_t i = 0; i < walker->verdict->n_losses; i++) {
		struct verdict_loss *loss = &walker->verdict->losses[i];

		if (loss->way == walker->way && loss->number == walker->number)
			loss->cost_ns += cost_ns;
	}
}

/* Back to the sending of the packet whose bytes were sent again. Returns false if it is not
 * known. */
static bool walk_loss(struct walker *walker)
{
	const struct way *way = &walker->ground->flow->ways[walker->way];
	const uint32_t earlier = here(walker)->repeats;
	uint64_t cost_ns;

	if (earlier == PASSAGE_NONE || earlier < way->first)
		return false;
	cost_ns = spend(walker, PART_LOST, way_at(way, earlier)->sent_ns);
	walker->number = earlier;
	add_cost(walker, cost_ns);
	return true;
}

static bool window_was_closed(const struct walker *walker, uint32_t latest)
{
	const struct way *way = &walker->ground->flow->ways[walker->way];
	const struct way *other = &walker->ground->flow->ways[!walker->way];
	const struct passage *own = here(walker);

	if (way_at(other, latest)->window == 0)
		return true;
	return walker->number > way->first &&
	       way_at(way, walker->number - 1)->window < own->window &&
	       way_at(way, walker->number - 1)->window < 2 * 1460;
}

/* Goes back from an acknowledgement that was not sent at once. */
static void walk_late_ack(struct walker *walker, uint32_t latest)
{
	const struct passage *cause = way_at(&walker->ground->flow->ways[!walker->way], latest);
	enum part part = own_time(walker);

	if (window_was_closed(walker, latest))
		part = PART_WINDOW;
	else if (cause->marks & PASSAGE_DATA)
		part = PART_ACK;
	spend(walker, part, ground_got_ns(walker->ground, cause));
	go_to(walker, latest, false);
}

/* Returns the number of the last packet up to `number` that has bytes that somebody waits for. */
static uint32_t with_data(const struct way *way, uint32_t number)
{
	while (number != PASSAGE_NONE && number >= way->first) {
		if (way_at(way, number)->marks & PASSAGE_DATA)
			return number;
		number = way_at(way, number)->before;
	}
	return PASSAGE_NONE;
}

/* Goes back from bytes that the host sent of its own accord: to what it has heard last, or has said
 * itself. Returns false if there is neither. */
static bool walk_thought(struct walker *walker, uint32_t latest)
{
	const struct way *way = &walker->ground->flow->ways[walker->way];
	const struct way *other = &walker->ground->flow->ways[!walker->way];
	const uint32_t said = with_data(way, here(walker)->before);
	const uint32_t heard = with_data(other, latest);
	simtime said_ns = 0, heard_ns = 0;

	if (said != PASSAGE_NONE)
		said_ns = way_at(way, said)->sent_ns;
	if (heard != PASSAGE_NONE)
		heard_ns = ground_got_ns(walker->ground, way_at(other, heard));
	if (heard != PASSAGE_NONE && heard_ns <= walker->now_ns && heard_ns >= said_ns) {
		spend(walker, own_time(walker), heard_ns);
		go_to(walker, heard, false);
		return true;
	}
	if (said == PASSAGE_NONE)
		return false;
	spend(walker, own_time(walker), said_ns);
	walker->number = said;
	return true;
}

/* From the sending of a packet back to its cause. Returns false if there is none. */
static bool walk_host(struct walker *walker)
{
	const struct passage *own = here(walker);
	const struct way *other = &walker->ground->flow->ways[!walker->way];
	/* Without a delay, question and answer may have one instant: no cause is its own effect. */
	const uint32_t latest = ground_latest(walker->ground, !walker->way,
	                                      walker->now_ns - (walker->now_ns == walker->host_ns));
	simtime heard_ns;

	walker->host_ns = walker->now_ns;
	if (walk_loss(walker))
		return true;
	if (latest == PASSAGE_NONE)
		return own->marks & PASSAGE_DATA && walk_thought(walker, latest);
	heard_ns = ground_got_ns(walker->ground, way_at(other, latest));
	/* How many windows a capture had says nothing of another path. */
	if (walker->ground->deaf && own->marks & PASSAGE_DATA &&
	    !(way_at(other, latest)->marks & PASSAGE_DATA))
		return walk_thought(walker, latest);
	if (walker->now_ns - heard_ns <= walker->ground->soon_ns[walker->way]) {
		spend(walker, own_time(walker), heard_ns);
		go_to(walker, latest,
		      own->marks & PASSAGE_DATA && !(way_at(other, latest)->marks & PASSAGE_DATA));
		return true;
	}
	if (own->marks & PASSAGE_DATA)
		return walk_thought(walker, latest);
	walk_late_ack(walker, latest);
	return true;
}

void walk(const struct ground *ground, struct walk_from end, simtime from_ns,
          struct verdict_phase *phase, struct verdict *verdict)
{
	struct walker walker = {.ground = ground,
	                        .phase = phase,
	                        .verdict = verdict,
	                        .from_ns = from_ns,
	                        .host_ns = SIMTIME_NEVER,
	                        .way = end.way,
	                        .number = end.number};
	/* A step leads to an earlier packet of one of the ways, so there are not more. */
	uint64_t most = (uint64_t)way_kept(&ground->flow->ways[FLOW_UP]) +
	                way_kept(&ground->flow->ways[FLOW_DOWN]) + 2;

	walker.now_ns = end.sent ? here(&walker)->sent_ns : ground_got_ns(ground, here(&walker));
	if (!end.sent && ground->deaf)
		add_path(&walker);
	else if (!end.sent)
		walk_path(&walker);
	while (walker.now_ns > from_ns && most-- > 0 && walk_host(&walker))
		;
	/* A host whose first packet this is has taken its time; all else is a riddle. */
	if (here(&walker)->repeats == PASSAGE_NONE && walker.way == FLOW_UP && most > 0)
		spend(&walker, PART_CLIENT, from_ns);
	spend(&walker, PART_UNEXPLAINED, from_ns);
}
