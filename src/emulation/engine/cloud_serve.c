/* SPDX-License-Identifier: BSD-3-Clause */
/* Heads leave the link, and enter the line, or leave the cloud at once. */
#include "engine/cloud_aqm.h"
#include "engine/cloud_link.h"
#include "engine/cloud_reorder.h"
#include "engine/cloud_tell.h"
#include "engine/engine.h"
#include "engine/events.h"
#include "engine/timeline.h"
#include "link/classes.h"

#define RUN_MAX BURST_ROOM

/* Heads that leave the link one behind the other, with no event in between. */
struct run {
	uint16_t n;
	const struct held *head[RUN_MAX];
	uint32_t length[RUN_MAX]; /* on the link */
	simtime came[RUN_MAX], left[RUN_MAX];
	/* If the link is plain: the state behind the last of them. */
	uint64_t bytes; /* of all, on the link */
	struct log_walk walk;
	const struct held *behind; /* the head behind them, or NULL */
	struct shaper shaper;
	simtime departure; /* of that head */
	uint32_t next_length;
};

/* ---- which heads leave ---- */

/* Returns the queue whose front the link takes next, as the scheduler and the managements decide,
 * or NULL if there is none. */
static inline struct queue *next_queue(struct cloud *cloud, simtime now)
{
	struct link *link = &cloud->link;
	struct queue *queue;

	if (likely(!link->classes)) {
		if (unlikely(aqm_is_asked(link->queue.aqm)))
			aqm_take(cloud, &link->queue, now);
		return link->queue.log.records ? &link->queue : NULL;
	}
	while ((queue = classes_pick(link))) {
		if (aqm_is_asked(queue->aqm))
			aqm_take(cloud, queue, now);
		if (queue->log.records)
			break;
	}
	if (queue)
		classes_take(link, queue);
	return queue;
}

void cloud_take_head(struct cloud *cloud, simtime now)
{
	link_take(&cloud->link, next_queue(cloud, now));
}

/* Returns true if the queue alone decides which head is next, no observer needs heads one by one,
 * and their due times depend on nothing but these heads. */
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

/* Gathers the heads that leave a plain link by `until`, at most `most`. Not inline: serve_one needs
 * the registers. */
static __attribute__((noinline)) void gather(const struct link *link, simtime until, uint32_t most,
                                             struct run *run)
{
	struct shaper now = link->shaper, next = now; /* when the head was taken, when it leaves */
	simtime departure = link->departure;
	struct shaper_pace pace = {0};
	struct log_walk walk = log_walk(&link->queue.log);
	const struct held *head = log_walk_next(&walk);
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
		head = log_walk_next(&walk);
		if (!head)
			break;
		length = link_length(link, head->wire_bytes);
		departure = shaper_serve(&next, &pace, length);
	}
	run->n = n;
	run->walk = walk;
	run->behind = head;
	run->shaper = now;
	run->departure = departure;
	run->next_length = length;
}

static inline void gather_one(const struct link *link, struct run *run)
{
	const struct held *head = link_head(link);

	run->head[0] = head;
	run->came[0] = head->t_ns;
	run->left[0] = link->departure;
	run->length[0] = link_length(link, head->wire_bytes);
}

/* ---- where they go ---- */

/* Only of a shared cloud: lets heads leave it, as long as each leaves the line at the instant when
 * it enters, and is the next event of all. Without this way past the wheel, a router with CoDel
 * takes 2.4 times as long. Returns how many have left. */
static __rte_always_inline uint16_t leave_at_once(struct cloud *cloud, const struct run *run,
                                                  uint16_t n, const simtime *leaves,
                                                  struct outlet *outlet)
{
	uint16_t left;

	if (leaves[0] > run->left[0] || cloud->line.limited || !line_is_empty(&cloud->line) ||
	    !events_are_quiet(cloud->events, run->left[0]))
		return 0;
	for (left = 0; left < n && leaves[left] <= run->left[left]; left++) {
		const struct held *head = run->head[left];

		if (unlikely(outlet->n == OUTLET_ROOM || !hold_may_leave(cloud->holder, head, 1)))
			break;
		hold_leave(cloud->holder, head, 0, 1, run->left[left], 0, outlet);
		cloud->counters.tx_bytes += head->wire_bytes;
		if (cloud_tells(cloud, FATE_LEFT)) {
			cloud_tell_left(cloud, outlet->mbufs[outlet->n - 1], head, run->left[left]);
			outlet_name(outlet);
		}
	}
	cloud->counters.tx_packets += left;
	return left;
}

/* Counts and reports n heads, from `from` on, that have entered the line. */
static __rte_always_inline void count_entered(struct cloud *cloud, const struct run *run,
                                              uint16_t from, uint16_t n, const simtime *due)
{
	struct histogram *spread = line_spread(&cloud->line);

	if (n == 1)
		histogram_add(cloud->delay_ns, due[from] - run->came[from], 1);
	else
		histogram_add_spans(cloud->delay_ns, NULL, &run->came[from], &due[from], n);
	if (unlikely(spread != NULL))
		histogram_add_spans(spread, NULL, &run->left[from], &due[from], n);
	for (uint16_t i = from; unlikely(cloud->witness != NULL) && i < from + n; i++)
		cloud_tell_held(cloud, run->head[i], due[i], fate_delivered(due[i], run->left[i]));
}

/* Moves the heads onto the line, or past it into the outlet, if there is one. A head for which
 * there is no memory is dropped; it has made its draws. Returns how many have entered. */
