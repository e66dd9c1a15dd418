/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>

#include "aqm.h"
#include "classes.h"
#include "engine_state.h"
#include "fork.h"

struct engine *engine_make(const struct engine_setup *setup)
{
	struct engine *engine = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*engine), 64u));
	uint32_t room =
	        rte_pktmbuf_data_room_size(setup->pool) - RTE_PKTMBUF_HEADROOM - COPY_BLOCK_BYTES;

	if (!engine)
		return NULL;
	memset(engine, 0, sizeof(*engine));
	engine->setup = *setup;
	engine->holder.pool = setup->pool;
	engine->holder.kept_max = setup->kept_mbufs_max ? setup->kept_mbufs_max : UINT32_MAX;
	engine->holder.copy_bytes_max =
	        setup->copy_bytes_max ? setup->copy_bytes_max : HOLD_COPY_BYTES_DEFAULT;
	/* A copy must find room in a chunk, and again in an mbuf of the pool when it leaves. */
	engine->holder.copy_bytes_max = RTE_MIN(engine->holder.copy_bytes_max, LOG_STORED_MAX);
	engine->holder.copy_bytes_max = RTE_MIN(engine->holder.copy_bytes_max, room);
	arena_init(&engine->holder.arena, setup->memory,
	           RTE_MIN(setup->memory_bytes, WHEEL_MEMORY_MAX));
	engine->roster = calloc(1, sizeof(*engine->roster));
	engine->scenario = scenario_make();
	if (!engine->roster || !engine->scenario) {
		engine_free(engine);
		errno = ENOMEM;
		return NULL;
	}
	return engine;
}

/* The shared wheel's packets belong to clouds that are about to go. */
static void shared_clear(struct engine *engine)
{
	while (engine->wheel && engine->wheel->records) {
		struct held *held = wheel_front(engine->wheel, SIMTIME_NEVER - 1);

		hold_drop(&engine->holder, held);
		wheel_pop(engine->wheel);
	}
	wheel_free(engine->wheel);
}

void engine_free(struct engine *engine)
{
	if (!engine)
		return;
	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++) {
		struct outlet *outlet = &engine->ports[i].outlet;

		rte_pktmbuf_free_bulk(outlet->mbufs, outlet->n);
	}
	if (engine->roster) {
		shared_clear(engine);
		for (uint32_t i = 0; i < engine->roster->n_slots; i++)
			cloud_free(engine->roster->slots[i]);
		roster_free(engine->roster);
	}
	hold_give_back(&engine->holder, 0);
	scenario_free(engine->scenario);
	free(engine);
}

/* ---- clouds that share a port ---- */

/* Puts a record on the shared wheel that wakes the link when its head departs. */
static void link_arm(struct engine *engine, struct cloud *cloud)
{
	simtime next = cloud_next(cloud);
	simtime due = simtime_min(next, engine->wheel->cursor + WHEEL_AHEAD_MAX);
	struct held *timer;

	/* A timer that goes off too early finds nothing to do, and arms the next. */
	if (cloud->wake <= due || next == SIMTIME_NEVER)
		return;
	timer = wheel_append(engine->wheel, due, cloud->index, 0);
	if (unlikely(!timer)) {
		engine_starve(engine, cloud);
		return;
	}
	timer->wire_bytes = 0;
	timer->stored_bytes = 0;
	timer->flags = HELD_TIMER;
	cloud->wake = due;
}

/* Without memory for a timer the link is looked at here, so that it goes on and gives memory back. */
static void feed_starved(struct engine *engine, simtime now)
{
	struct cloud *list = engine->starved, *next;

	engine->starved = NULL;
	for (struct cloud *cloud = list; cloud; cloud = next) {
		next = cloud->next_starved;
		cloud->starved = false;
		link_arm(engine, cloud);
		while (cloud->starved && cloud_next(cloud) <= now) {
			engine->starved = cloud->next_starved;
			cloud->starved = false;
			cloud_advance_link(cloud, cloud_next(cloud));
			link_arm(engine, cloud);
		}
	}
}

static bool outlet_full(struct engine *engine, uint32_t port)
{
	const struct outlet *outlet = &engine->ports[port].outlet;

	if (likely(outlet->n < OUTLET_ROOM))
		return false;
	if (engine->setup.make_room)
		engine->setup.make_room(engine->setup.room_argument, port);
	return outlet->n == OUTLET_ROOM;
}

