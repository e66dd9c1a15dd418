/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/hold_snapshot.h"
#include "link/aqm.h"
#include "link/classes.h"
#include "link/link.h"

void shaper_snapshot(struct shaper *shaper, struct snapshot *snapshot)
{
	snapshot_value(snapshot, shaper->debt_work);
	snapshot_value(snapshot, shaper->at);
	snapshot_holds(snapshot, shaper->debt_work >= -SHAPER_WORK_MAX &&
	                                 shaper->debt_work <= SHAPER_WORK_MAX &&
	                                 shaper->at < SIMTIME_HORIZON);
}

static void slots_snapshot(struct slots *slots, struct snapshot *snapshot)
{
	snapshot_value(snapshot, slots->opens);
	snapshot_value(snapshot, slots->packets_left);
	snapshot_value(snapshot, slots->bytes_left);
	snapshot_value(snapshot, slots->drawn);
}

static void cursor_snapshot(struct opportunity_cursor *cursor, struct snapshot *snapshot)
{
	snapshot_value(snapshot, cursor->next);
	snapshot_value(snapshot, cursor->at);
	snapshot_value(snapshot, cursor->left);
	snapshot_value(snapshot, cursor->taken);
	snapshot_value(snapshot, cursor->served);
}

/* Counts the records in the logs of the queue, without the head if link->taken holds it. */
static uint64_t records_of(const struct queue *queue)
{
	const struct log *log;
	uint64_t records = 0;

	for (uint32_t i = 0; (log = queue_log(queue, i)); i++)
		records += log->records;
	return records;
}

static void queue_snapshot(struct link *link, struct queue *queue, struct holder *holder,
                           struct snapshot *snapshot)
{
	struct log *log;

	snapshot_value(snapshot, queue->held_packets);
	snapshot_value(snapshot, queue->held_bytes);
	snapshot_value(snapshot, queue->sending);
	snapshot_value(snapshot, queue->sending_bytes);
	/* The bands are known only after the AQM has been read. */
	if (snapshot_same(snapshot, queue->aqm != NULL))
		aqm_snapshot(queue->aqm, snapshot);
	for (uint32_t i = 0; !snapshot->failed && (log = queue_log(queue, i)); i++)
		log_snapshot(log, holder, false, snapshot);
	if (queue->aqm)
		snapshot_holds(snapshot, aqm_fits(queue->aqm));
	snapshot_holds(snapshot,
	               queue->held_packets ==
	                               records_of(queue) +
	                                       (link->from == queue ? link->taken.records : 0) &&
	                       queue->sending <= queue->held_packets &&
	                       queue->sending_bytes <= queue->held_bytes);
}

static void class_snapshot(struct class_state *class, struct snapshot *snapshot)
{
	uint64_t *counters = (uint64_t *)&class->counters;

	snapshot_value(snapshot, class->start);
	snapshot_value(snapshot, class->deficit);
	snapshot_bytes(snapshot, counters, sizeof(class->counters));
	/* It may be negative: see pick_drr. */
	snapshot_holds(snapshot, class->deficit >= -(int64_t)UINT32_MAX &&
	                                 class->deficit <= INT64_C(1) << 60);
}

static void classes_snapshot(struct classes *classes, struct snapshot *snapshot)
{
	snapshot_value(snapshot, classes->v);
	classes->turn = snapshot_index(snapshot, classes->turn, classes->n);
	classes->begun = snapshot_flag(snapshot, classes->begun);
	for (uint32_t i = 0; i < classes->n; i++)
		class_snapshot(&classes->class[i], snapshot);
}

/* Returns the number of the queue whose head the link has taken last; *n is the number of
 * queues. */
static uint32_t from_number(const struct link *link, uint32_t *n)
{
	uint32_t number = 0;
	struct queue *queue;

	for (*n = 0; (queue = link_queue_at(link, *n)); ++*n) {
		if (queue == link->from)
			number = *n;
	}
	return number;
}

/* Returns true if there is a head when the link is busy, and none when it is idle. */
static bool head_is_there(const struct link *link)
{
	if (!link->busy)
		return link->departure == SIMTIME_NEVER && link->taken.records == 0;
	return link->taken.records + link->from->log.records > 0;
}

void link_snapshot(struct link *link, struct holder *holder, struct snapshot *snapshot)
{
	struct queue *queue;
	uint32_t n;
	uint32_t from = from_number(link, &n);

	link->busy = snapshot_flag(snapshot, link->busy);
	link->slotted = snapshot_flag(snapshot, link->slotted);
	snapshot_value(snapshot, link->departure);
	snapshot_value(snapshot, link->ready);
	shaper_snapshot(&link->shaper, snapshot);
	slots_snapshot(&link->slots, snapshot);
	cursor_snapshot(&link->cursor, snapshot);
	if (snapshot_same(snapshot, link->classes != NULL))
		classes_snapshot(link->classes, snapshot);
	link->from = link_queue_at(link, snapshot_index(snapshot, from, n));
	log_snapshot(&link->taken, holder, false, snapshot);
	snapshot_holds(snapshot, link->taken.records <= 1);
	for (uint32_t i = 0; (queue = link_queue_at(link, i)); i++)
		queue_snapshot(link, queue, holder, snapshot);
	snapshot_holds(snapshot, head_is_there(link));
}