static __rte_always_inline uint16_t enter_line(struct cloud *cloud, const struct run *run,
                                               uint16_t n, struct outlet *outlet)
{
	struct line *line = &cloud->line;
	simtime computed[RUN_MAX], compensated;
	const simtime *leaves = computed;
	uint16_t at = 0, pushed, entered = 0;

	if (unlikely(line->reorders)) {
		reorder_enter_held(cloud, run->head[0], run->left[0]);
		return 1;
	}
	if (n > 1 || !line_due_as_one(line, run->left[0], computed))
		cloud->counters.reordered += line_due(line, run->left, n, computed);
	if (unlikely(cloud->compensates_latency)) {
		compensated = cloud_leaves_at(cloud, run->left[0], computed[0], 0);
		leaves = &compensated;
	}
	if (outlet)
		at = entered = leave_at_once(cloud, run, n, leaves, outlet);
	if (at > 0)
		count_entered(cloud, run, 0, at, computed);
	while (at < n) {
		pushed = line_push_held(line, cloud->holder, &run->head[at], n - at, &leaves[at]);
		count_entered(cloud, run, at, pushed, computed);
		entered += pushed;
		at += pushed;
		if (likely(at == n))
			break;
		cloud_drop_held(cloud, run->head[at], REASON_NO_BUFFER, run->left[at]);
		at++;
	}
	return entered;
}

/* ---- what they leave behind ---- */

/* Removes the heads from the queue of a plain link, and makes the packet behind them the head. */
static __rte_always_inline void take_behind(struct cloud *cloud, const struct run *run)
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
	log_pop_past(&queue->log, &cloud->holder->arena, run->n, &run->walk, run->behind);
	link->shaper = run->shaper;
	if (cloud->watch)
		cloud->watch->ran(cloud->watch, &watched);
	if (run->behind) {
		link->departure = link->ready = run->departure;
		queue->sending_bytes = queue->sending ? run->next_length : 0;
		return;
	}
	link_let_go(link, queue);
	if (queue->aqm)
		aqm_idle(queue->aqm, link->shaper.at);
}

/* Lets the head leave, and takes the one that the scheduler and the managements choose. */
static void serve_one(struct cloud *cloud, struct outlet *outlet)
{
	struct link *link = &cloud->link;
	struct queue *queue = link->from;
	uint32_t wire_bytes;
	struct run run;
	bool entered;

	gather_one(link, &run);
	wire_bytes = run.head[0]->wire_bytes;
	if (unlikely(cloud->watch != NULL)) {
		cloud_watch_before(cloud->watch, run.left[0]);
		cloud_watch_left(cloud->watch, run.came[0], run.left[0], run.length[0]);
	}
	entered = enter_line(cloud, &run, 1, outlet) > 0;
	link_depart(link, &cloud->holder->arena);
	if (unlikely(queue->counters != NULL)) {
		queue->counters->tx_packets += entered;
		queue->counters->tx_bytes += entered ? wire_bytes : 0;
		queue->counters->dropped += !entered;
	}
	if (unlikely(queue->aqm && queue->held_packets == 0))
		aqm_idle(queue->aqm, run.left[0]);
	cloud_take_head(cloud, run.left[0]);
}

/* Lets the head leave, and those behind it up to and including `limit`, as long as nothing else
 * happens before. More may be due when it returns. */
static void serve(struct cloud *cloud, simtime limit, struct outlet *outlet)
{
	const struct line *line = &cloud->line;
	const simtime first = cloud->link.departure;
	/* They leave at once, without the line. */
	const bool past = outlet && line->conf.delay_ns == 0 && !line->conf.jitter &&
	                  line_is_empty(line) && first >= line->last_due;
	const uint32_t most = past ? RTE_MIN(RUN_MAX, OUTLET_ROOM - outlet->n) : RUN_MAX;
	/* Before this instant, only departures from this link can happen: no event of another
	 * cloud, and no departure of the first of these heads from a shared line. */
	simtime before = cloud->events ? events_quiet_until(cloud->events) : SIMTIME_NEVER;
	simtime until;
	struct run run;

	if (line->shared && !past)
		before = simtime_min(before, first + line->conf.delay_ns);
	before = simtime_max(before, first + 1);
	until = simtime_min(simtime_min(limit, cloud->change), before - 1);
	if (until == first || most < 2 || !link_run_pays(&cloud->link, until) || !may_run(cloud)) {
		serve_one(cloud, outlet);
		return;
	}
	gather(&cloud->link, until, most, &run);
	enter_line(cloud, &run, run.n, outlet);
	take_behind(cloud, &run);
}

/* Executes events up to and including `now`; heads that leave in a run, up to `limit`, which is
 * later only for cloud_run_link. */
static void advance(struct cloud *cloud, simtime now, simtime limit, struct outlet *outlet)
{
	while (unlikely(cloud_next(cloud) <= now)) {
		if (cloud->change < simtime_min(cloud->line.back_deadline, cloud->link.departure))
			timeline_run(cloud, cloud->change);
		else if (cloud->line.back_deadline <= cloud->link.departure)
			reorder_expire(cloud);
		else
			serve(cloud, limit, outlet);
	}
}

void cloud_advance_link(struct cloud *cloud, simtime now)
{
	advance(cloud, now, now, NULL);
}

void cloud_run_link(struct cloud *cloud, simtime now, simtime limit, struct outlet *outlet)
{
	do {
		advance(cloud, now, limit, outlet);
		now = cloud_next(cloud);
	} while (now <= limit && events_are_quiet(cloud->events, now));
}
