/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of shared clouds that find their outlet full: they leave their clouds at their instants
 * all the same, and wait behind the outlet. Were they to wait in their clouds, those of all others
 * on the wheel would wait with them, and a packet that comes in meanwhile would find clouds in a
 * state that depends on how fast a device takes packets.
 *
 * As long as some wait at a port, its outlet is full whenever the engine executes something: so
 * nothing passes them, and the usual way out need not ask. Where a driver makes room in the middle
 * of a call, they leave first.
 */
#include "engine/engine_state.h"

bool engine_port_full(struct engine *engine, uint32_t port)
{
	struct log *late = &engine->ports[port].late;
	const uint32_t stored_most =
	        RTE_MAX(engine->holder.copy_bytes_max, (uint32_t)sizeof(struct rte_mbuf *));
	bool full = engine_outlet_full(engine, port);

	if (unlikely(!full && late->records > 0)) {
		if (!engine_late_leave(engine))
			return true;
		full = engine->ports[port].outlet.n == OUTLET_ROOM;
	}
	return unlikely(full) && (size_t)(late->limit - late->write) < held_bytes(stored_most) &&
	       !log_extend(late, &engine->holder.arena);
}

void engine_late_put(struct engine *engine, uint32_t port, struct rte_mbuf *mbuf,
                     const struct held *head, bool named)
{
	struct holder *holder = &engine->holder;
	/* A name lies in the mbuf. A frame that is not copied was held in its mbuf before. */
	const bool copied =
	        hold_copies(holder, mbuf) && (!named || holder->kept >= holder->kept_max);
	struct held *held = log_append(&engine->ports[port].late, &holder->arena,
	                               copied ? mbuf->data_len : (uint32_t)sizeof(mbuf));

	*held = (struct held){.t_ns = head->t_ns,
	                      .wire_bytes = head->wire_bytes,
	                      .flags = !copied && named ? HELD_NAMED : 0};
	hold_store(holder, held, copied, mbuf);
	engine->late++;
}

/* What is due earlier on a line that ends there, or at the same instant, goes first. False: it, or
 * the late one, has to wait. */
static bool leaves(struct engine *engine, struct engine_port *port, struct cloud *own)
{
	const struct held *held = log_front(&port->late);
	struct rte_mbuf *mbuf;

	if (own) {
		engine_advance_own(engine, own, held->t_ns);
		if (line_first(&own->line, held->t_ns) <= held->t_ns)
			return false;
	}
	if (engine_outlet_full(engine, (uint32_t)(port - engine->ports)))
		return false;
	mbuf = hold_mbuf(&engine->holder, held);
	if (unlikely(!mbuf))
		return false;
	outlet_put(&port->outlet, mbuf, held->t_ns, held->wire_bytes);
	if (unlikely(held->flags & HELD_NAMED))
		outlet_name(&port->outlet);
	log_pop(&port->late, &engine->holder.arena);
	engine->late--;
	engine->left++;
	return true;
}

bool engine_late_leave(struct engine *engine)
{
	bool in_order = true;

	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX && engine->late; i++) {
		struct engine_port *port = &engine->ports[i];

		while (port->late.records && leaves(engine, port, engine->cloud_table->own_at[i]))
			;
		in_order &= port->late.records == 0 || port->outlet.n == OUTLET_ROOM;
	}
	return in_order;
}

simtime engine_late_next(const struct engine *engine)
{
	simtime next = SIMTIME_NEVER;

	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++) {
		if (engine->ports[i].late.records)
			next = simtime_min(next, log_front(&engine->ports[i].late)->t_ns);
	}
	return next;
}

uint64_t engine_late(const struct engine *engine, uint32_t port)
{
	return engine->ports[port].late.records;
}

void engine_late_drop(struct engine *engine)
{
	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++)
		hold_drop_all(&engine->holder, &engine->ports[i].late);
	engine->late = 0;
}
