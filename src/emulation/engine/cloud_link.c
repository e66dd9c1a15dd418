/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud_link.h"

#include "engine/cloud_aqm.h"
#include "engine/cloud_reorder.h"
#include "engine/cloud_tell.h"
#include "engine/engine.h"
#include "engine/events.h"
#include "engine/timeline.h"
#include "link/classes.h"

/* Returns true if a packet that the queue would accept leaves the link on arrival, because the link
 * is idle and the bucket has the tokens. The packet need not be queued: it has passed the link. */
static inline bool conforms(struct cloud *cloud, const struct queue *queue, uint32_t wire_bytes,
                            simtime now)
{
	struct link *link = &cloud->link;

	if (link->busy || !link->plain || link->classes ||
	    (queue->aqm && (queue->aqm->kind->depart || queue->aqm->kind->bands)))
		return false;
	shaper_idle_until(&link->shaper, now);
	return shaper_passes(&link->shaper, link_length(link, wire_bytes));
}

/* Consecutive packets of the burst that have left the link, and are about to enter the line. */
struct passed {
	uint16_t from, n;
	bool waited; /* they have left the link at `leaves`; else on arrival */
	bool late;   /* packets may pass late (may_pass_late) */
	simtime leaves[BURST_ROOM];
};

static __attribute__((noinline)) void passed_enter_line(struct cloud *cloud, struct burst *burst,
                                                        struct passed *passed)
{
	cloud_enter_line(cloud, burst, passed->from, passed->n,
	                 passed->waited ? passed->leaves : NULL);
	passed->n = 0;
	passed->waited = false;
}

/* Adds n packets, beginning with i. */
static inline void passed_add(struct cloud *cloud, struct burst *burst, struct passed *passed,
                              uint16_t i, uint16_t n)
{
	if (passed->n > 0 && passed->from + passed->n != i)
		passed_enter_line(cloud, burst, passed);
	if (passed->n == 0)
		passed->from = i;
	for (uint16_t k = 0; passed->waited && k < n; k++)
		passed->leaves[passed->n + k] = burst_t(burst, i + k);
	passed->n += n;
}

/* Adds packet i, which leaves the link later than it arrived. */
static inline void passed_add_late(struct cloud *cloud, struct burst *burst, struct passed *passed,
                                   uint16_t i, simtime leaves)
{
	passed_add(cloud, burst, passed, i, 1);
	for (uint16_t k = 0; !passed->waited && k < passed->n; k++)
		passed->leaves[k] = burst_t(burst, passed->from + k);
	passed->waited = true;
	passed->leaves[passed->n - 1] = leaves;
}

/* Lets a packet pass, to enter the line with others of its burst. Meanwhile it is counted as held,
 * so that a witness sees it in the queue. */
static inline void pass(struct cloud *cloud, struct queue *queue, struct burst *burst, uint16_t i,
                        bool marked, struct passed *passed)
{
	simtime now = burst_t(burst, i);
	uint32_t length = link_length(&cloud->link, burst_wire_bytes(burst, i));

	queue->held_packets++;
	queue->held_bytes += length;
	if (unlikely(cloud->watch != NULL))
		cloud_watch_left(cloud->watch, now, now, length);
	if (unlikely(marked))
		burst_flag(burst, i, PACKET_MARKED);
	passed_add(cloud, burst, passed, i, 1);
	if (unlikely(cloud->witness != NULL))
		passed_enter_line(cloud, burst, passed);
	queue->held_packets--;
	queue->held_bytes -= length;
	if (unlikely(queue->aqm && queue->held_packets == 0))
		aqm_idle(queue->aqm, now);
}

/* Returns true if packets of this burst that leave the idle link before the next one arrives need
 * not be queued: nothing but the shaper has to account for them. */
static inline bool may_pass_late(const struct cloud *cloud, const struct burst *burst)
{
	const struct link *link = &cloud->link;

	return !burst->at_once && link->plain && !link->classes && !link->queue.aqm &&
	       !cloud->compensates_latency && !cloud->watch && !cloud->witness &&
	       !cloud->line.reorders && cloud->line.back.packets.records == 0;
}

/* Returns true if the packet, which does not leave the idle link on arrival, has left it by the
 * time the next packet of its burst arrives. Then the shaper has served it, and `*leaves` is its
 * departure. */
static inline bool leaves_before_next(struct cloud *cloud, const struct burst *burst, uint16_t i,
                                      simtime *leaves)
{
	const simtime next = i + 1 < burst->n ? burst_t(burst, i + 1) : 0;
	struct shaper *shaper = &cloud->link.shaper;
	uint32_t length;

	if (next <= burst_t(burst, i))
		return false;
	length = link_length(&cloud->link, burst_wire_bytes(burst, i));
	*leaves = shaper_departure(shaper, length);
	if (*leaves > next)
		return false;
	shaper_depart(shaper, *leaves, length);
	return true;
}

/* Returns the fate of a packet that is let into its queue, marked already if the management decided
 * so. */
static struct fate fate_queued(const struct aqm_arrival *arrival)
{
	return (struct fate){.kind = FATE_QUEUED,
	                     .reason = arrival->marked ? arrival->reason : REASON_COUNT,
	                     .flags = arrival->marked ? PACKET_MARKED : 0};
}

/* Lets a packet pass a queue without a management, if there is room and the packet need not be
 * queued. Returns false if it has to be queued. This function comes before enter_queue, and is
 * inline, because it handles most packets of a replay: as a part of enter_queue, 10 million packets
 * through a leaky bucket took a tenth longer. */
