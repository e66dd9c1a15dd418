/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared clouds: their events are executed one after the other, in one order, from one wheel. */
#include <rte_prefetch.h>

#include "engine/cloud_tell.h"
#include "engine/engine_state.h"
#include "engine/classifier.h"

/* Puts a timer on the shared wheel that wakes the link when its head departs. */
static void link_arm(struct engine *engine, struct cloud *cloud)
{
	simtime next = cloud_next(cloud);
	simtime due = simtime_min(next, engine->wheel->cursor + WHEEL_AHEAD_MAX);
	struct held *timer;

	/* A timer that fires too early does nothing but arm the next one. */
	if (cloud->wake <= due || next == SIMTIME_NEVER)
		return;
	timer = wheel_append(engine->wheel, due, cloud->index, 0);
	if (unlikely(!timer)) {
		hold_lacked(&engine->holder, next);
		engine_starve(engine, cloud);
		return;
	}
	timer->wire_bytes = 0;
	timer->stored_bytes = 0;
	timer->flags = HELD_TIMER;
	cloud->wake = due;
}

/* If more links than this lack a timer, none of them is searched for the earliest event. */
#define TIMELESS_FEW 64

static bool timeless_are_few(const struct engine *engine)
{
	const struct cloud *cloud = engine->timer_missing;
	uint32_t n = 0;

	while (cloud && n++ < TIMELESS_FEW)
		cloud = cloud->next_timer_missing;
	return !cloud;
}

/* Retries to arm the missing timers. If memory is still short and many links lack a timer, advances
 * these links here, out of order, so that they make progress and return memory. */
static void feed_timer_missing(struct engine *engine, simtime now)
{
	struct cloud *list = engine->timer_missing, *next;
	const bool few = timeless_are_few(engine);

	engine->timer_missing = NULL;
	for (struct cloud *cloud = list; cloud; cloud = next) {
		next = cloud->next_timer_missing;
		cloud->timer_missing = false;
		link_arm(engine, cloud);
		while (!few && cloud->timer_missing && cloud_next(cloud) <= now) {
			engine->timer_missing = cloud->next_timer_missing;
			cloud->timer_missing = false;
			cloud_advance_link(cloud, cloud_next(cloud));
			link_arm(engine, cloud);
		}
	}
}

/* If only a few links lack a timer, advances the one with the earliest event, if that is due by
 * `now` and not after `before`. Returns false if there is none. */
static bool timeless_execute(struct engine *engine, simtime now, simtime before)
{
	struct cloud **first = NULL, *cloud;
	simtime due = simtime_min(now, before);

	if (!timeless_are_few(engine))
		return false;
	for (struct cloud **place = &engine->timer_missing; *place;
	     place = &(*place)->next_timer_missing) {
		if (cloud_next(*place) > due || (first && cloud_next(*place) == due))
			continue;
		first = place;
		due = cloud_next(*place);
	}
	if (!first)
		return false;
	cloud = *first;
	*first = cloud->next_timer_missing;
	cloud->timer_missing = false;
	cloud_advance_link(cloud, due);
	link_arm(engine, cloud);
	return true;
}

/* Lets a packet leave at a port. */
static inline void put_out(struct engine *engine, uint32_t number, struct rte_mbuf *mbuf,
                           const struct held *head)
{
	outlet_put(engine_room(engine, number), mbuf, head->t_ns, head->wire_bytes);
	engine->ports[number].sent++;
	engine->left++;
}

/* The same; `named`: its name is in its struct packet. */
static void put_out_named(struct engine *engine, uint32_t number, struct rte_mbuf *mbuf,
                          const struct held *head, bool named)
{
	put_out(engine, number, mbuf, head);
	if (unlikely(named))
		outlet_name(&engine->ports[number].outlet);
}

static void enter(struct engine *engine, struct cloud *from, struct cloud *cloud,
                  struct burst *burst)
{
	from->counters.onward++;
	cloud_arrive(cloud, burst);
	link_arm(engine, cloud);
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
	held = wheel_glance(engine->wheel, CLOUDS_AHEAD);
	cloud = held && held->cloud < cloud_table->n_slots ? cloud_table->slots[held->cloud] : NULL;
	if (!cloud)
		return;
	rte_prefetch0(cloud);
	rte_prefetch0(&cloud->line);
	if (held->flags & HELD_TIMER)
		rte_prefetch0(&cloud->link);
	else
		rte_prefetch0(&cloud->counters);
}

/* Advances the link of a cloud at `now`, when it has the next event of all, and up to and including
 * `limit` as long as that holds. The result equals that of timers. A packet that leaves its line at
 * once need not take the wheel, unless a cloud may take it. */
static void link_run(struct engine *engine, struct cloud *cloud, simtime now, simtime limit)
{
	struct engine_port *port = &engine->ports[cloud->exit->port];
	struct outlet *outlet = &port->outlet;
	uint32_t before = outlet->n;

	if (unlikely(cloud->exit->classifier || engine->draining || engine->timer_missing))
		outlet = NULL;
	if (unlikely(engine->draining || engine->timer_missing))
		limit = now;
	do {
		cloud_run_link(cloud, now, limit, outlet);
		now = cloud_next(cloud);
	} while (now <= limit && !wheel_front(engine->wheel, now));
	port->sent += port->outlet.n - before;
	engine->left += port->outlet.n - before;
}

/* Lets out the most common records, packets that leave at a port, as long as one follows the other.
 * None of them causes an event, so the next record is known. */
