/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>

#include "engine_state.h"

struct engine *engine_make(const struct engine_setup *setup)
{
	struct engine *engine = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*engine), 64u));

	if (!engine)
		return NULL;
	memset(engine, 0, sizeof(*engine));
	engine->setup = *setup;
	engine->holder.pool = setup->pool;
	engine->holder.copy_bytes_max =
	        setup->copy_bytes_max ? setup->copy_bytes_max : HOLD_COPY_BYTES_DEFAULT;
	if (engine->holder.copy_bytes_max > LOG_STORED_MAX)
		engine->holder.copy_bytes_max = LOG_STORED_MAX;
	arena_init(&engine->holder.arena, setup->memory, setup->memory_bytes);
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

		if (held->flags & HELD_MBUF)
			rte_pktmbuf_free(held_mbuf(held));
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
		free(engine->roster->slots);
	}
	free(engine->roster);
	hold_give_back(&engine->holder, 0);
	scenario_free(engine->scenario);
	free(engine);
}

/* ---- clouds that share a port ---- */

/* Puts a record on the shared wheel that wakes the link when its head departs. */
static void link_arm(struct engine *engine, struct cloud *cloud)
{
	struct held *timer;

	if (cloud->link.departure == cloud->wake || cloud->link.departure == SIMTIME_NEVER)
		return;
	timer = wheel_append(engine->wheel, cloud->link.departure, cloud->index, 0);
	if (unlikely(!timer)) {
		cloud->starved = engine->starved = true;
		return;
	}
	timer->wire_bytes = 0;
	timer->stored_bytes = 0;
	timer->flags = HELD_TIMER;
	cloud->wake = cloud->link.departure;
}

static void feed_starved(struct engine *engine)
{
	const struct roster *roster = engine->roster;

	engine->starved = false;
	for (uint32_t i = 0; i < roster->n_slots; i++) {
		if (roster->slots[i] && roster->slots[i]->starved) {
			roster->slots[i]->starved = false;
			link_arm(engine, roster->slots[i]);
		}
	}
}

static void leave(struct engine *engine, struct cloud *cloud, struct rte_mbuf *mbuf,
                  uint64_t wire_bytes, simtime due)
{
	struct outlet *outlet = &engine->ports[cloud->to_port].outlet;

	cloud->counters.tx_packets++;
	cloud->counters.tx_bytes += wire_bytes;
	outlet->due_ns[outlet->n] = due;
	outlet->mbufs[outlet->n++] = mbuf;
}

static bool outlet_full(const struct engine *engine, const struct cloud *cloud)
{
	return engine->ports[cloud->to_port].outlet.n == OUTLET_ROOM;
}

/* Executes the first record of the shared wheel. False: it has to wait for room or for an mbuf. */
static bool shared_execute(struct engine *engine, struct held *held, uint32_t *left)
{
	struct cloud *cloud = engine->roster->slots[held->cloud];
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
	if (outlet_full(engine, cloud))
		return false;
	mbuf = hold_mbuf(&engine->holder, held);
	if (unlikely(!mbuf))
		return false;
	leave(engine, cloud, mbuf, held->wire_bytes, now);
	wheel_pop(engine->wheel);
	cloud->line.held--;
	(*left)++;
	return true;
}

/* Of the shared clouds that still have packets in a line of their own, the one whose are due first;
 * NULL: none is due. */
static struct cloud *leftover_first(struct engine *engine, simtime now)
{
	const struct roster *roster = engine->roster;
	struct cloud *first = NULL;

	engine->leftovers = false;
	for (uint32_t i = 0; i < roster->n_slots; i++) {
		struct cloud *cloud = roster->slots[i];

		if (!cloud || !cloud->line.shared || line_is_empty(&cloud->line))
			continue;
		engine->leftovers = true;
		if (line_next(&cloud->line) <= now &&
		    (!first || line_next(&cloud->line) < line_next(&first->line)))
			first = cloud;
	}
	return first;
}

/* One packet of a leftover. False: it has to wait. */
static bool leftover_execute(struct engine *engine, struct cloud *cloud, simtime now,
                             uint32_t *left)
{
	struct rte_mbuf *mbuf;
	uint64_t bytes = 0;
	simtime due;

	if (outlet_full(engine, cloud))
		return false;
	if (line_pop(&cloud->line, &engine->holder, now, &mbuf, &due, 1, &bytes) == 0)
		return false;
	leave(engine, cloud, mbuf, bytes, due);
	(*left)++;
	return true;
}

/* In the order of time, one event after the other: an event may bring another. */
static uint32_t shared_advance(struct engine *engine, simtime now)
{
	uint32_t left = 0;

	if (unlikely(engine->starved))
		feed_starved(engine);
	for (;;) {
		struct cloud *leftover =
		        unlikely(engine->leftovers) ? leftover_first(engine, now) : NULL;
		struct held *held = wheel_front(engine->wheel, now);

		if (leftover && held && held->t_ns < line_next(&leftover->line))
			leftover = NULL;
		if (leftover) {
			if (!leftover_execute(engine, leftover, held ? held->t_ns : now, &left))
				return left;
		} else if (!held || !shared_execute(engine, held, &left)) {
			return left;
		}
	}
}

/* ---- clouds that are alone at their port ---- */

