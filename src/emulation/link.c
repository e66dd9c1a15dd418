/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

void link_take(struct link *link)
{
	struct queue *queue = &link->queue;
	uint32_t bytes;

	if (queue->log.records == 0) {
		link->departure = SIMTIME_NEVER;
		queue->sending = 0;
		queue->sending_bytes = 0;
		return;
	}
	bytes = log_front(&queue->log)->wire_bytes;
	link->departure = shaper_departure(&link->shaper, bytes);
	queue->sending = link->shaper.depth_work == 0;
	queue->sending_bytes = queue->sending ? bytes : 0;
}

bool link_has_room(const struct link *link, uint32_t wire_bytes)
{
	/* What finds the link idle is sent, not queued. */
	return link->queue.log.records == 0 ||
	       queue_has_room(&link->queue, link->shaper.rate_bps, wire_bytes);
}

void link_configure(struct link *link, const struct link_conf *conf, simtime now)
{
	struct shaper *shaper = &link->shaper;

	if (link->queue.log.records)
		shaper_catch_up(shaper, now);
	else
		shaper_idle_until(shaper, now);
	shaper->rate_bps = conf->rate_bps;
	shaper->depth_work = conf->depth_work;
	link->conf = *conf;
	link->queue.limit = conf->limit;
	link_take(link);
}

struct held *link_append(struct link *link, struct arena *arena, uint32_t stored_bytes)
{
	return log_append(&link->queue.log, arena, stored_bytes);
}

bool link_arrived(struct link *link, const struct held *held, simtime now)
{
	link->queue.held_bytes += held->wire_bytes;
	if (link->queue.log.records > 1)
		return false;
	shaper_idle_until(&link->shaper, now);
	return true;
}

void link_depart(struct link *link, struct arena *arena)
{
	shaper_depart(&link->shaper, link->departure, log_front(&link->queue.log)->wire_bytes);
	queue_pop(&link->queue, arena);
	link->queue.sending = 0;
	link->queue.sending_bytes = 0;
}
