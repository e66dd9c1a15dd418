/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud_reorder.h"

#include "engine/cloud.h"

struct reorder_note {
	simtime t_in;   /* when it came to the cloud */
	simtime due;    /* its own time */
	simtime latest; /* of the packets before it */
	uint64_t until; /* the packet it lets go ahead, by the count of those that entered */
	uint64_t wait_ns;
};

/* A packet that enters: in an mbuf, or still at the head of the link. */
struct entrant {
	struct burst *burst; /* in its packet i; or NULL */
	uint16_t i;
	const struct held *held;
	struct packet packet; /* t_ns: when it came to the cloud */
};

static const struct reorder_note *note_front(const struct reorder_back *back)
{
	return (const struct reorder_note *)(const void *)log_front(&back->notes)->data;
}

static void tell(struct cloud *cloud, const struct packet *packet, simtime due)
{
	histogram_add(cloud->delay_ns, due - packet->t_ns, 1);
	if (unlikely(cloud->witness != NULL))
		cloud_tell_delivery(cloud, packet->number, packet->port, packet->flags,
		                    packet->t_ns, due);
}

static void give_due(struct cloud *cloud, simtime due, bool overtakes)
{
	struct reorder_back *back = &cloud->line.back;

	cloud->counters.reordered += overtakes;
	back->latest = simtime_max(back->latest, due);
}

/* There was no memory for it. */
static void drop(struct cloud *cloud, const struct packet *packet, const struct held *held)
{
	hold_drop(cloud->holder, held);
	cloud->counters.drops[REASON_NO_BUFFER]++;
	if (unlikely(cloud->witness != NULL))
		cloud_tell_drop(cloud, packet->number, packet->port, packet->flags, packet->t_ns,
		                REASON_NO_BUFFER);
}

static void entrant_drop(struct cloud *cloud, const struct entrant *entrant)
{
	if (entrant->burst)
		cloud_drop(cloud, entrant->burst, entrant->i, REASON_NO_BUFFER);
	else
		drop(cloud, &entrant->packet, entrant->held);
}

/* ---- what is held back ---- */

static bool entrant_store(struct cloud *cloud, const struct entrant *entrant)
{
	struct log *packets = &cloud->line.back.packets;
	struct holder *holder = cloud->holder;
	const struct held *from = entrant->held;
	struct rte_mbuf *mbuf = entrant->burst ? entrant->burst->mbuf[entrant->i] : NULL;
	bool copied = mbuf && hold_copies(holder, mbuf);
	struct held *held = log_append(packets, &holder->arena,
	                               from ? from->stored_bytes : hold_stored_bytes(copied, mbuf));

	if (unlikely(!held))
		return false;
	if (from) {
		hold_record(held, from);
	} else {
		hold_fill(holder, held, copied, mbuf, entrant->packet.wire_bytes);
		held->flags |= entrant->packet.flags;
		held->number = (uint32_t)entrant->packet.number;
	}
	held->cloud = cloud->index;
	return true;
}

/* The note comes first: it can be taken back. */
static bool hold_back(struct cloud *cloud, const struct entrant *entrant, simtime due)
{
	const struct reorder_rule *rule = &cloud->line.conf.reorder;
	struct reorder_back *back = &cloud->line.back;
	struct reorder_note note = {
	        .t_in = entrant->packet.t_ns,
	        .due = due,
	        .latest = back->latest,
	        .until = back->entered + rule->packets,
	        .wait_ns = rule->time_ns,
	};
	struct held *record = log_append(&back->notes, &cloud->holder->arena, sizeof(note));

	if (unlikely(!record))
		return false;
	record->stored_bytes = sizeof(note);
	memcpy(record->data, &note, sizeof(note));
	if (unlikely(!entrant_store(cloud, entrant))) {
		log_retract(&back->notes, held_bytes(sizeof(note)));
		if (back->notes.records == 0)
			log_clear(&back->notes, &cloud->holder->arena);
		return false;
	}
	if (back->packets.records == 1) {
		cloud->line.back_deadline = due + note.wait_ns;
		back->passed = 0;
	}
	cloud->line.held++;
	return true;
}