static uint32_t direct_advance(struct engine *engine, struct cloud *cloud, simtime now)
{
	struct outlet *outlet = &engine->ports[cloud->to_port].outlet;
	uint64_t bytes = 0;
	uint32_t n;

	cloud_advance_link(cloud, now);
	n = line_pop(&cloud->line, &engine->holder, now, &outlet->mbufs[outlet->n],
	             &outlet->due_ns[outlet->n], OUTLET_ROOM - outlet->n, &bytes);
	outlet->n += n;
	cloud->counters.tx_packets += n;
	cloud->counters.tx_bytes += bytes;
	return n;
}

uint32_t engine_advance(struct engine *engine, simtime now)
{
	const struct roster *roster = engine->roster;
	uint32_t left = 0;

	for (uint32_t i = 0; i < roster->n_direct; i++)
		left += direct_advance(engine, roster->direct[i], now);
	if (engine->wheel)
		left += shared_advance(engine, now);
	return left;
}

simtime engine_next(const struct engine *engine)
{
	const struct roster *roster = engine->roster;
	simtime next = SIMTIME_NEVER;

	for (uint32_t i = 0; i < roster->n_direct; i++) {
		next = simtime_min(next, roster->direct[i]->link.departure);
		next = simtime_min(next, line_next(&roster->direct[i]->line));
	}
	if (engine->wheel)
		next = simtime_min(next, wheel_next(engine->wheel));
	if (unlikely(engine->leftovers)) {
		for (uint32_t i = 0; i < roster->n_slots; i++) {
			if (roster->slots[i] && roster->slots[i]->line.shared)
				next = simtime_min(next, line_next(&roster->slots[i]->line));
		}
	}
	return next;
}

/* ---- ingress ---- */

static void no_cloud(struct engine_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	port->no_cloud += n;
	rte_pktmbuf_free_bulk(mbufs, n);
}

void engine_ingress(struct engine *engine, uint32_t port, struct rte_mbuf **mbufs, uint16_t n)
{
	struct cloud *cloud = engine->roster->ingress[port];

	if (unlikely(!cloud)) {
		no_cloud(&engine->ports[port], mbufs, n);
	} else if (!cloud->line.shared) {
		cloud_arrive(cloud, mbufs, n);
	} else {
		/* What happens before each packet comes first: another cloud may have to do with
		 * it, and a burst must not differ from single packets. */
		for (uint16_t i = 0; i < n; i++) {
			shared_advance(engine, packet_of(mbufs[i])->t_ns);
			cloud_arrive(cloud, &mbufs[i], 1);
			link_arm(engine, cloud);
		}
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
		engine->ports[port].numbered += n;
		cloud_arrive_plain(cloud, mbufs, n, now);
		return;
	}
	stamp(&engine->ports[port], port, mbufs, n, now);
	engine_ingress(engine, port, mbufs, n);
}

struct outlet *engine_outlet(struct engine *engine, uint32_t port)
{
	return &engine->ports[port].outlet;
}

/* ---- what others may read ---- */

uint64_t engine_held_packets(const struct engine *engine)
{
	const struct roster *roster = engine->roster;
	uint64_t held = 0;

	for (uint32_t i = 0; i < roster->n_slots; i++) {
		if (roster->slots[i])
			held += cloud_held(roster->slots[i]);
	}
	return held;
}

uint64_t engine_memory_used(const struct engine *engine)
{
	return engine->holder.arena.used_chunks * CHUNK_BYTES;
}

uint64_t engine_no_cloud(const struct engine *engine, uint32_t port)
{
	return engine->ports[port].no_cloud;
}

bool engine_report(const struct engine *engine, const char *name, struct cloud_report *report)
{
	const struct roster *roster = engine->roster;

	for (uint32_t i = 0; i < roster->n_slots; i++) {
		const struct cloud *cloud = roster->slots[i];

		if (!cloud || cloud->closing || strcmp(cloud->name, name) != 0)
			continue;
		report->counters = cloud->counters;
		report->delay_ns = cloud->delay_ns;
		report->held_packets = cloud_held(cloud);
		report->queue_packets = link_queue_packets(&cloud->link);
		report->queue_bytes = link_queue_bytes(&cloud->link);
		report->queue_average_bytes = (double)report->queue_bytes;
		return true;
	}
	return false;
}

void engine_clear(struct engine *engine)
{
	const struct roster *roster = engine->roster;

	for (uint32_t i = 0; i < roster->n_slots; i++) {
		struct cloud *cloud = roster->slots[i];

		if (!cloud)
			continue;
		memset(&cloud->counters, 0, sizeof(cloud->counters));
		cloud->counters.rx_packets = cloud_held(cloud);
		histogram_clear(&cloud->delay_ns);
	}
	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++)
		engine->ports[i].no_cloud = 0;
}

uint64_t engine_packet_cost(uint32_t frame_bytes)
{
	if (frame_bytes <= HOLD_COPY_BYTES_DEFAULT)
		return held_bytes(frame_bytes);
	return held_bytes(sizeof(struct rte_mbuf *)) + sizeof(struct rte_mbuf) +
	       PACKET_PRIVATE_BYTES + RTE_MBUF_DEFAULT_BUF_SIZE;
}
