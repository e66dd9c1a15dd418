/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud_reorder.h"

#include "engine/cloud_tell.h"
#include "match/flows.h"

struct reorder_note {
	simtime due;    /* its own due time */
	simtime latest; /* latest due time of the packets before it */
	uint64_t until; /* when this many have entered, it is released */
	uint64_t wait_ns;
	simtime entered_ns;
};

static const struct reorder_note *note_front(const struct reorder_back *back)
{
	return (const struct reorder_note *)(const void *)log_front(&back->notes)->data;
}

/* Puts a packet onto the line, which it has entered at `entered_ns`; it is due at `due`. Returns
 * false if there is no memory. `age_ns` as in packet.h. */
static bool put(struct cloud *cloud, const struct held *held, simtime now, uint32_t age_ns,
                simtime due, simtime entered_ns, bool overtakes)
{
	struct reorder_back *back = &cloud->line.back;
	const simtime leaves = cloud_leaves_at(cloud, now, due, age_ns);

	if (unlikely(!line_push_held(&cloud->line, cloud->holder, &held, 1, &leaves)))
		return false;
	cloud->counters.reordered += overtakes;
	back->latest = simtime_max(back->latest, due);
	histogram_add(cloud->delay_ns, due - held->t_ns, 1);
	if (unlikely(cloud->witness != NULL))
		cloud_tell_held(cloud, held, due, fate_delivered(due, entered_ns));
	return true;
}

/* ---- what is held back ---- */

/* Holds a packet back. Appends its note first, because a note can be retracted. Returns false if
 * there is no memory. */
static bool hold_back(struct cloud *cloud, const struct held *from, simtime due, simtime now)
{
	struct arena *arena = &cloud->holder->arena;
	const struct reorder_rule *rule = &cloud->line.conf.reorder;
	struct reorder_back *back = &cloud->line.back;
	struct reorder_note note = {
	        .due = due,
	        .latest = back->latest,
	        .until = back->entered + rule->packets,
	        .wait_ns = rule->time_ns,
	        .entered_ns = now,
	};
	struct held *record = log_append(&back->notes, arena, sizeof(note)), *held;

	if (unlikely(!record))
		return false;
	record->stored_bytes = sizeof(note);
	memcpy(record->data, &note, sizeof(note));
	held = log_append(&back->packets, arena, from->stored_bytes);
	if (unlikely(!held)) {
		log_retract(&back->notes, held_bytes(sizeof(note)));
		if (back->notes.records == 0)
			log_clear(&back->notes, arena);
		return false;
	}
	held->t_ns = from->t_ns;
	hold_record(held, from);
	if (back->packets.records == 1) {
		cloud->line.back_deadline = due + note.wait_ns;
		back->passed = 0;
	}
	cloud->line.held++;
	return true;
}

