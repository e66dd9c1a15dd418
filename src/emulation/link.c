/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

static simtime opportunity_of(const struct link *link, uint64_t k)
{
	return opportunity_at(link->conf.opportunities, link->conf.opportunities_from, k);
}

/* The head leaves at the opportunity that takes its last byte. */
static void head_wait(struct link *link, uint32_t bytes)
{
	struct opportunity_cursor *cursor = &link->cursor;
	uint32_t need = opportunity_bytes(bytes) - cursor->served;

	cursor->taken = 0;
	if (need > cursor->left)
		cursor->taken = (need - cursor->left + OPPORTUNITY_BYTES - 1) / OPPORTUNITY_BYTES;
	link->departure =
	        cursor->taken ? opportunity_of(link, cursor->next + cursor->taken - 1) : cursor->at;
}

/* It leaves. */
static void head_taken(struct link *link, uint32_t bytes)
{
	struct opportunity_cursor *cursor = &link->cursor;

	cursor->left +=
	        cursor->taken * OPPORTUNITY_BYTES - (opportunity_bytes(bytes) - cursor->served);
	cursor->next += cursor->taken;
	cursor->at = link->departure;
	cursor->served = 0;
	link->shaper.at = link->departure;
}

/* What is left of an opportunity is lost, and all up to `now`. */
static void cursor_set(struct link *link, simtime now)
{
	struct opportunity_cursor *cursor = &link->cursor;

	cursor->left = 0;
	cursor->at = now;
	if (opportunity_of(link, cursor->next) > now &&
	    (cursor->next == 0 || opportunity_of(link, cursor->next - 1) <= now))
		return;
	cursor->next =
	        opportunity_after(link->conf.opportunities, link->conf.opportunities_from, now);
}

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
	if (unlikely(link->conf.opportunities != NULL)) {
		link->sending = false;
		link->sending_bytes = 0;
		head_wait(link, bytes);
		return;
	}
	link->departure = shaper_departure(&link->shaper, bytes);
	link->sending = link->shaper.depth_work == 0;
	link->sending_bytes = link->sending ? bytes : 0;
	if (unlikely(link->conf.stopped))
		link->departure = SIMTIME_NEVER;
}

/* The bytes of the head that have been sent by now; the shaper is there already. */
static uint32_t head_served(const struct link *link, simtime now)
{
	const struct opportunity_cursor *cursor = &link->cursor;
	uint64_t passed;

	if (link->queue.records == 0)
		return 0;
	if (!link->conf.opportunities)
		return link->shaper.depth_work == 0 && link->shaper.debt_work < 0
		               ? (uint32_t)(-link->shaper.debt_work / SHAPER_WORK_PER_BYTE)
		               : 0;
	passed = opportunity_after(link->conf.opportunities, link->conf.opportunities_from, now) -
	         cursor->next;
	return cursor->served + cursor->left + (uint32_t)passed * OPPORTUNITY_BYTES;
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

/* At least one byte of the head is still to be sent: it would have left. */
static uint32_t head_cut(const struct link *link, uint32_t served)
{
	uint32_t bytes = opportunity_bytes(log_front(&link->queue)->wire_bytes);

	return RTE_MIN(served, bytes - 1);
}

void link_configure(struct link *link, const struct link_conf *conf, simtime now)
{
	struct shaper *shaper = &link->shaper;

	const struct opportunities *before = link->conf.opportunities;
	uint32_t served = 0;

	if (link->conf.stopped || before)
		shaper->at = now;
	else if (link->queue.records)
		shaper_catch_up(shaper, now);
	else
		shaper_idle_until(shaper, now);
	if (before || conf->opportunities)
		served = head_served(link, now);
	shaper->rate_bps = conf->rate_bps;
	shaper->depth_work = conf->depth_work;
	link->conf = *conf;
	if (before)
		shaper->debt_work = -(int64_t)served * SHAPER_WORK_PER_BYTE;
	if (conf->opportunities) {
		cursor_set(link, now);
		link->cursor.served = link->queue.records ? head_cut(link, served) : 0;
		shaper->debt_work = 0;
	}
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
		if (unlikely(link->conf.opportunities != NULL))
			cursor_set(link, now);
		else if (unlikely(link->conf.stopped))
			link->shaper.at = now;
		else
			shaper_idle_until(&link->shaper, now);
		head_schedule(link);
	}
}

void link_depart(struct link *link, struct arena *arena)
{
	uint32_t bytes = log_front(&link->queue)->wire_bytes;

	if (unlikely(link->conf.opportunities != NULL))
		head_taken(link, bytes);
	else
		shaper_depart(&link->shaper, link->departure, bytes);
	link->held_bytes -= bytes;
	log_pop(&link->queue, arena);
	head_schedule(link);
}
