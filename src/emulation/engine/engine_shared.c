/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared clouds: their events are executed one after the other, in one order (events.h). */
#include <rte_prefetch.h>

#include "engine/cloud_tell.h"
#include "engine/engine_state.h"
#include "engine/classifier.h"

/* Lets a packet leave at a port. `told`: its name is in its struct packet. */
static void put_out(struct engine *engine, uint32_t number, struct rte_mbuf *mbuf,
                    const struct held *head, bool told)
{
	struct outlet *outlet = engine_room(engine, number);

	outlet_put(outlet, mbuf, head->t_ns, head->wire_bytes);
	if (unlikely(told))
		outlet_name(outlet);
	engine->ports[number].sent++;
	engine->left++;
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
                       const struct held *head, bool told)
{
	struct cloud *back = cloud->exit->back;
	struct burst burst;

	if (!back) {
		struct cloud *own = engine->cloud_table->own_at[cloud->from_port];

		/* What is due on the line that ends at this port goes first. */
		if (own)
			engine_advance_own(engine, own, head->t_ns);
		put_out(engine, cloud->from_port, mbuf, head, told);
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

/* A packet that left the cloud at `due`, and that `head` describes, is the last one in the outlet
 * of the cloud's port: counts it. Returns false if it goes elsewhere: to goes_on(). */
static __rte_always_inline bool has_left(struct engine *engine, struct cloud *cloud,
                                         struct engine_port *port, const struct held *head,
                                         simtime due)
{
	struct outlet *outlet = &port->outlet;

	cloud->counters.tx_packets++;
	cloud->counters.tx_bytes += head->wire_bytes;
	if (cloud_tells(cloud, FATE_LEFT))
		cloud_tell_left(cloud, outlet->mbufs[outlet->n - 1], head, due);
	if (unlikely(cloud->exit->classifier || head->flags & PACKET_BACK))
		return false;
	if (cloud_tells(cloud, FATE_LEFT))
		outlet_name(outlet);
	port->sent++;
	engine->left++;
	return true;
}

/* Takes that packet out of the outlet, and lets it go where it goes: back, or into a cloud that
 * comes from there; if none takes it, out at the port. */
static void goes_on(struct engine *engine, struct cloud *cloud, struct engine_port *port,
                    const struct held *head)
{
	struct outlet *outlet = &port->outlet;
	struct rte_mbuf *mbuf = outlet->mbufs[--outlet->n];
	const bool told = cloud_tells(cloud, FATE_LEFT);

	if (head->flags & PACKET_BACK)
		leave_back(engine, cloud, mbuf, head, told);
	else if (!leave_onward(engine, cloud, mbuf, head))
		put_out(engine, cloud->exit->port, mbuf, head, told);
}

/* With more clouds than this, they are cold. */
#define CLOUDS_FEW 64

/* Fetches the clouds that these packets leave. */
static void clouds_fetch(const struct engine *engine, const struct wheel_entry *leaves, uint32_t n)
{
	const struct cloud_table *cloud_table = engine->cloud_table;

	for (uint32_t i = 0; cloud_table->n_slots > CLOUDS_FEW && i < n; i++) {
		const struct cloud *cloud = cloud_table->slots[leaves[i].held->cloud];

		rte_prefetch0(&cloud->holder);
		rte_prefetch0(&cloud->line);
	}
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
	struct engine_port *port = &engine->ports[cloud->exit->port];
	struct line *line = &cloud->line;
	struct outlet *outlet;
	struct held head;
	uint32_t before;

	if (!line_front(line, now, &head)) {
		cloud_advance_link(cloud, now);
		return;
	}
	outlet = engine_room(engine, cloud->exit->port);
	before = outlet->n;
	line_pop(line, &engine->holder, now, outlet, 1);
	if (unlikely(outlet->n == before)) {
		engine->setup.make_room(engine->setup.room_argument, cloud->exit->port);
		before = outlet->n;
		line_pop(line, &engine->holder, now, outlet, 1);
	}
	if (likely(outlet->n > before)) {
		if (!has_left(engine, cloud, port, &head, head.t_ns))
			goes_on(engine, cloud, port, &head);
	} else {
		line_drop(line, &engine->holder, now);
		lose(cloud, &head, now);
	}
	line->drains = !line_is_empty(line);
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

/* Moves the packet of a record into the outlet of its cloud's port. Returns false if there is no
 * mbuf even after the outlet was emptied: then the packet is dropped. */
static __rte_always_inline bool take_out(struct engine *engine, struct cloud *cloud,
                                         struct engine_port *port, const struct held *held,
                                         simtime due)
{
	const struct engine_setup *setup = &engine->setup;

	if (unlikely(port->outlet.n == OUTLET_ROOM || !hold_may_leave(&engine->holder, held, 1)))
		setup->make_room(setup->room_argument, cloud->exit->port);
	if (likely(hold_may_leave(&engine->holder, held, 1))) {
		hold_leave(&engine->holder, held, 0, 1, due, 0, &port->outlet);
		return true;
	}
	cloud_drop_held(cloud, held, REASON_NO_BUFFER, due);
	return false;
}

/* Lets packets of the wheel leave, the first of n at least. One that leaves at a port causes no
 * event, so the next one follows at once, unless a timer precedes it; none does before `wakes`. */
static void packets_leave(struct engine *engine, const struct wheel_entry *leaves, uint32_t n,
                          simtime wakes)
{
	const struct timers *timers = &engine->events.timers;
	struct wheel *wheel = engine->events.wheel;
	uint32_t i = 0;

	clouds_fetch(engine, leaves, n);
	do {
		const struct held *held = leaves[i].held;
		const simtime due = leaves[i].t_ns;
		struct cloud *cloud = engine->cloud_table->slots[held->cloud];
		struct engine_port *port = &engine->ports[cloud->exit->port];
		bool left;

		wheel_stream(wheel);
		left = take_out(engine, cloud, port, held, due);
		cloud->line.held--;
		if (likely(left) && unlikely(!has_left(engine, cloud, port, held, due))) {
			struct held head = *held;

			head.t_ns = due;
			wheel_pass(wheel, i + 1);
			goes_on(engine, cloud, port, &head);
			return;
		}
		i++;
	} while (i < n && (likely(leaves[i].t_ns < wakes) ||
	                   !timers_precede(timers, leaves[i].t_ns, leaves[i].held->t_ns)));
	wheel_pass(wheel, i);
}

/* Executes one event after the other, in the order of time, because an event may cause another. */
void engine_advance_shared(struct engine *engine, simtime now)
{
	const struct timers *timers = &engine->events.timers;
	const struct wheel_entry *leaves;

	for (;;) {
		const simtime wakes = timers_next(timers);
		uint32_t n;

		leaves = wheel_look(engine->events.wheel, simtime_min(now, wakes), BURST_MAX, &n);
		if (n > 0 && !timers_precede(timers, leaves->t_ns, leaves->held->t_ns))
			packets_leave(engine, leaves, n, wakes);
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
