/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

static void head_schedule(struct link *link)
{
	uint32_t bytes;

	if (link->queue.records == 0) {
		link->departure = SIMTIME_NEVER;
		link->sending = false;
		link->sending_bytes = 0;
		return;
	}
	bytes = log_front(&link->queue)->wire_bytes;
	link->departure = shaper_departure(&link->shaper, bytes);
	link->sending = link->shaper.depth_work == 0;
	link->sending_bytes = link->sending ? bytes : 0;
}

bool link_has_room(const struct link *link, uint32_t wire_bytes)
{
	/* What finds the link idle is sent, not queued. */
	if (link->queue.records == 0)
		return true;
	switch ((enum limit_unit)link->conf.limit.unit) {
	case LIMIT_BYTES:
		return link_queue_bytes(link) + wire_bytes <= link->conf.limit.value;
	case LIMIT_PACKETS:
		return link_queue_packets(link) + 1 <= link->conf.limit.value;
	case LIMIT_TIME: {
		unsigned __int128 work =
		        (unsigned __int128)(link_queue_bytes(link) + wire_bytes) * 8 * SIMTIME_S;

		return work <= (unsigned __int128)link->conf.limit.value * link->shaper.rate_bps;
	}
	case LIMIT_NONE:
		break;
	}
	return true;
}

void link_configure(struct link *link, const struct link_conf *conf, simtime now)
{
	struct shaper *shaper = &link->shaper;

	if (link->queue.records)
		shaper_catch_up(shaper, now);
	else
		shaper_idle_until(shaper, now);
	shaper->rate_bps = conf->rate_bps;
	shaper->depth_work = conf->depth_work;
	link->conf = *conf;
	head_schedule(link);
}

struct held *link_append(struct link *link, struct arena *arena, uint32_t stored_bytes)
{
	return log_append(&link->queue, arena, stored_bytes);
}

void link_arrived(struct link *link, const struct held *held, simtime now)
{
	link->held_bytes += held->wire_bytes;
	if (link->queue.records == 1) {
		shaper_idle_until(&link->shaper, now);
		head_schedule(link);
	}
}

void link_depart(struct link *link, struct arena *arena)
{
	uint32_t bytes = log_front(&link->queue)->wire_bytes;

	shaper_depart(&link->shaper, link->departure, bytes);
	link->held_bytes -= bytes;
	log_pop(&link->queue, arena);
	head_schedule(link);
}