/* Whether there is room where the packets of this cloud may go. */
static bool exit_full(struct engine *engine, const struct cloud *cloud, uint32_t flags)
{
	if (unlikely(flags & PACKET_BACK))
		return !cloud->exit->back && outlet_full(engine, cloud->from_port);
	if (unlikely(cloud->exit->fork && fork_takes_all(cloud->exit->fork)))
		return false;
	return outlet_full(engine, cloud->exit->port);
}

static void put_out(struct engine *engine, uint32_t port, struct rte_mbuf *mbuf)
{
	struct outlet *outlet = &engine->ports[port].outlet;

	outlet->due_ns[outlet->n] = packet_of(mbuf)->t_ns;
	outlet->mbufs[outlet->n++] = mbuf;
	engine->ports[port].sent++;
	engine->left++;
}

static void enter(struct engine *engine, struct cloud *from, struct cloud *cloud,
                  struct rte_mbuf *mbuf)
{
	from->counters.onward++;
	cloud_arrive(cloud, &mbuf, 1);
	link_arm(engine, cloud);
}

/* What the cloud has generated, at its t_ns. */
static void leave_back(struct engine *engine, struct cloud *cloud, struct rte_mbuf *mbuf)
{
	struct cloud *back = cloud->exit->back;
	struct packet *packet = packet_of(mbuf);

	if (!back) {
		put_out(engine, cloud->from_port, mbuf);
		return;
	}
	packet->flags = PACKET_GENERATED | PACKET_FOREIGN;
	packet->number = 0;
	packet->port = (uint16_t)back->from_port;
	back->counters.answers++;
	enter(engine, cloud, back, mbuf);
}

/* A packet has come to the end of its cloud, at its t_ns: into a cloud that comes from there, or
 * out. */
static void leave(struct engine *engine, struct cloud *cloud, struct rte_mbuf *mbuf)
{
	struct packet *packet = packet_of(mbuf);

	cloud->counters.tx_packets++;
	cloud->counters.tx_bytes += packet->wire_bytes;
	if (unlikely(packet->flags & PACKET_BACK)) {
		leave_back(engine, cloud, mbuf);
		return;
	}
	if (unlikely(cloud->exit->fork != NULL)) {
		struct cloud *next;

		packet->number = cloud_number(cloud, packet->flags, (uint32_t)packet->number);
		packet->port = (uint16_t)cloud->from_port;
		packet->flags &= (uint8_t)~PACKET_MARKED;
		fork_find(cloud->exit->fork, &mbuf, 1, &next);
		if (next) {
			enter(engine, cloud, next, mbuf);
			return;
		}
	}
	put_out(engine, cloud->exit->port, mbuf);
}

/* Executes the first record of the shared wheel. False: it has to wait for room or for an mbuf. */
static bool shared_execute(struct engine *engine, struct held *held)
{
	const struct roster *roster = engine->roster;
	/* The cloud of a timer may be gone. */
	struct cloud *cloud = held->cloud < roster->n_slots ? roster->slots[held->cloud] : NULL;
	simtime now = held->t_ns;
	struct rte_mbuf *mbuf;

	if (held->flags & HELD_TIMER) {
		wheel_pop(engine->wheel);
		/* A timer that was overtaken by a change of rate has nothing to say. */
		if (cloud && cloud->wake == now) {
			cloud->wake = SIMTIME_NEVER;
			cloud_advance_link(cloud, now);
			link_arm(engine, cloud);
		}
		return true;
	}
	if (exit_full(engine, cloud, held->flags))
		return false;
	mbuf = hold_mbuf(&engine->holder, held);
	if (unlikely(!mbuf))
		return false;
	wheel_pop(engine->wheel);
	cloud->line.held--;
	leave(engine, cloud, mbuf);
	return true;
}

/* Of the shared clouds that still have packets in a line of their own, the one whose are due first,
 * and when; NULL: none is due. */
static struct cloud *leftover_first(struct engine *engine, simtime now, simtime *due)
{
	struct cloud **place = &engine->leftovers;
	struct cloud *first = NULL;

	while (*place) {
		struct cloud *cloud = *place;
		simtime next;

		if (line_is_empty(&cloud->line)) {
			*place = cloud->next_leftover;
			continue;
		}
		place = &cloud->next_leftover;
		next = line_first(&cloud->line, now);
		if (next <= now && (!first || next < *due)) {
			first = cloud;
			*due = next;
		}
	}
	return first;
}

