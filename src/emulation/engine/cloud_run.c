/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud_link.h"
#include "engine/engine.h"
#include "engine/events.h"
#include "link/aqm.h"

#define RUN_MAX BURST_ROOM

/* Heads that leave the link, and the state of the link after the last of them. */
struct run {
	uint16_t n;
	uint64_t bytes; /* on the link */
	uint32_t length[RUN_MAX];
	const struct held *head[RUN_MAX];
	simtime came[RUN_MAX], left[RUN_MAX];
	struct log_walk walk; /* behind them */
	struct shaper shaper;
	/* of the head behind them, if there is one */
	simtime departure;
	uint32_t next_length;
};

/* Returns true if heads may leave together at present: the queue alone decides which one is next,
 * no observer needs them one by one, and their due times depend on nothing but these heads. */
static inline bool may_run(const struct cloud *cloud)
{
	const struct link *link = &cloud->link;
	const struct line *line = &cloud->line;

	return link->plain && !link->classes && link->shaper.rate_bps != 0 &&
	       link->taken.records == 0 && !aqm_is_asked(link->queue.aqm) && !line->reorders &&
	       !line->limited && line->back_deadline == SIMTIME_NEVER &&
	       !(line->shared && line->conf.jitter) && !cloud->witness &&
	       !cloud->compensates_latency && cloud_watch_runs(cloud->watch);
}

/* Gathers the heads that leave by `until`, at most `most`. The result equals that of link_take and
 * link_depart for one after the other. */
static __rte_always_inline void gather(const struct link *link, simtime until, uint32_t most,
                                       struct run *run)
{
	struct shaper now = link->shaper, next = now; /* when the head was taken, when it leaves */
	simtime departure = link->departure;
	struct shaper_pace pace = {0};
	const struct held *head = log_walk_first(&run->walk, &link->queue.log);
	uint32_t length = link_length(link, head->wire_bytes);
	uint16_t n = 0;

	run->bytes = 0;
	shaper_depart(&next, departure, length);
	while (departure <= until && n < most) {
		run->head[n] = head;
		run->came[n] = head->t_ns;
		run->left[n] = departure;
		run->length[n] = length;
		run->bytes += length;
		n++;
		now = next;
		head = log_walk_next(&run->walk);
		if (!head)
			break;
		length = link_length(link, head->wire_bytes);
		departure = shaper_serve(&next, &pace, length);
	}
	run->n = n;
	run->shaper = now;
	run->departure = departure;
	run->next_length = length;
}

/* Moves the heads into the outlet. Returns how many have found an mbuf. */
static __rte_always_inline uint16_t into_outlet(struct cloud *cloud, const struct run *run,
                                                struct outlet *outlet)
{
	uint16_t n;

	for (n = 0; n < run->n; n++) {
		struct rte_mbuf *mbuf = hold_mbuf(cloud->holder, run->head[n]);

		if (unlikely(!mbuf))
			break;
		outlet_put(outlet, mbuf, run->left[n], run->head[n]->wire_bytes);
		cloud->counters.tx_bytes += run->head[n]->wire_bytes;
	}
	cloud->counters.tx_packets += n;
	if (n > 0)
		cloud->line.last_due = run->left[n - 1];
	histogram_add_spans(cloud->delay_ns, NULL, run->came, run->left, n);
	return n;
}

/* Moves the heads onto the line. A head for which there is no memory is dropped; it has made its
 * draws, as it would have alone. */
static void onto_line(struct cloud *cloud, const struct run *run)
{
	struct line *line = &cloud->line;
	simtime due_ns[RUN_MAX];

	cloud->counters.reordered += line_due(line, run->left, run->n, due_ns);
	for (uint16_t at = 0; at < run->n; at++) {
		uint16_t n = line_push_held(line, cloud->holder, &run->head[at], run->n - at,
		                            &due_ns[at]);

		histogram_add_spans(cloud->delay_ns, NULL, &run->came[at], &due_ns[at], n);
		if (line_spread(line))
			histogram_add_spans(line_spread(line), NULL, &run->left[at], &due_ns[at],
			                    n);
		at += n;
		if (likely(at == run->n))
			break;
		cloud_drop_held(cloud, run->head[at], REASON_NO_BUFFER, run->left[at]);
	}
}

/* Removes the heads from the queue, and makes the next packet the head. */
static __rte_always_inline void leave(struct cloud *cloud, const struct run *run)
{
	struct link *link = &cloud->link;
	struct queue *queue = &link->queue;
	const struct watch_run watched = {.n = run->n,
	                                  .came = run->came,
	                                  .left = run->left,
	                                  .length = run->length,
	                                  .waiting = queue_packets(queue)};

	queue->held_packets -= run->n;
	queue->held_bytes -= run->bytes;
	log_pop_past(&queue->log, &cloud->holder->arena, &run->walk);
	link->shaper = run->shaper;
	if (cloud->watch)
		cloud->watch->ran(cloud->watch, &watched);
	if (queue->log.records > 0) {
		link->departure = link->ready = run->departure;
		queue->sending_bytes = queue->sending ? run->next_length : 0;
		return;
	}
	link_let_go(link, queue);
	if (queue->aqm)
		aqm_idle(queue->aqm, link->shaper.at);
}

bool cloud_run_depart(struct cloud *cloud, simtime until, struct outlet *outlet)
{
	const struct line *line = &cloud->line;
	const simtime first = cloud->link.departure;
	/* True if a packet leaves the line at the instant when it enters, and the line need not be
	 * involved. */
	const bool nothing = outlet && line->conf.delay_ns == 0 && !line->wheel &&
	                     !line->conf.jitter && line->log.records == 0 &&
	                     first >= line->last_due;
	const uint32_t most = nothing ? RTE_MIN(RUN_MAX, OUTLET_ROOM - outlet->n) : RUN_MAX;
	/* Before this instant, only departures from this link can happen: no event of another
	 * cloud, and no departure of the first of these heads from a shared line. */
	simtime before = cloud->events ? events_quiet_until(cloud->events) : SIMTIME_NEVER;
	uint16_t gone;
	struct run run;

	if (line->shared && !nothing)
		before = simtime_min(before, first + line->conf.delay_ns);
	until = simtime_min(until, cloud->change);
	if (first > until || first >= before || most == 0 || !may_run(cloud))
		return false;
	until = simtime_min(until, before - 1);
	gather(&cloud->link, until, most, &run);
	if (!nothing) {
		onto_line(cloud, &run);
	} else {
		gone = into_outlet(cloud, &run, outlet);
		if (unlikely(gone == 0))
			return false;
		if (unlikely(gone < run.n))
			gather(&cloud->link, until, gone, &run);
	}
	leave(cloud, &run);
	return true;
}
