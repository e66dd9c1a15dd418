/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that find their outlet full, but leave their clouds at their instants all the same: they
 * wait behind the outlet. Packets of shared clouds always do so. If they waited in their clouds,
 * the packets of all other clouds on the wheel would wait with them, and a packet that arrives
 * meanwhile would find clouds in a state that depends on how fast a device accepts packets. Packets
 * that are due on a cloud's own line wait on that line, since nothing else depends on them. Before
 * a change they leave as well (engine_settle), because the change would find them there.
 *
 * As long as packets wait at a port, its outlet is full whenever the engine executes an event: so
 * no packet overtakes them, and the usual path out need not check. If a driver makes room in the
 * middle of a call, they leave first.
 */
#include "engine/cloud_tell.h"
#include "engine/engine_state.h"

static bool has_room(struct engine *engine, struct log *late)
{
	const uint32_t stored_most =
	        RTE_MAX(engine->holder.copy_bytes_max, (uint32_t)sizeof(struct rte_mbuf *));

	return (size_t)(late->limit - late->write) >= held_bytes(stored_most) ||
	       log_extend(late, &engine->holder.arena);
}

bool engine_port_full(struct engine *engine, uint32_t number)
{
	struct engine_port *port = &engine->ports[number];
	bool full = engine_outlet_full(engine, number);

	if (unlikely(!full && engine_port_late(port) > 0)) {
		if (!engine_late_leave(engine))
			return true;
		full = port->outlet.n == OUTLET_ROOM;
	}
	return unlikely(full) && !has_room(engine, &port->late);
}

static void put(struct engine *engine, struct log *late, struct rte_mbuf *mbuf,
                const struct held *head, bool named)
{
	struct holder *holder = &engine->holder;
	/* A name lies in the mbuf. If a frame cannot be copied, it was held in its mbuf before. */
	const bool copied =
	        hold_copies(holder, mbuf) && (!named || holder->kept >= holder->kept_max);
	struct held *held =
	        log_append(late, &holder->arena, copied ? mbuf->data_len : (uint32_t)sizeof(mbuf));

	*held = (struct held){.t_ns = head->t_ns,
	                      .wire_bytes = head->wire_bytes,
	                      .flags = !copied && named ? HELD_NAMED : 0};
	hold_store(holder, held, copied, mbuf);
	engine->late++;
}

void engine_late_put(struct engine *engine, uint32_t port, struct rte_mbuf *mbuf,
                     const struct held *head, bool named)
{
	put(engine, &engine->ports[port].late, mbuf, head, named);
}

static void settle_own(struct engine *engine, struct cloud *cloud, simtime now)
{
	struct engine_port *port = &engine->ports[cloud->exit->port];
	const bool told = cloud_tells(cloud, FATE_LEFT);
	struct rte_mbuf *mbuf;
	struct held head;

	if (!cloud->events && cloud_next(cloud) <= now)
		cloud_advance_link(cloud, now);
	while (line_first(&cloud->line, now) <= now) {
		if (!has_room(engine, &port->late_own))
			return;
		mbuf = line_pop_one(&cloud->line, &engine->holder, now, &head);
		if (!mbuf)
			return;
		cloud->counters.tx_packets++;
		cloud->counters.tx_bytes += head.wire_bytes;
		port->sent++;
		if (told)
			cloud_tell_left(cloud, mbuf, &head, head.t_ns);
		put(engine, &port->late_own, mbuf, &head, told);
	}
}

void engine_note_overdue(struct engine *engine, simtime now)
{
	const simtime next = engine_next_event(engine);

	if (next <= now)
		hold_lacked(&engine->holder, next);
}

void engine_settle(struct engine *engine, simtime now)
{
	const struct cloud_table *cloud_table = engine->cloud_table;

	for (uint32_t i = 0; i < cloud_table->n_own; i++)
		settle_own(engine, cloud_table->own[i], now);
	engine_note_overdue(engine, now);
}

/* Returns the log whose front leaves next at the port. First lets out what is due on the line of
 * `own`, before that front or at the same instant. Returns NULL if some of that has to wait,
 * because it goes first. */
static struct log *first(struct engine *engine, struct engine_port *port, struct cloud *own)
{
	const struct held *held = port->late.records ? log_front(&port->late) : NULL;

	if (port->late_own.records)
		return held && held->t_ns < log_front(&port->late_own)->t_ns ? &port->late
		                                                             : &port->late_own;
	if (own) {
		engine_advance_own(engine, own, held->t_ns);
		if (line_first(&own->line, held->t_ns) <= held->t_ns)
			return NULL;
	}
	return &port->late;
}

/* Lets the first packet leave. Returns false if it has to wait. */
static bool leaves(struct engine *engine, struct engine_port *port, struct cloud *own)
{
	struct log *late = first(engine, port, own);
	const struct held *held;
	struct rte_mbuf *mbuf;

	if (!late || engine_outlet_full(engine, (uint32_t)(port - engine->ports)))
		return false;
	held = log_front(late);
	mbuf = hold_mbuf(&engine->holder, held);
	if (unlikely(!mbuf))
		return false;
	outlet_put(&port->outlet, mbuf, held->t_ns, held->wire_bytes);
	if (unlikely(held->flags & HELD_NAMED))
		outlet_name(&port->outlet);
	log_pop(late, &engine->holder.arena);
	engine->late--;
	engine->left++;
	return true;
}

bool engine_late_leave(struct engine *engine)
{
	bool in_order = true;

	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX && engine->late; i++) {
		struct engine_port *port = &engine->ports[i];

		while (engine_port_late(port) &&
		       leaves(engine, port, engine->cloud_table->own_at[i]))
			;
		in_order &= engine_port_late(port) == 0 || port->outlet.n == OUTLET_ROOM;
	}
	return in_order;
}

simtime engine_late_next(const struct engine *engine)
{
	simtime next = SIMTIME_NEVER;

	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++) {
		const struct engine_port *port = &engine->ports[i];

		if (port->late.records)
			next = simtime_min(next, log_front(&port->late)->t_ns);
		if (port->late_own.records)
			next = simtime_min(next, log_front(&port->late_own)->t_ns);
	}
	return next;
}

uint64_t engine_late(const struct engine *engine, uint32_t port)
{
	return engine_port_late(&engine->ports[port]);
}

void engine_late_drop(struct engine *engine)
{
	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++) {
		hold_drop_all(&engine->holder, &engine->ports[i].late);
		hold_drop_all(&engine->holder, &engine->ports[i].late_own);
	}
	engine->late = 0;
}