/* One packet of a leftover. False: it has to wait. */
static bool leftover_execute(struct engine *engine, struct cloud *cloud, simtime now)
{
	struct rte_mbuf *mbuf;
	uint64_t bytes = 0;
	simtime due;

	if (exit_full(engine, cloud, 0))
		return false;
	if (line_pop(&cloud->line, &engine->holder, now, &mbuf, &due, 1, &bytes) == 0)
		return false;
	leave(engine, cloud, mbuf);
	return true;
}

/* In the order of time, one event after the other: an event may bring another. */
void engine_advance_shared(struct engine *engine, simtime now)
{
	if (unlikely(engine->starved))
		feed_starved(engine, now);
	for (;;) {
		simtime due = SIMTIME_NEVER;
		struct cloud *leftover =
		        unlikely(engine->leftovers) ? leftover_first(engine, now, &due) : NULL;
		struct held *held = wheel_front(engine->wheel, now);

		if (leftover && held && held->t_ns < due)
			leftover = NULL;
		if (leftover) {
			if (!leftover_execute(engine, leftover, due))
				return;
		} else if (!held || !shared_execute(engine, held)) {
			return;
		}
	}
}

/* ---- clouds that are alone at their port ---- */

static uint32_t direct_advance(struct engine *engine, struct cloud *cloud, simtime now)
{
	struct outlet *outlet = &engine->ports[cloud->exit->port].outlet;
	uint64_t bytes = 0;
	uint32_t n;

	cloud_advance_link(cloud, now);
	n = line_pop(&cloud->line, &engine->holder, now, &outlet->mbufs[outlet->n],
	             &outlet->due_ns[outlet->n], OUTLET_ROOM - outlet->n, &bytes);
	outlet->n += n;
	engine->ports[cloud->exit->port].sent += n;
	cloud->counters.tx_packets += n;
	cloud->counters.tx_bytes += bytes;
	return n;
}

void engine_advance_direct(struct engine *engine, struct cloud *cloud, simtime now)
{
	do
		engine->left += direct_advance(engine, cloud, now);
	while (line_first(&cloud->line, now) <= now && !outlet_full(engine, cloud->exit->port) &&
	       hold_provide(&engine->holder) > 0);
}

uint32_t engine_advance(struct engine *engine, simtime now)
{
	const struct roster *roster = engine->roster;
	uint32_t left;

	for (uint32_t i = 0; i < roster->n_direct; i++)
		engine->left += direct_advance(engine, roster->direct[i], now);
	if (engine->wheel)
		engine_advance_shared(engine, now);
	left = engine->left;
	engine->left = 0;
	return left;
}

simtime engine_next(const struct engine *engine)
{
	const struct roster *roster = engine->roster;
	simtime next = SIMTIME_NEVER;

	for (uint32_t i = 0; i < roster->n_direct; i++) {
		next = simtime_min(next, cloud_next(roster->direct[i]));
		next = simtime_min(next, line_next(&roster->direct[i]->line));
	}
	if (engine->wheel)
		next = simtime_min(next, wheel_next(engine->wheel));
	for (const struct cloud *cloud = engine->leftovers; unlikely(cloud != NULL);
	     cloud = cloud->next_leftover)
		next = simtime_min(next, line_next(&cloud->line));
	for (const struct cloud *cloud = engine->starved; unlikely(cloud != NULL);
	     cloud = cloud->next_starved)
		next = simtime_min(next, cloud_next(cloud));
	return next;
}

/* ---- ingress ---- */

static void no_cloud(struct engine_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	port->no_cloud += n;
	rte_pktmbuf_free_bulk(mbufs, n);
}

/* What happens before each packet comes first: another cloud may have to do with it, and a burst must
 * not differ from single packets. */
static void shared_arrive(struct engine *engine, struct cloud *cloud, struct rte_mbuf *mbuf)
{
	simtime now = packet_of(mbuf)->t_ns;

	if (!wheel_is_quiet(engine->wheel, now) || engine->leftovers || engine->starved)
		engine_advance_shared(engine, now);
	cloud_arrive(cloud, &mbuf, 1);
	link_arm(engine, cloud);
}

