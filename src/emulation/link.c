/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

#include "classes.h"
#include "hold.h"

void link_init(struct link *link)
{
	link->departure = SIMTIME_NEVER;
	link->from = &link->queue;
	link->conf.overhead = OVERHEAD_NONE;
}

/* ---- of all its queues ---- */

static struct queue *queue_at(const struct link *link, uint32_t i)
{
	if (likely(!link->classes))
		return i == 0 ? (struct queue *)(uintptr_t)&link->queue : NULL;
	return classes_queue(link->classes, i);
}

uint64_t link_held_packets(const struct link *link)
{
	const struct queue *queue;
	uint64_t held = 0;

	for (uint32_t i = 0; (queue = queue_at(link, i)); i++)
		held += __atomic_load_n(&queue->held_packets, __ATOMIC_ACQUIRE);
	return held;
}

uint64_t link_queue_packets(const struct link *link)
{
	const struct queue *queue;
	uint64_t packets = 0;

	for (uint32_t i = 0; (queue = queue_at(link, i)); i++)
		packets += queue_packets(queue);
	return packets;
}

uint64_t link_queue_bytes(const struct link *link)
{
	const struct queue *queue;
	uint64_t bytes = 0;

	for (uint32_t i = 0; (queue = queue_at(link, i)); i++)
		bytes += queue_bytes(queue);
	return bytes;
}

/* ---- the head ---- */

static void head_count(struct link *link, uint32_t length)
{
	struct queue *queue = link->from;

	queue->sending = link->shaper.depth_work == 0 && !link->conf.slots.on;
	queue->sending_bytes = queue->sending ? length : 0;
}

/* The shaper may have been through with the one before while that waited for its slot. */
static __attribute__((noinline)) void head_take_slot(struct link *link, simtime came,
                                                     uint32_t length)
{
	if (came > link->shaper.at)
		shaper_idle_until(&link->shaper, came);
	link->ready = shaper_departure(&link->shaper, length);
	link->departure = slots_take(&link->slots, &link->conf.slots, link->ready, length);
}

/* Of a queue that drops its head. Without memory it stays at the front, and nothing is pushed out
 * until it has left. */
static __attribute__((noinline)) void head_lift(struct link *link, struct queue *queue,
                                                struct arena *arena)
{
	const struct held *from = log_front(&queue->log);
	struct held *to = log_append(&link->taken, arena, from->stored_bytes);

	if (unlikely(!to))
		return;
	to->t_ns = from->t_ns;
	to->cloud = from->cloud;
	hold_record(to, from);
	log_pop(&queue->log, arena);
}

void link_take(struct link *link, struct queue *queue, struct arena *arena)
{
	const struct held *head;
	uint32_t length;

	if (!queue) {
		link->departure = SIMTIME_NEVER;
		return;
	}
	link->from = queue;
	head = log_front(&queue->log);
	length = link_length(link, head->wire_bytes);
	if (unlikely(link->conf.slots.on)) {
		head_take_slot(link, head->t_ns, length);
	} else {
		link->departure = shaper_departure(&link->shaper, length);
		link->ready = link->departure;
	}
	head_count(link, length);
	if (unlikely(queue->drop_head))
		head_lift(link, queue, arena);
}

bool link_arrived(struct link *link, struct queue *queue, const struct held *held, simtime now)
{
	queue->held_packets++;
	queue->held_bytes += link_length(link, held->wire_bytes);
	if (link_busy(link))
		return false;
	shaper_idle_until(&link->shaper, now);
	return true;
}

void link_depart(struct link *link, struct arena *arena)
{
	struct queue *queue = link->from;
	uint32_t length = link_length(link, link_head(link)->wire_bytes);

	shaper_depart(&link->shaper, link->ready, length);
	queue->sending = 0;
	queue->sending_bytes = 0;
	if (unlikely(link->taken.records != 0)) {
		log_pop(&link->taken, arena);
		queue->held_packets--;
		queue->held_bytes -= length;
	} else {
		queue_pop(queue, arena, length);
	}
}

struct held *link_oldest(const struct link *link, const struct queue *queue)
{
	if (queue->log.records == 0 ||
	    (link_busy(link) && link->from == queue && link->taken.records == 0))
		return NULL;
	return log_front(&queue->log);
}

/* ---- changes ---- */

/* Anew, when lengths are counted in another way. As long as the queue: a change may be. */
static void queue_count(struct queue *queue, const struct link *link)
{
	struct log_walk walk;
	const struct held *held;

	queue->held_bytes = 0;
	for (held = log_walk_first(&walk, &queue->log); held; held = log_walk_next(&walk))
		queue->held_bytes += link_length(link, held->wire_bytes);
	if (link->from == queue && link->taken.records)
		queue->held_bytes += link_length(link, log_front(&link->taken)->wire_bytes);
}

static void head_configure(struct link *link, bool had_slot)
{
	uint32_t length = link_length(link, link_head(link)->wire_bytes);

	link->ready = shaper_departure(&link->shaper, length);
	if (!link->conf.slots.on)
		link->departure = link->ready;
	else if (had_slot)
		link->departure = simtime_max(link->ready, link->slots.opens);
	else
		link->departure = slots_take(&link->slots, &link->conf.slots, link->ready, length);
	head_count(link, length);
}

void link_configure(struct link *link, const struct link_conf *conf, simtime now)
{
	struct shaper *shaper = &link->shaper;
	bool had_slot = link->conf.slots.on;
	bool recount = memcmp(&link->conf.overhead, &conf->overhead, sizeof(conf->overhead)) != 0;
	struct queue *queue;

	if (link_busy(link))
		shaper_catch_up(shaper, now);
	else
		shaper_idle_until(shaper, now);
	shaper->rate_bps = conf->rate_bps;
	shaper->depth_work = conf->depth_work;
	link->conf = *conf;
	link->queue.limit = conf->limit;
	link->queue.drop_head = conf->drop_head;
	for (uint32_t i = 0; recount && (queue = queue_at(link, i)); i++)
		queue_count(queue, link);
	if (link_busy(link))
		head_configure(link, had_slot);
}

static uint64_t log_drop(struct log *log, struct holder *holder)
{
	uint64_t n = log->records;

	while (log->records) {
		hold_drop(holder, log_front(log));
		log_pop(log, &holder->arena);
	}
	log_clear(log, &holder->arena);
	return n;
}

uint64_t link_clear(struct link *link, struct holder *holder)
{
	uint64_t n = log_drop(&link->taken, holder);
	struct queue *queue;

	for (uint32_t i = 0; (queue = queue_at(link, i)); i++) {
		n += log_drop(&queue->log, holder);
		queue->held_packets = 0;
		queue->held_bytes = 0;
		queue->sending = 0;
		queue->sending_bytes = 0;
	}
	link->departure = SIMTIME_NEVER;
	return n;
}
