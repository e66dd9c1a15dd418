/* SPDX-License-Identifier: BSD-3-Clause */
#include "line.h"

#include <rte_prefetch.h>

/* The wheel that a packet entering now goes to; NULL: the log. */
static struct wheel *wheel_for(const struct line *line)
{
	if (line->shared)
		return line->shared;
	return line->conf.allow_overtaking ? line->wheel : NULL;
}

bool line_push(struct line *line, struct holder *holder, struct rte_mbuf *mbuf, uint32_t wire_bytes,
               uint8_t flags, simtime due)
{
	bool copied = hold_copies(holder, mbuf);
	uint32_t stored = hold_stored_bytes(copied, mbuf);
	struct wheel *wheel = wheel_for(line);
	struct held *held = wheel ? wheel_append(wheel, due, stored)
	                          : log_append(&line->log, &holder->arena, stored);

	if (unlikely(!held))
		return false;
	held->t_ns = due;
	held->cloud = line->cloud;
	hold_fill(holder, held, copied, mbuf, wire_bytes);
	held->flags |= flags;
	if (wheel)
		wheel_insert(wheel, held);
	line->held++;
	return true;
}

bool line_push_held(struct line *line, struct holder *holder, const struct held *from, simtime due)
{
	struct wheel *wheel = wheel_for(line);
	struct held *held = wheel ? wheel_append(wheel, due, from->stored_bytes)
	                          : log_append(&line->log, &holder->arena, from->stored_bytes);

	if (unlikely(!held))
		return false;
	held->t_ns = due;
	held->wire_bytes = from->wire_bytes;
	held->stored_bytes = from->stored_bytes;
	held->flags = from->flags;
	held->cloud = line->cloud;
	hold_copy(held->data, from->data, from->stored_bytes);
	if (wheel)
		wheel_insert(wheel, held);
	line->held++;
	return true;
}

/* The common case: one log. Records are in sequence, so the processor fetches them ahead, but for
 * the jump to another chunk. */
static uint32_t log_pop_due(struct line *line, struct holder *holder, simtime now,
                            struct rte_mbuf **mbufs, simtime *due_ns, uint32_t room)
{
	struct log *log = &line->log;
	struct rte_mbuf *fresh[BURST_MAX];
	uint32_t n = 0, used = 0, got = 0;

	while (n < room && log->records) {
		const struct held *held = log_front(log);

		if (held->t_ns > now)
			break;
		if (!(held->flags & HELD_MBUF) && used == got) {
			got = RTE_MIN(room - n, (uint32_t)BURST_MAX);
			used = 0;
			if (rte_mempool_get_bulk(holder->pool, (void **)fresh, got)) {
				got = 0;
				break;
			}
		}
		due_ns[n] = held->t_ns;
		mbufs[n++] = hold_mbuf(held, held->flags & HELD_MBUF ? NULL : fresh[used++]);
		rte_prefetch0((const uint8_t *)held + 1024);
		log_pop(log, &holder->arena);
	}
	if (used < got)
		rte_mempool_put_bulk(holder->pool, (void **)&fresh[used], got - used);
	line->held -= n;
	return n;
}

static bool wheel_is_next(struct line *line, simtime now)
{
	const struct held *first = wheel_front(line->wheel, now);

	if (!first)
		return false;
	return line->log.records == 0 || first->t_ns < log_front(&line->log)->t_ns;
}

uint32_t line_pop(struct line *line, struct holder *holder, simtime now, struct rte_mbuf **mbufs,
                  simtime *due_ns, uint32_t room)
{
	uint32_t n = 0;

	if (!line->wheel || line->wheel->records == 0)
		return log_pop_due(line, holder, now, mbufs, due_ns, room);
	while (n < room) {
		struct rte_mbuf *fresh = NULL;
		const struct held *held;

		if (!wheel_is_next(line, now)) {
			if (line->log.records == 0 ||
			    log_pop_due(line, holder, now, &mbufs[n], &due_ns[n], 1) == 0)
				break;
			n++;
			continue;
		}
		held = wheel_front(line->wheel, now);
		if (!(held->flags & HELD_MBUF) &&
		    rte_mempool_get(holder->pool, (void **)&fresh) != 0)
			break;
		due_ns[n] = held->t_ns;
		mbufs[n++] = hold_mbuf(held, fresh);
		wheel_pop(line->wheel);
		line->held--;
	}
	return n;
}

uint64_t line_clear(struct line *line, struct holder *holder)
{
	uint64_t cleared = 0;

	while (line->log.records) {
		const struct held *held = log_front(&line->log);

		if (held->flags & HELD_MBUF)
			rte_pktmbuf_free(held_mbuf(held));
		log_pop(&line->log, &holder->arena);
		cleared++;
	}
	log_clear(&line->log, &holder->arena);
	while (line->wheel && line->wheel->records) {
		const struct held *held = wheel_front(line->wheel, SIMTIME_NEVER - 1);

		if (held->flags & HELD_MBUF)
			rte_pktmbuf_free(held_mbuf(held));
		wheel_pop(line->wheel);
		cleared++;
	}
	line->held -= cleared;
	return cleared;
}
