/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/link.h"

#include "account/counter_read.h"
#include "holding/hold.h"
#include "link/aqm.h"
#include "link/classes.h"

void link_init(struct link *link)
{
	link->departure = SIMTIME_NEVER;
	link->plain = true;
	link->from = &link->queue;
	link->conf.overhead = OVERHEAD_NONE;
}

/* ---- a queue ---- */

int queue_compare(const struct limit *limit, uint64_t rate_bps, uint64_t packets, uint64_t bytes)
{
	unsigned __int128 amount = bytes, most = limit->value;

	switch ((enum limit_unit)limit->unit) {
	case LIMIT_BYTES:
		break;
	case LIMIT_PACKETS:
		amount = packets;
		break;
	case LIMIT_TIME:
		amount *= 8 * SIMTIME_S;
		most *= rate_bps;
		break;
	case LIMIT_NONE:
		return -1;
	}
	return (amount > most) - (amount < most);
}

static const struct aqm_bands *bands_of(const struct queue *queue)
{
	return queue->aqm ? queue->aqm->kind->bands : NULL;
}

struct log *queue_log(const struct queue *queue, uint32_t i)
{
	if (i == 0)
		return (struct log *)(uintptr_t)&queue->log;
	return bands_of(queue) ? bands_of(queue)->at(queue->aqm, i - 1) : NULL;
}

void queue_gather(struct queue *queue, struct arena *arena)
{
	struct log *band;

	for (uint32_t i = 1; (band = queue_log(queue, i)); i++) {
		if (band->records)
			log_join(&queue->log, band, arena);
	}
	if (bands_of(queue))
		bands_of(queue)->emptied(queue->aqm);
}

/* ---- sums over all queues ---- */

struct queue *link_queue_at(const struct link *link, uint32_t i)
{
	if (likely(!link->classes))
		return i == 0 ? (struct queue *)(uintptr_t)&link->queue : NULL;
	return classes_queue(link->classes, i);
}

READS_WHILE_IT_RUNS uint64_t link_held_packets(const struct link *link)
{
	const struct queue *queue;
	uint64_t held = 0;

	for (uint32_t i = 0; (queue = link_queue_at(link, i)); i++)
		held += __atomic_load_n(&queue->held_packets, __ATOMIC_ACQUIRE);
	return held;
}

uint64_t link_queue_packets_of_all(const struct link *link)
{
	const struct queue *queue;
	uint64_t packets = 0;

	for (uint32_t i = 0; (queue = link_queue_at(link, i)); i++)
		packets += queue_packets(queue);
	return packets;
}

uint64_t link_queue_bytes(const struct link *link)
{
	const struct queue *queue;
	uint64_t bytes = 0;

	for (uint32_t i = 0; (queue = link_queue_at(link, i)); i++)
		bytes += queue_bytes(queue);
	return bytes;
}

/* ---- opportunities ---- */

static simtime opportunity_of(const struct link *link, uint64_t k)
{
	return opportunity_at(link->conf.opportunities, link->conf.opportunities_from, k);
}

static uint64_t opportunities_until(const struct link *link, simtime now)
{
	return opportunity_after(link->conf.opportunities, link->conf.opportunities_from, now);
}

/* Returns how many bytes of opportunities a packet takes. */
static uint32_t cursor_length(const struct link *link, uint32_t wire_bytes)
{
	if (link->conf.overhead.given)
		return link_length(link, wire_bytes);
	return opportunity_bytes(wire_bytes);
}

/* Returns the instant of the opportunity that takes the last byte of the head. */
static simtime cursor_ready(struct link *link, uint32_t wire_bytes)
{
	struct opportunity_cursor *cursor = &link->cursor;
	uint32_t need = cursor_length(link, wire_bytes) - cursor->served;

	cursor->taken = 0;
	if (need > cursor->left)
		cursor->taken = (uint32_t)(((uint64_t)need - cursor->left + OPPORTUNITY_BYTES - 1) /
		                           OPPORTUNITY_BYTES);
	return cursor->taken ? opportunity_of(link, cursor->next + cursor->taken - 1) : cursor->at;
}

/* Accounts for the head, which has been sent. */
static void cursor_advance(struct link *link, uint32_t wire_bytes)
{
	struct opportunity_cursor *cursor = &link->cursor;

	cursor->left += cursor->taken * OPPORTUNITY_BYTES -
	                (cursor_length(link, wire_bytes) - cursor->served);
	cursor->next += cursor->taken;
	cursor->at = link->ready;
	cursor->served = 0;
	link->shaper.at = link->ready;
}