/* Releases the oldest packet at `now`: behind all that have passed it, and not before `least`. */
static void release(struct cloud *cloud, simtime now, simtime least)
{
	struct reorder_back *back = &cloud->line.back;
	const struct reorder_note *note = note_front(back);
	const struct held *held = log_front(&back->packets);
	const simtime due = simtime_max(simtime_max(note->due, least), back->passed);

	if (cloud->line.wheel)
		wheel_idle_until(cloud->line.wheel, now);
	/* The packets released earlier and those counted in the note came before it. */
	if (likely(put(cloud, held, now, 0, due, note->entered_ns,
	               due < simtime_max(note->latest, back->released)))) {
		back->released = simtime_max(back->released, due);
		/* On a line that keeps order, those that are still held back leave behind it. */
		if (!cloud->line.conf.allow_overtaking)
			back->passed = simtime_max(back->passed, due);
	} else {
		cloud_drop_held(cloud, held, REASON_NO_BUFFER, now);
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

/* ---- by flow ---- */

static inline enum keyed jitter_keyed(const struct line *line)
{
	return line->conf.jitter ? line->conf.jitter->keyed : KEYED_CLOUD;
}

/* Does the same as line_due_one, with the draws and the memory of the packet's flow. */
static void due_by_flow(struct line *line, const struct burst_flow *flow, simtime now, simtime *due)
{
	const struct draw_key key = line->key;
	const uint64_t drawn = line->drawn;

	line->key = keyed_within(key, jitter_keyed(line), flow);
	line->drawn = flow->number;
	jitter_recall(&line->jitter, flow->memory[FLOW_JITTER]);
	line_due_one(line, now, due);
	flow->memory[FLOW_JITTER] = jitter_remember(&line->jitter);
	line->key = key;
	line->drawn = drawn + 1;
}

/* ---- entering ---- */

/* Lets a packet enter. Its record is the caller's, and is not read afterwards; t_ns is its arrival
 * at the cloud. `age_ns` as in packet.h. */
static void enter(struct cloud *cloud, const struct held *held, uint32_t age_ns, simtime now)
{
	struct line *line = &cloud->line;
	const struct reorder_rule *rule = &line->conf.reorder;
	struct reorder_back *back = &line->back;
	const bool jitter_by_flow = jitter_keyed(line) != KEYED_CLOUD;
	struct burst_flow flow = {0};
	struct packet_bytes frame;
	bool chosen, stored;
	simtime due = now;

	while (cloud->line.back_deadline <= now)
		reorder_expire(cloud);
	if (line->wheel)
		wheel_idle_until(line->wheel, now);
	if (unlikely(rule->keyed || jitter_by_flow)) {
		frame = packet_bytes_of_held((struct held *)(uintptr_t)held);
		flow = flows_count_one(cloud->line_flows, &frame, held->flags);
	}
	if (unlikely(rule->keyed))
		chosen = reorder_choose_of_flow(rule, &back->choice, &flow);
	else
		chosen = reorder_choose(rule, &back->choice, back->packets.records > 0);
	back->entered++;
	if (rule->tally) {
		rule->tally->came++;
		rule->tally->acted += chosen;
	}
	/* A packet that is sent at once skips the delay of the line. */
	if (!(chosen && rule->kind == REORDER_EARLY)) {
		if (unlikely(jitter_by_flow))
			due_by_flow(line, &flow, now, &due);
		else
			line_due_one(line, now, &due);
	}
	if (chosen && rule->kind == REORDER_TIME)
		due += rule->time_ns;
	if (chosen && reorder_holds_back(rule)) {
		stored = hold_back(cloud, held, due, now);
	} else {
		stored = put(cloud, held, now, age_ns, due, now,
		             back->packets.records > 0 || due < back->latest);
		back->passed = simtime_max(back->passed, stored ? due : 0);
	}
	if (unlikely(!stored))
		cloud_drop_held(cloud, held, REASON_NO_BUFFER, now);
	while (back->packets.records && note_front(back)->until <= back->entered)
		release(cloud, now, due);
}

void reorder_enter(struct cloud *cloud, struct burst *burst, uint16_t from, uint16_t n)
{
	union {
		struct held held;
		uint8_t bytes[CHUNK_BYTES]; /* the longest that is copied, and a block more */
	} record;

	for (uint16_t i = from; i < from + n; i++) {
		const bool copied = hold_copies(cloud->holder, burst->mbuf[i]);

		if (unlikely(!copied && !hold_may_keep(cloud->holder, burst->mbuf[i]))) {
			cloud_drop(cloud, burst, i, REASON_NO_BUFFER);
			continue;
		}
		hold_fill(cloud->holder, &record.held, copied, burst, i);
		record.held.t_ns = burst_t(burst, i);
		enter(cloud, &record.held, burst_age_ns(burst, i), record.held.t_ns);
	}
}

void reorder_enter_held(struct cloud *cloud, const struct held *held, simtime now)
{
	enter(cloud, held, 0, now);
}
