/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared clouds: their events are executed one after the other, in one order (events.h). */
#include <rte_prefetch.h>

#include "engine/cloud_tell.h"
#include "engine/engine_state.h"
#include "engine/classifier.h"

/* Lets a packet leave at a port. */
static inline void put_out(struct engine *engine, uint32_t number, struct rte_mbuf *mbuf,
                           simtime due, uint32_t wire_bytes)
{
	outlet_put(engine_room(engine, number), mbuf, due, wire_bytes);
	engine->ports[number].sent++;
	engine->left++;
}

/* The same; `named`: its name is in its struct packet. */
static void put_out_named(struct engine *engine, uint32_t number, struct rte_mbuf *mbuf,
                          const struct held *head, bool named)
{
	put_out(engine, number, mbuf, head->t_ns, head->wire_bytes);
	if (unlikely(named))
		outlet_name(&engine->ports[number].outlet);
}

static void enter(struct engine *engine, struct cloud *from, struct cloud *cloud,
                  struct burst *burst)
{
	from->counters.onward++;
	cloud_arrive(cloud, burst);
	engine_set_timer(engine, cloud);
}

/* Lets a packet leave that the cloud has generated. */
static void leave_back(struct engine *engine, struct cloud *cloud, struct rte_mbuf *mbuf,
                       const struct held *head, bool named)
{
	struct cloud *back = cloud->exit->back;
	struct burst burst;

	if (!back) {
		struct cloud *own = engine->cloud_table->own_at[cloud->from_port];

		/* What is due on the line that ends at this port goes first. */
		if (own)
			engine_advance_own(engine, own, head->t_ns);
		put_out_named(engine, cloud->from_port, mbuf, head, named);
		return;
	}
	back->counters.answers++;
	burst_one(&burst, mbuf, back->from_port, head->t_ns, 0, mbuf->pkt_len,
	          PACKET_GENERATED | PACKET_FOREIGN);
	enter(engine, cloud, back, &burst);
}

/* Lets a packet enter one of the clouds that come from this one. Returns false if none takes it. */
static bool leave_onward(struct engine *engine, struct cloud *cloud, struct rte_mbuf *mbuf,
                         const struct held *head)
{
	struct burst burst;
	struct cloud *next;

	burst_one(&burst, mbuf, cloud->from_port, head->t_ns,
	          cloud_number(cloud, head->flags, head->number), head->wire_bytes,
	          (uint8_t)(head->flags & ~(PACKET_MARKED | PACKET_TOLD)));
	classifier_find(cloud->exit->classifier, &burst, &next);
	if (!next)
		return false;
	enter(engine, cloud, next, &burst);
	return true;
}

/* Lets a packet leave the cloud, without a report. `named`: its name is in its struct packet if it
 * leaves at a port. */
static inline void leave_untold(struct engine *engine, struct cloud *cloud, struct rte_mbuf *mbuf,
                                const struct held *head, bool named)
{
	if (unlikely(head->flags & PACKET_BACK))
		leave_back(engine, cloud, mbuf, head, named);
	else if (likely(!cloud->exit->classifier) || !leave_onward(engine, cloud, mbuf, head))
		put_out_named(engine, cloud->exit->port, mbuf, head, named);
}

static __attribute__((noinline)) void leave_told(struct engine *engine, struct cloud *cloud,
                                                 struct rte_mbuf *mbuf, const struct held *head)
{
	cloud_tell_left(cloud, mbuf, head, head->t_ns);
	leave_untold(engine, cloud, mbuf, head, true);
}

/* Lets a packet leave its cloud at t_ns of its former record: into a cloud that comes from there,
 * or out at the port. */
static void leave(struct engine *engine, struct cloud *cloud, struct rte_mbuf *mbuf,
                  const struct held *head)
{
	cloud->counters.tx_packets++;
	cloud->counters.tx_bytes += head->wire_bytes;
	if (cloud_tells(cloud, FATE_LEFT))
		leave_told(engine, cloud, mbuf, head);
	else
		leave_untold(engine, cloud, mbuf, head, false);
}