/* The oldest goes, at `now`: behind all that have passed, and not before `least`. */
static void release(struct cloud *cloud, simtime now, simtime least)
{
	struct reorder_back *back = &cloud->line.back;
	const struct reorder_note *note = note_front(back);
	const struct held *held = log_front(&back->packets);
	simtime due = simtime_max(simtime_max(note->due, least), back->passed);
	struct packet packet = {
	        .t_ns = note->t_in,
	        .number = cloud_number(cloud, held->flags, held->number),
	        .port = (uint16_t)cloud->from_port,
	        .flags = (uint8_t)held->flags,
	};

	if (cloud->line.wheel)
		wheel_idle_until(cloud->line.wheel, now);
	if (likely(line_push_held(&cloud->line, cloud->holder, held,
	                          cloud_leaves_at(cloud, now, due, 0)))) {
		/* Who was released came before it, and so did those of the note. */
		give_due(cloud, due, due < simtime_max(note->latest, back->released));
		back->released = simtime_max(back->released, due);
		tell(cloud, &packet, due);
	} else {
		drop(cloud, &packet, held);
	}
	cloud->line.held--;
	log_pop(&back->packets, &cloud->holder->arena);
	log_pop(&back->notes, &cloud->holder->arena);
	cloud->line.back_deadline = SIMTIME_NEVER;
	if (back->packets.records) {
		note = note_front(back);
		cloud->line.back_deadline = simtime_max(now, note->due + note->wait_ns);
	}
}

void reorder_expire(struct cloud *cloud)
{
	simtime now = cloud->line.back_deadline;

	release(cloud, now, now);
}

void reorder_flush(struct cloud *cloud, simtime now)
{
	struct reorder_back *back = &cloud->line.back;

	while (back->packets.records)
		release(cloud, now, now);
}

/* ---- entering ---- */

static bool entrant_push(struct cloud *cloud, const struct entrant *entrant, simtime now,
                         simtime due)
{
	simtime leaves = cloud_leaves_at(cloud, now, due, entrant->packet.age_ns);

	if (entrant->burst)
		return line_push(&cloud->line, cloud->holder, entrant->burst, entrant->i, 1,
		                 &leaves, true) == 1;
	return line_push_held(&cloud->line, cloud->holder, entrant->held, leaves);
}

static void enter(struct cloud *cloud, const struct entrant *entrant, simtime now)
{
	struct line *line = &cloud->line;
	const struct reorder_rule *rule = &line->conf.reorder;
	struct reorder_back *back = &line->back;
	bool chosen;
	simtime due = now;

	while (cloud->line.back_deadline <= now)
		reorder_expire(cloud);
	if (line->wheel)
		wheel_idle_until(line->wheel, now);
	chosen = reorder_choose(rule, &back->choice, back->packets.records > 0);
	back->entered++;
	/* What is sent at once is not on the line at all. */
	if (!(chosen && rule->kind == REORDER_EARLY))
		line_due_one(line, now, &due);
	if (chosen && rule->kind == REORDER_TIME)
		due += rule->time_ns;
	if (chosen && reorder_holds_back(rule)) {
		if (unlikely(!hold_back(cloud, entrant, due)))
			entrant_drop(cloud, entrant);
	} else if (likely(entrant_push(cloud, entrant, now, due))) {
		give_due(cloud, due, back->packets.records > 0 || due < back->latest);
		back->passed = simtime_max(back->passed, due);
		tell(cloud, &entrant->packet, due);
	} else {
		entrant_drop(cloud, entrant);
	}
	while (back->packets.records && note_front(back)->until <= back->entered)
		release(cloud, now, due);
}

void reorder_enter(struct cloud *cloud, struct burst *burst, uint16_t from, uint16_t n)
{
	for (uint16_t i = from; i < from + n; i++) {
		const struct entrant entrant = {
		        .burst = burst,
		        .i = i,
		        .packet = {.t_ns = burst_t(burst, i),
		                   .number = burst_number(burst, i),
		                   .wire_bytes = burst_wire_bytes(burst, i),
		                   .port = burst->port,
		                   .flags = burst_flags(burst, i),
		                   .age_ns = burst_age_ns(burst, i)},
		};

		enter(cloud, &entrant, entrant.packet.t_ns);
	}
}

void reorder_enter_held(struct cloud *cloud, const struct held *held, simtime now)
{
	struct entrant entrant = {
	        .held = held,
	        .packet = {.t_ns = held->t_ns,
	                   .number = cloud_number(cloud, held->flags, held->number),
	                   .port = (uint16_t)cloud->from_port,
	                   .flags = (uint8_t)held->flags},
	};

	enter(cloud, &entrant, now);
}