/* Discards the rest of the opportunity, and all opportunities up to `now`. */
static void cursor_set(struct link *link, simtime now)
{
	struct opportunity_cursor *cursor = &link->cursor;

	cursor->left = 0;
	cursor->at = now;
	if (opportunity_of(link, cursor->next) > now &&
	    (cursor->next == 0 || opportunity_of(link, cursor->next - 1) <= now))
		return;
	cursor->next = opportunities_until(link, now);
}

/* ---- the head ---- */

static void head_count(struct link *link, uint32_t length)
{
	struct queue *queue = link->from;

	queue->sending =
	        link->shaper.depth_work == 0 && !link->conf.slots.on && !link->conf.opportunities;
	queue->sending_bytes = queue->sending ? length : 0;
}

/* Computes when the head is ready, and when it leaves; SIMTIME_NEVER: not known yet. */
static void head_schedule(struct link *link, uint32_t wire_bytes)
{
	uint32_t length = link_length(link, wire_bytes);

	if (unlikely(link->conf.stopped))
		link->ready = SIMTIME_NEVER;
	else if (link->conf.opportunities)
		link->ready = cursor_ready(link, wire_bytes);
	else
		link->ready = shaper_departure(&link->shaper, length);
	if (!link->conf.slots.on)
		link->slotted = false;
	link->departure = link->ready;
	if (!link->conf.slots.on || link->ready == SIMTIME_NEVER)
		return;
	link->departure =
	        link->slotted ? simtime_max(link->ready, link->slots.opens)
	                      : slots_take(&link->slots, &link->conf.slots, link->ready, length);
	link->slotted = true;
}

void link_idle_slow(struct link *link, simtime now)
{
	if (link->conf.stopped)
		link->shaper.at = now;
	else if (link->conf.opportunities)
		cursor_set(link, now);
	else
		shaper_idle_until(&link->shaper, now);
}

/* Schedules a new head. With slots, the shaper may have been idle before: it may have finished the
 * packet before while that still waited for its slot. */
static void head_begin(struct link *link, const struct held *head)
{
	/* A packet that comes at the instant of an opportunity is too late for its rest. */
	bool late = link->conf.opportunities ? head->t_ns >= link->cursor.at
	                                     : head->t_ns > link->shaper.at;

	if (link->conf.slots.on && late)
		link_idle_until(link, head->t_ns);
	head_schedule(link, head->wire_bytes);
}

void link_take_slow(struct link *link, struct queue *queue)
{
	const struct held *head = log_front(&queue->log);

	link->from = queue;
	link->busy = true;
	head_begin(link, head);
	head_count(link, link_length(link, head->wire_bytes));
}

void link_depart_slow(struct link *link, struct arena *arena)
{
	struct queue *queue = link->from;
	uint32_t wire_bytes = link_head(link)->wire_bytes;
	uint32_t length = link_length(link, wire_bytes);

	if (link->conf.opportunities)
		cursor_advance(link, wire_bytes);
	else
		shaper_depart(&link->shaper, link->ready, length);
	link_let_go(link, queue);
	queue_pop(queue, link->taken.records ? &link->taken : &queue->log, arena, length);
}

bool link_at_rest(struct link *link, simtime now)
{
	if (link->busy)
		return false;
	link_idle_until(link, now);
	return link->shaper.debt_work == 0;
}

/* Moves the head out of the log of its queue. Returns false if there is no memory. */
static bool head_lift(struct link *link, struct arena *arena)
{
	struct log *log = &link->from->log;
	const struct held *from = log_front(log);
	struct held *to = log_append(&link->taken, arena, from->stored_bytes);

	if (unlikely(!to))
		return false;
	to->t_ns = from->t_ns;
	hold_record(to, from);
	log_pop(log, arena);
	return true;
}

bool link_oldest(struct link *link, const struct queue *queue, struct arena *arena,
                 struct held **oldest)
{
	bool head_is_here = link->busy && link->from == queue && link->taken.records == 0;

	*oldest = NULL;
	if (queue->log.records == head_is_here)
		return true;
	if (head_is_here && !head_lift(link, arena))
		return false;
	*oldest = log_front(&queue->log);
	return true;
}

/* ---- changes ---- */

/* Counts the held bytes again, after the overhead has changed. The cost is proportional to the
 * queue, which a change may be. */