/* How many packets ahead clouds are prefetched, if the table has more than CLOUDS_FEW slots: then
 * they are cold. */
#define CLOUDS_AHEAD 6
#define CLOUDS_FEW   64

static void cloud_ahead_fetch(const struct engine *engine)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	const struct held *held;
	const struct cloud *cloud;

	if (cloud_table->n_slots <= CLOUDS_FEW)
		return;
	held = wheel_glance(engine->events.wheel, CLOUDS_AHEAD);
	if (!held)
		return;
	cloud = cloud_table->slots[held->cloud];
	rte_prefetch0(cloud);
	rte_prefetch0(&cloud->line);
	rte_prefetch0(&cloud->counters);
}

/* Advances the link of a cloud at `now`, and goes on up to and including `limit` as long as this
 * cloud has the next event of all. The result equals that of timers. A packet that leaves its line
 * at once need not take the wheel, unless a cloud may take it. Returns when the cloud has something
 * to do next. */
static simtime link_advances(struct engine *engine, struct cloud *cloud, simtime now, simtime limit)
{
	struct timers *timers = &engine->events.timers;
	struct engine_port *port = &engine->ports[cloud->exit->port];
	const uint32_t before = port->outlet.n;

	wheel_finds_nothing(engine->events.wheel, now); /* updates `quiet` */
	do {
		cloud_run_link(cloud, now, limit, cloud->exit->classifier ? NULL : &port->outlet);
		now = cloud_next(cloud);
	} while (now <= limit && now < timers_next(timers) &&
	         wheel_finds_nothing(engine->events.wheel, now));
	port->sent += port->outlet.n - before;
	engine->left += port->outlet.n - before;
	return now;
}

static void lose(struct cloud *cloud, const struct held *head, simtime now)
{
	cloud->counters.drops[REASON_NO_BUFFER]++;
	hold_lacked(cloud->holder, now);
	if (unlikely(cloud->witness != NULL))
		cloud_tell_lost(cloud, now, cloud_number(cloud, head->flags, head->number),
		                head->wire_bytes, (uint8_t)head->flags);
}

/* Lets the first packet leave of those that were on the line before it was shared, if it is due;
 * else advances the link. */
static __attribute__((noinline)) void line_drains(struct engine *engine, struct cloud *cloud,
                                                  simtime now)
{
	struct line *line = &cloud->line;
	struct rte_mbuf *mbuf;
	struct held head;

	if (line_first(line, now) > now) {
		cloud_advance_link(cloud, now);
		return;
	}
	mbuf = line_pop_one(line, &engine->holder, now, &head);
	if (unlikely(!mbuf)) {
		engine->setup.make_room(engine->setup.room_argument, cloud->exit->port);
		mbuf = line_pop_one(line, &engine->holder, now, &head);
	}
	if (unlikely(!mbuf))
		line_drop_one(line, &engine->holder, now);
	line->drains = !line_is_empty(line);
	if (likely(mbuf != NULL))
		leave(engine, cloud, mbuf, &head);
	else
		lose(cloud, &head, now);
}

/* The first timer fires. */
static void timer_fires(struct engine *engine, simtime limit)
{
	struct timers *timers = &engine->events.timers;
	struct cloud *cloud = engine->cloud_table->slots[timers->heap[0].slot];
	simtime now = cloud->wake;

	cloud->wake = SIMTIME_NEVER;
	if (unlikely(cloud->line.drains)) {
		timers_unset(timers, cloud->index);
		line_drains(engine, cloud, now);
		engine_set_timer(engine, cloud);
		return;
	}
	timers->firing = true;
	now = link_advances(engine, cloud, now, limit);
	timers->firing = false;
	if (now == SIMTIME_NEVER)
		timers_unset(timers, cloud->index);
	else
		engine_set_timer(engine, cloud);
}

/* Lets out the most common packets, which leave at a port, as long as one follows the other before
 * `end`. None of them causes an event, so the next packet is known. */