static void leave_straight(struct engine *engine, simtime now)
{
	struct holder *holder = &engine->holder;
	struct wheel *wheel = engine->wheel;
	struct held *held;

	if (!wheel_has_sorted_alone(wheel))
		return;
	while ((held = wheel_sorted_first(wheel, now)) &&
	       likely(!(held->flags & (HELD_TIMER | PACKET_BACK)))) {
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
		put_out(engine, cloud->exit->port, mbuf, held);
	}
}

/* Executes the first record of the shared wheel, which is due at `limit` or before. */
static void shared_execute(struct engine *engine, struct held *held, simtime limit)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	/* The cloud of a timer may have been freed. */
	struct cloud *cloud =
	        held->cloud < cloud_table->n_slots ? cloud_table->slots[held->cloud] : NULL;
	const simtime now = held->t_ns;
	const struct held head = *held;
	struct rte_mbuf *mbuf;

	if (held->flags & HELD_TIMER) {
		wheel_pop(engine->wheel);
		/* A timer that a change of rate has made obsolete does nothing. */
		if (cloud && cloud->wake == now) {
			cloud->wake = SIMTIME_NEVER;
			wheel_front(engine->wheel, now); /* updates `quiet` */
			link_run(engine, cloud, now, limit);
			link_arm(engine, cloud);
		}
		return;
	}
	cloud->line.held--;
	mbuf = hold_mbuf(&engine->holder, held);
	if (unlikely(!mbuf))
		cloud_drop_held(cloud, held, REASON_NO_BUFFER, now);
	wheel_pop(engine->wheel);
	if (likely(mbuf != NULL))
		leave(engine, cloud, mbuf, &head);
}

/* Returns the cloud with the earliest packet due by `now`, and its due time, among the clouds whose
 * line is shared but whose own line still has packets; NULL if none is due. Removes clouds whose
 * own line is empty from the list. */
static struct cloud *draining_first(struct engine *engine, simtime now, simtime *due)
{
	struct cloud **place = &engine->draining;
	struct cloud *first = NULL;

	while (*place) {
		struct cloud *cloud = *place;
		simtime next;

		if (line_is_empty(&cloud->line)) {
			*place = cloud->next_draining;
			continue;
		}
		place = &cloud->next_draining;
		next = line_first(&cloud->line, now);
		if (next <= now && (!first || next < *due)) {
			first = cloud;
			*due = next;
		}
	}
	return first;
}

/* Lets one packet leave a draining cloud. Returns false if it gets no mbuf. */
static bool draining_execute(struct engine *engine, struct cloud *cloud, simtime now)
{
	struct rte_mbuf *mbuf;
	struct held head;

	mbuf = line_pop_one(&cloud->line, &engine->holder, now, &head);
	if (!mbuf)
		return false;
	leave(engine, cloud, mbuf, &head);
	return true;
}

/* Executes one event after the other, in the order of time, because an event may cause another. */
bool engine_advance_shared(struct engine *engine, simtime now)
{
	if (unlikely(engine->timer_missing))
		feed_timer_missing(engine, now);
	for (;;) {
		simtime due = SIMTIME_NEVER;
		struct cloud *draining = NULL;
		struct held *held;

		if (unlikely(engine->draining))
			draining = draining_first(engine, now, &due);
		else if (likely(!engine->tells && !engine->timer_missing))
			leave_straight(engine, now);
		held = wheel_front(engine->wheel, now);

		if (draining && held && held->t_ns < due)
			draining = NULL;
		if (unlikely(engine->timer_missing) && timeless_execute(engine, now,
		                                                        draining ? due
		                                                        : held   ? held->t_ns
		                                                                 : SIMTIME_NEVER))
			continue;
		if (!draining && !held)
			return true;
		if (!draining)
			shared_execute(engine, held, now);
		else if (!draining_execute(engine, draining, due))
			return false;
	}
}

/* Returns how many packets, beginning with `from`, pass the stages of their cloud together: those
 * of one instant that will not be answered, and at least one. */
static uint16_t may_go_on(const struct engine *engine, const struct cloud *cloud,
                          struct burst *burst, uint16_t from)
{
	simtime now = burst_t(burst, from);
	uint16_t n = burst->n - from, same = 1;

	if (n == 1 || !cloud->burst_safe || unlikely(engine->draining || engine->timer_missing))
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

/* Executes what is due before something arrives. */
static void catch_up(struct engine *engine, simtime now)
{
	if (unlikely(!engine_advance_shared(engine, now)))
		engine_note_overdue(engine, now);
}

void engine_shared_arrive(struct engine *engine, struct cloud *cloud, struct burst *burst)
{
	for (uint16_t done = 0, n; done < burst->n; done += n) {
		simtime now = burst_t(burst, done);
		struct burst part;

		if (!wheel_is_quiet(engine->wheel, now) || engine->draining ||
		    engine->timer_missing)
			catch_up(engine, now);
		n = may_go_on(engine, cloud, burst, done);
		if (likely(n == burst->n)) {
			cloud_arrive(cloud, burst);
			link_arm(engine, cloud);
			return;
		}
		burst_slice(&part, burst, done, n);
		cloud_arrive(cloud, &part);
		link_arm(engine, cloud);
	}
}

void engine_shared_insert(struct engine *engine, struct cloud *cloud, struct rte_mbuf *mbuf,
                          simtime now)
{
	catch_up(engine, now);
	cloud_insert(cloud, mbuf, now);
	link_arm(engine, cloud);
}