static void queue_count(struct queue *queue, const struct link *link)
{
	const struct held *held;
	const struct log *log;

	queue->held_bytes = 0;
	for (uint32_t i = 0; (log = queue_log(queue, i)); i++) {
		struct log_walk walk = log_walk(log);

		while ((held = log_walk_next(&walk)))
			queue->held_bytes += link_length(link, held->wire_bytes);
	}
	if (link->from == queue && link->taken.records)
		queue->held_bytes += link_length(link, log_front(&link->taken)->wire_bytes);
}

/* Returns how many bytes of the head have been sent by now. The shaper is at `now` already. */
static uint64_t head_served(const struct link *link, simtime now)
{
	const struct opportunity_cursor *cursor = &link->cursor;

	if (!link->busy)
		return 0;
	if (link->conf.opportunities)
		return cursor->served + cursor->left +
		       (opportunities_until(link, now) - cursor->next) * OPPORTUNITY_BYTES;
	if (link->shaper.depth_work != 0 || link->shaper.debt_work >= 0)
		return 0;
	return (uint64_t)(-link->shaper.debt_work / SHAPER_WORK_PER_BYTE);
}

/* Carries over the bytes of the head that have been sent, from a rate to opportunities, back, or to
 * other opportunities. If the head is not through, at least one byte is still to be sent, however
 * lengths are counted there. */
static void served_carry(struct link *link, uint64_t served, bool through, simtime now)
{
	bool to_opportunities = link->conf.opportunities != NULL;
	uint32_t wire_bytes, length;

	if (to_opportunities) {
		cursor_set(link, now);
		link->cursor.served = 0;
	}
	link->shaper.debt_work = 0;
	if (!link->busy)
		return;
	wire_bytes = link_head(link)->wire_bytes;
	length = to_opportunities ? cursor_length(link, wire_bytes) : link_length(link, wire_bytes);
	if (length > 0 && !through)
		length--;
	served = through ? length : RTE_MIN(served, length);
	if (to_opportunities)
		link->cursor.served = (uint32_t)served;
	else
		link->shaper.debt_work = -(int64_t)served * SHAPER_WORK_PER_BYTE;
}

/* Advances the shaper to `now`. */
static void link_catch_up(struct link *link, simtime now)
{
	if (link->conf.stopped || link->conf.opportunities)
		link->shaper.at = now;
	else if (link->busy)
		shaper_catch_up(&link->shaper, now);
	else
		shaper_idle_until(&link->shaper, now);
}

void link_configure(struct link *link, const struct link_conf *conf, simtime now)
{
	struct shaper *shaper = &link->shaper;
	bool recount = !overhead_is_same(&link->conf.overhead, &conf->overhead);
	bool carry = link->conf.opportunities || conf->opportunities;
	bool through = link->busy && link->ready <= now;
	/* The head is through, and waits for its slot. What the shaper has done since then, it has
	 * done for a packet behind the head, which may have come later: head_begin counts it, at
	 * the rate that is in force then. */
	bool waits = through && conf->slots.on && !carry && !link->conf.stopped && !conf->stopped;
	uint64_t served = 0;
	struct queue *queue;

	link_catch_up(link, waits ? link->ready : now);
	if (carry)
		served = head_served(link, now);
	shaper->rate_bps = conf->rate_bps;
	shaper->depth_work = conf->depth_work;
	link->conf = *conf;
	link->plain = !conf->slots.on && !conf->opportunities && !conf->stopped;
	if (carry)
		served_carry(link, served, through, now);
	link->queue.limit = conf->limit;
	link->queue.drop_head = conf->drop_head;
	for (uint32_t i = 0; recount && (queue = link_queue_at(link, i)); i++)
		queue_count(queue, link);
	if (!link->busy)
		return;
	head_schedule(link, link_head(link)->wire_bytes);
	head_count(link, link_length(link, link_head(link)->wire_bytes));
}

uint64_t link_clear(struct link *link, struct holder *holder)
{
	uint64_t n = hold_drop_all(holder, &link->taken);
	struct queue *queue;

	for (uint32_t i = 0; (queue = link_queue_at(link, i)); i++) {
		queue_gather(queue, &holder->arena);
		n += hold_drop_all(holder, &queue->log);
		queue->held_packets = 0;
		queue->held_bytes = 0;
		queue->sending = 0;
		queue->sending_bytes = 0;
	}
	link->busy = false;
	link->slotted = false;
	link->departure = SIMTIME_NEVER;
	return n;
}