static void leave_straight(struct engine *engine, simtime end)
{
	struct holder *holder = &engine->holder;
	struct wheel *wheel = engine->events.wheel;
	struct held *held;
	simtime due;

	if (!wheel_has_sorted_alone(wheel))
		return;
	while ((held = wheel_sorted_first(wheel, end, &due)) &&
	       likely(!(held->flags & PACKET_BACK))) {
		struct cloud *cloud = engine->cloud_table->slots[held->cloud];
		struct rte_mbuf *mbuf;

		/* It may enter another cloud. */
		if (unlikely(cloud->exit->classifier))
			break;
		cloud_ahead_fetch(engine);
		hold_spare_fetch(holder, holder->n_spare);
		mbuf = hold_mbuf(holder, held);
		if (unlikely(!mbuf))
			break;
		wheel_sorted_pop(wheel);
		cloud->line.held--;
		cloud->counters.tx_packets++;
		cloud->counters.tx_bytes += held->wire_bytes;
		put_out(engine, cloud->exit->port, mbuf, due, held->wire_bytes);
	}
}

/* Lets the first packet of the wheel leave. */
static void packet_leaves(struct engine *engine, struct held *held, simtime due)
{
	struct cloud *cloud = engine->cloud_table->slots[held->cloud];
	struct held head = *held;
	struct rte_mbuf *mbuf = hold_mbuf(&engine->holder, held);

	head.t_ns = due;
	cloud->line.held--;
	if (unlikely(!mbuf)) {
		engine->setup.make_room(engine->setup.room_argument, cloud->exit->port);
		mbuf = hold_mbuf(&engine->holder, held);
	}
	if (unlikely(!mbuf))
		cloud_drop_held(cloud, held, REASON_NO_BUFFER, due);
	wheel_pop(engine->events.wheel);
	if (likely(mbuf != NULL))
		leave(engine, cloud, mbuf, &head);
}

/* Executes one event after the other, in the order of time, because an event may cause another. */
void engine_advance_shared(struct engine *engine, simtime now)
{
	for (;;) {
		const simtime wakes = timers_next(&engine->events.timers);
		struct held *held;
		simtime due;

		if (likely(!engine->tells))
			leave_straight(engine, simtime_min(now + 1, wakes));
		held = wheel_front(engine->events.wheel, simtime_min(now, wakes), &due);
		if (held && !timers_precede(&engine->events.timers, due, held->t_ns))
			packet_leaves(engine, held, due);
		else if (wakes <= now)
			timer_fires(engine, now);
		else
			return;
	}
}

/* Returns how many packets, beginning with `from`, pass the stages of their cloud together: those
 * of one instant that will not be answered, and at least one. */
static uint16_t may_go_on(const struct cloud *cloud, struct burst *burst, uint16_t from)
{
	simtime now = burst_t(burst, from);
	uint16_t n = burst->n - from, same = 1;

	if (n == 1 || !cloud->burst_safe)
		return 1;
	/* The packets are in order of arrival. */
	if (likely(burst_t(burst, burst->n - 1) == now))
		same = n;
	while (same < n && burst_t(burst, from + same) == now)
		same++;
	if (cloud->answerer)
		same = cloud->answerer->statement->unanswered(cloud->answerer, burst, from, same);
	return RTE_MAX(same, 1);
}

void engine_shared_arrive(struct engine *engine, struct cloud *cloud, struct burst *burst)
{
	for (uint16_t done = 0, n; done < burst->n; done += n) {
		simtime now = burst_t(burst, done);
		struct burst part;

		if (!events_are_quiet(&engine->events, now))
			engine_advance_shared(engine, now);
		n = may_go_on(cloud, burst, done);
		if (likely(n == burst->n)) {
			cloud_arrive(cloud, burst);
			engine_set_timer(engine, cloud);
			return;
		}
		burst_slice(&part, burst, done, n);
		cloud_arrive(cloud, &part);
		engine_set_timer(engine, cloud);
	}
}

void engine_shared_insert(struct engine *engine, struct cloud *cloud, struct rte_mbuf *mbuf,
                          simtime now)
{
	engine_advance_shared(engine, now);
	cloud_insert(cloud, mbuf, now);
	engine_set_timer(engine, cloud);
}
