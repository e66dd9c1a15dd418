/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud_run.h"

#include "engine/engine.h"
#include "link/aqm.h"

#define RUN_MAX 64

/* What of a run is told when it is over. */
struct run {
	uint32_t n;
	uint64_t wire_bytes;
	simtime came[RUN_MAX];
	uint32_t length[RUN_MAX];
};

/* Whether who enters the line leaves it at once, and nothing has to be done for that. */
static bool line_is_nothing(const struct line *line)
{
	return line->shared && line->conf.delay_ns == 0 && !line->wheel && !line->conf.jitter &&
	       !line->reorders && !line->limited && line->back_deadline == SIMTIME_NEVER;
}

bool cloud_run_may(const struct cloud *cloud)
{
	const struct link *link = &cloud->link;

	return link->plain && !link->classes && link->shaper.rate_bps != 0 &&
	       !link->queue.drop_head && link->taken.records == 0 &&
	       !aqm_is_asked(link->queue.aqm) && line_is_nothing(&cloud->line) && !cloud->witness &&
	       !cloud->compensates_latency && cloud_watch_runs(cloud->watch);
}

/* The heads themselves, as link_take and link_depart have it; but what the shaper owes when a head
 * has left is told together with the instant. */
static __rte_always_inline void leave(struct cloud *cloud, simtime until, struct outlet *outlet,
                                      struct run *run)
{
	struct link *link = &cloud->link;
	struct queue *queue = &link->queue;
	struct holder *holder = cloud->holder;
	struct shaper now = link->shaper, next = now; /* as the head was taken, and as it leaves */
	simtime departure = link->departure, *due = &outlet->due_ns[outlet->n];
	uint32_t n = 0, most = RTE_MIN(OUTLET_ROOM - outlet->n, (uint32_t)RUN_MAX);
	const struct held *head = log_front(&queue->log);
	uint32_t length = link_length(link, head->wire_bytes);
	struct shaper_pace pace = {0};
	uint64_t bytes = 0;
	struct rte_mbuf *mbuf;

	shaper_depart(&next, departure, length);
	while (departure <= until && n < most) {
		mbuf = hold_mbuf(holder, head);
		if (unlikely(!mbuf))
			break;
		outlet->mbufs[outlet->n + n] = mbuf;
		outlet->wire_bytes[outlet->n + n] = head->wire_bytes;
		due[n] = departure;
		run->came[n] = head->t_ns;
		run->length[n] = length;
		run->wire_bytes += head->wire_bytes;
		n++;
		bytes += length;
		log_pop(&queue->log, &holder->arena);
		now = next;
		if (queue->log.records == 0)
			break;
		head = log_front(&queue->log);
		length = link_length(link, head->wire_bytes);
		departure = shaper_serve(&next, &pace, length);
	}
	link->shaper = now;
	link->departure = link->ready = departure;
	if (queue->sending)
		queue->sending_bytes = length;
	queue->held_packets -= n;
	queue->held_bytes -= bytes;
	run->n = n;
}

/* Who counts learns of them. */
static void tell(struct cloud *cloud, const struct run *run, const simtime *left, uint64_t waiting)
{
	const struct watch_run watched = {.n = run->n,
	                                  .came = run->came,
	                                  .left = left,
	                                  .length = run->length,
	                                  .waiting = waiting};

	cloud->line.last_due = left[run->n - 1];
	cloud->counters.tx_packets += run->n;
	cloud->counters.tx_bytes += run->wire_bytes;
	histogram_add_spans(cloud->delay_ns, NULL, run->came, left, run->n);
	if (cloud->watch)
		cloud->watch->ran(cloud->watch, &watched);
}

void cloud_run_depart(struct cloud *cloud, simtime limit, struct outlet *outlet)
{
	struct link *link = &cloud->link;
	struct queue *queue = &link->queue;
	const simtime *left = &outlet->due_ns[outlet->n];
	simtime quiet = cloud->line.shared->quiet, until = simtime_min(limit, cloud->change);
	uint64_t waiting = queue_packets(queue);
	struct run run;

	if (link->departure > until || link->departure >= quiet ||
	    link->departure < cloud->line.last_due)
		return;
	run.wire_bytes = 0;
	leave(cloud, simtime_min(until, quiet - 1), outlet, &run);
	if (unlikely(run.n == 0))
		return;
	outlet->n += run.n;
	tell(cloud, &run, left, waiting);
	if (queue->log.records > 0)
		return;
	link_let_go(link, queue);
	if (queue->aqm)
		aqm_idle(queue->aqm, link->shaper.at);
}
