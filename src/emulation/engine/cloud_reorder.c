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

/* A packet that enters: in an mbuf, or still at the head of the link. */
struct entrant {
	struct burst *burst; /* it is packet i of this burst; or NULL */
	uint16_t i;
	const struct held *held;
	struct held head; /* its record, present or future; t_ns: arrival at the cloud */
};

static const struct reorder_note *note_front(const struct reorder_back *back)
{
	return (const struct reorder_note *)(const void *)log_front(&back->notes)->data;
}

static void tell(struct cloud *cloud, const struct held *head, simtime due, simtime entered_ns)
{
	histogram_add(cloud->delay_ns, due - head->t_ns, 1);
	if (unlikely(cloud->witness != NULL))
		cloud_tell_held(cloud, head, due, fate_delivered(due, entered_ns));
}

static void give_due(struct cloud *cloud, simtime due, bool overtakes)
{
	struct reorder_back *back = &cloud->line.back;

	cloud->counters.reordered += overtakes;
	back->latest = simtime_max(back->latest, due);
}

static void entrant_drop(struct cloud *cloud, const struct entrant *entrant, simtime now)
{
	if (entrant->burst)
		cloud_drop(cloud, entrant->burst, entrant->i, REASON_NO_BUFFER);
	else
		cloud_drop_held(cloud, entrant->held, REASON_NO_BUFFER, now);
}

/* ---- what is held back ---- */

static bool entrant_store(struct cloud *cloud, const struct entrant *entrant)
{
	struct log *packets = &cloud->line.back.packets;
	struct holder *holder = cloud->holder;
	const struct held *from = entrant->held;
	uint32_t stored_bytes = from ? from->stored_bytes : 0;
	struct held *held = NULL;
	bool copied = false;

	if (from ||
	    likely(hold_takes(holder, entrant->burst->mbuf[entrant->i], &copied, &stored_bytes)))
		held = log_append(packets, &holder->arena, stored_bytes);
	if (unlikely(!held))
		return false;
	if (from)
		hold_record(held, from);
	else
		hold_fill(holder, held, copied, entrant->burst, entrant->i);
	held->t_ns = entrant->head.t_ns;
	return true;
}

/* Holds a packet back. Appends its note first, because a note can be retracted. Returns false if
 * there is no memory. */
static bool hold_back(struct cloud *cloud, const struct entrant *entrant, simtime due, simtime now)
{
	const struct reorder_rule *rule = &cloud->line.conf.reorder;
	struct reorder_back *back = &cloud->line.back;
	struct reorder_note note = {
	        .due = due,
	        .latest = back->latest,
	        .until = back->entered + rule->packets,
	        .wait_ns = rule->time_ns,
	        .entered_ns = now,
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

/* Releases the oldest packet at `now`: behind all that have passed it, and not before `least`. */
static void release(struct cloud *cloud, simtime now, simtime least)
{
	struct reorder_back *back = &cloud->line.back;
	const struct reorder_note *note = note_front(back);
	const struct held *held = log_front(&back->packets);
	simtime due = simtime_max(simtime_max(note->due, least), back->passed), leaves;

	if (cloud->line.wheel)
		wheel_idle_until(cloud->line.wheel, now);
	leaves = cloud_leaves_at(cloud, now, due, 0);
	if (likely(line_push_held(&cloud->line, cloud->holder, &held, 1, &leaves))) {
		/* The packets released earlier and those counted in the note came before it. */
		give_due(cloud, due, due < simtime_max(note->latest, back->released));
		back->released = simtime_max(back->released, due);
		/* On a line that keeps order, those that are still held back leave behind it. */
		if (!cloud->line.conf.allow_overtaking)
			back->passed = simtime_max(back->passed, due);
		tell(cloud, held, due, note->entered_ns);
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

/* Counts the packet as one of its flow. The frame is read as it enters the line: a queue keeps
 * nothing else of it. */
static struct burst_flow entrant_count(struct cloud *cloud, const struct entrant *entrant)
{
	struct packet_bytes frame;

	if (entrant->burst)
		frame = packet_bytes_of(entrant->burst, entrant->i);
	else
		frame = packet_bytes_of_held((struct held *)(uintptr_t)entrant->held);
	return flows_count_one(cloud->line_flows, &frame, entrant->head.flags);
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

static bool entrant_push(struct cloud *cloud, const struct entrant *entrant, simtime now,
                         simtime due)
{
	uint32_t age_ns = entrant->burst ? burst_age_ns(entrant->burst, entrant->i) : 0;
	simtime leaves = cloud_leaves_at(cloud, now, due, age_ns);

	if (entrant->burst)
		return line_push(&cloud->line, cloud->holder, entrant->burst, entrant->i, 1,
		                 &leaves, true) == 1;
	return line_push_held(&cloud->line, cloud->holder, &entrant->held, 1, &leaves);
}

static void enter(struct cloud *cloud, const struct entrant *entrant, simtime now)
{
	struct line *line = &cloud->line;
	const struct reorder_rule *rule = &line->conf.reorder;
	struct reorder_back *back = &line->back;
	const bool jitter_by_flow = jitter_keyed(line) != KEYED_CLOUD;
	struct burst_flow flow = {0};
	bool chosen;
	simtime due = now;

	while (cloud->line.back_deadline <= now)
		reorder_expire(cloud);
	if (line->wheel)
		wheel_idle_until(line->wheel, now);
	if (unlikely(rule->keyed || jitter_by_flow))
		flow = entrant_count(cloud, entrant);
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
		if (unlikely(!hold_back(cloud, entrant, due, now)))
			entrant_drop(cloud, entrant, now);
	} else if (likely(entrant_push(cloud, entrant, now, due))) {
		give_due(cloud, due, back->packets.records > 0 || due < back->latest);
		back->passed = simtime_max(back->passed, due);
		tell(cloud, &entrant->head, due, now);
	} else {
		entrant_drop(cloud, entrant, now);
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
		        .head = {.t_ns = burst_t(burst, i),
		                 .number = (uint32_t)burst_number(burst, i),
		                 .wire_bytes = burst_wire_bytes(burst, i),
		                 .flags = burst_flags(burst, i)},
		};

		enter(cloud, &entrant, entrant.head.t_ns);
	}
}

void reorder_enter_held(struct cloud *cloud, const struct held *held, simtime now)
{
	const struct entrant entrant = {.held = held, .head = *held};

	enter(cloud, &entrant, now);
}