static inline bool passes_by(struct cloud *cloud, struct queue *queue, struct burst *burst,
                             uint16_t i, struct passed *passed)
{
	const uint32_t wire_bytes = burst_wire_bytes(burst, i);
	simtime leaves;

	if (queue->aqm || cloud->link.busy ||
	    unlikely(!link_has_room(&cloud->link, queue, wire_bytes)))
		return false;
	if (conforms(cloud, queue, wire_bytes, burst_t(burst, i))) {
		if (cloud_tells(cloud, FATE_QUEUED))
			cloud_tell(cloud, burst, i, fate_queued(&(struct aqm_arrival){0}));
		pass(cloud, queue, burst, i, false, passed);
		return true;
	}
	if (!passed->late || !leaves_before_next(cloud, burst, i, &leaves))
		return false;
	passed_add_late(cloud, burst, passed, i, leaves);
	return true;
}

/* Puts a packet into this queue of the link, whose earlier events have been executed, or lets it
 * pass. Returns false if it was dropped. `verdict`: what the management has decided already; or
 * NULL. */
static bool enter_queue(struct cloud *cloud, struct queue *queue, struct burst *burst, uint16_t i,
                        const struct aqm_verdict *verdict, struct passed *passed)
{
	const uint32_t wire_bytes = burst_wire_bytes(burst, i);
	const simtime now = burst_t(burst, i);
	struct link *link = &cloud->link;
	struct aqm_arrival arrival = {
	        .now = now, .wire_bytes = wire_bytes, .verdict = verdict, .log = &queue->log};
	struct log *log;
	struct held *held;
	uint32_t stored_bytes;
	bool copied;

	if (unlikely(queue->aqm != NULL)) {
		if (!aqm_admit(cloud, queue, burst, i, &arrival))
			return false;
	} else if (unlikely(!link_has_room(link, queue, wire_bytes)) &&
	           !(queue->drop_head && aqm_push_out(cloud, queue, wire_bytes, now))) {
		cloud_drop(cloud, burst, i, REASON_QUEUE_FULL);
		return false;
	}
	if (queue->aqm && conforms(cloud, queue, wire_bytes, now)) {
		if (cloud_tells(cloud, FATE_QUEUED))
			cloud_tell(cloud, burst, i, fate_queued(&arrival));
		pass(cloud, queue, burst, i, arrival.marked, passed);
		return true;
	}
	log = arrival.log;
	held = NULL;
	if (likely(hold_takes(cloud->holder, burst->mbuf[i], &copied, &stored_bytes)))
		held = log_append(log, &cloud->holder->arena, stored_bytes);
	if (unlikely(!held)) {
		cloud_drop(cloud, burst, i, REASON_NO_BUFFER);
		return false;
	}
	held->t_ns = now;
	hold_fill(cloud->holder, held, copied, burst, i);
	if (unlikely(arrival.marked))
		held->flags |= PACKET_MARKED;
	if (cloud_tells(cloud, FATE_QUEUED))
		cloud_tell_held(cloud, held, now, fate_queued(&arrival));
	if (unlikely(log != &queue->log))
		aqm_entered(queue->aqm, log, wire_bytes);
	if (unlikely(link->classes != NULL))
		classes_arrived(link, queue);
	if (link_arrived(link, queue, held, now))
		cloud_take_head(cloud, now);
	return true;
}

static void enter_link(struct cloud *cloud, struct burst *burst, uint16_t i,
                       const struct aqm_verdict *verdict, struct passed *passed)
{
	struct queue *queue = &cloud->link.queue;
	const simtime now = burst_t(burst, i);

	if (unlikely(cloud_next(cloud) <= now)) {
		/* The packets in `passed` arrived before the events that are executed below. */
		passed_enter_line(cloud, burst, passed);
		cloud_advance_link(cloud, now);
	}
	if (likely(!cloud->link.classes)) {
		if (!passes_by(cloud, queue, burst, i, passed))
			enter_queue(cloud, queue, burst, i, verdict, passed);
		return;
	}
	queue = classes_choose(cloud->link.classes, burst, i);
	queue->counters->rx_packets++;
	queue->counters->rx_bytes += burst_wire_bytes(burst, i);
	queue->counters->dropped += !enter_queue(cloud, queue, burst, i, NULL, passed);
}

void cloud_meet_link(struct cloud *cloud, struct burst *burst)
{
	const bool together = !cloud_tells(cloud, FATE_QUEUED);
	struct aqm_verdict verdict;
	struct passed passed;

	if (unlikely(burst->n == 0))
		return;
	cloud_advance_link(cloud, burst_t(burst, 0));
	passed.n = 0;
	passed.waited = false;
	passed.late = may_pass_late(cloud, burst);
	for (uint16_t i = 0; i < burst->n; i++) {
		bool decided = false;
		uint16_t grouped = 0;

		/* Packets of one instant go together, as far as they take the same path. */
		if (together && i + 1 < burst->n && burst_t(burst, i + 1) == burst_t(burst, i)) {
			if (cloud->link.busy)
				grouped = cloud_group_waits(cloud, burst, i, &verdict, &decided);
			else
				grouped = cloud_group_passes(cloud, burst, i, &verdict, &decided);
			if (grouped > 0 && !cloud->link.busy)
				passed_add(cloud, burst, &passed, i, grouped);
		}
		i += grouped;
		if (i < burst->n)
			enter_link(cloud, burst, i, decided ? &verdict : NULL, &passed);
	}
	if (passed.n > 0)
		passed_enter_line(cloud, burst, &passed);
}