/* Those of a burst that a direct cloud takes go in together: nobody else has to do with them. */
static uint32_t direct_arrive(struct cloud *const *clouds, struct rte_mbuf **mbufs, uint32_t todo)
{
	struct cloud *cloud = clouds[__builtin_ctz(todo)];
	struct rte_mbuf *burst[BURST_MAX];
	uint32_t done = 0;
	uint16_t n = 0;

	for (uint32_t rest = todo; rest; rest &= rest - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(rest);

		if (clouds[i] != cloud)
			continue;
		burst[n++] = mbufs[i];
		done |= 1u << i;
	}
	cloud_arrive(cloud, burst, n);
	return done;
}

static void forked_ingress(struct engine *engine, uint32_t port, struct rte_mbuf **mbufs,
                           uint16_t n)
{
	const struct fork *fork = engine->roster->forked[port];
	struct cloud *clouds[BURST_MAX];
	uint32_t todo = n == 32 ? UINT32_MAX : (1u << n) - 1;

	if (!fork) {
		no_cloud(&engine->ports[port], mbufs, n);
		return;
	}
	fork_find(fork, mbufs, n, clouds);
	while (todo) {
		uint32_t i = (uint32_t)__builtin_ctz(todo), done = 1u << i;

		if (!clouds[i])
			no_cloud(&engine->ports[port], &mbufs[i], 1);
		else if (clouds[i]->line.shared)
			shared_arrive(engine, clouds[i], mbufs[i]);
		else
			done = direct_arrive(clouds, mbufs, todo);
		todo &= ~done;
	}
}

void engine_ingress(struct engine *engine, uint32_t port, struct rte_mbuf **mbufs, uint16_t n)
{
	struct cloud *cloud = engine->roster->ingress[port];

	if (unlikely(!cloud)) {
		forked_ingress(engine, port, mbufs, n);
	} else if (!cloud->line.shared) {
		cloud_arrive(cloud, mbufs, n);
	} else {
		for (uint16_t i = 0; i < n; i++)
			shared_arrive(engine, cloud, mbufs[i]);
	}
}

static void stamp(struct engine_port *port, uint32_t number, struct rte_mbuf **mbufs, uint16_t n,
                  simtime now)
{
	for (uint16_t i = 0; i < n; i++) {
		*packet_of(mbufs[i]) = (struct packet){
		        .t_ns = now,
		        .number = ++port->numbered,
		        .wire_bytes = mbufs[i]->pkt_len,
		        .port = (uint16_t)number,
		};
	}
}

void engine_ingress_at(struct engine *engine, uint32_t port, struct rte_mbuf **mbufs, uint16_t n,
                       simtime now)
{
	struct cloud *cloud = engine->roster->ingress[port];

	if (likely(cloud && cloud->plain)) {
		cloud_arrive_plain(cloud, mbufs, n, now, engine->ports[port].numbered + 1);
		engine->ports[port].numbered += n;
		return;
	}
	stamp(&engine->ports[port], port, mbufs, n, now);
	engine_ingress(engine, port, mbufs, n);
}

/* False: there is no mbuf. */
static bool insert(struct engine *engine, struct cloud *cloud, const uint8_t *frame, uint32_t bytes,
                   simtime now)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(engine->holder.pool);
	char *to = mbuf ? rte_pktmbuf_append(mbuf, (uint16_t)bytes) : NULL;

	if (unlikely(!to)) {
		rte_pktmbuf_free(mbuf);
		return false;
	}
	memcpy(to, frame, bytes);
	if (cloud->line.shared)
		engine_advance_shared(engine, now);
	cloud_insert(cloud, mbuf, now);
	if (cloud->line.shared)
		link_arm(engine, cloud);
	return true;
}

uint32_t engine_insert(struct engine *engine, const struct insertion *insertion, simtime now)
{
	uint32_t slot = names_find(&engine->roster->index, insertion->cloud);
	struct cloud *cloud;

	if (slot == NAMES_NONE)
		return 0;
	cloud = engine->roster->slots[slot];
	for (uint32_t i = 0; i < insertion->n; i++) {
		if (!insert(engine, cloud, insertion->frames + i * insertion->frame_bytes,
		            insertion->frame_bytes, now))
			cloud_generate_nothing(cloud, now, 0);
	}
	return insertion->n;
}

struct outlet *engine_outlet(struct engine *engine, uint32_t port)
{
	return &engine->ports[port].outlet;
}
