/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud_link.h"

#include "engine/cloud_aqm.h"
#include "engine/cloud_reorder.h"
#include "engine/cloud_tell.h"
#include "engine/engine.h"
#include "engine/events.h"
#include "engine/timeline.h"
#include "link/classes.h"

/* ---- packets that have passed the link enter the line together ---- */

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

/* ---- the next packets pass ---- */

/* Takes tokens for up to n packets of this instant, as many as the bucket allows. Returns their
 * number. Stores their lengths, if the management or the watch needs them. */
static inline uint16_t take_tokens(struct cloud *cloud, const struct burst *burst, uint16_t from,
                                   uint16_t n, struct aqm_group *group)
{
	struct link *link = &cloud->link;
	const bool lengths = link->queue.aqm || cloud->watch;
	uint16_t found = 0;

	/* A whole burst takes its tokens in one step. */
	if (n > 1 && n == burst->n && burst->at_once && link->conf.overhead.none &&
	    burst->bytes <= SHAPER_BYTES_MAX &&
	    shaper_passes(&link->shaper, (uint32_t)burst->bytes)) {
		for (; lengths && found < n; found++)
			group->length[found] = burst_wire_bytes(burst, found);
		return n;
	}
	for (; found < n && burst_t(burst, from + found) == group->now; found++) {
		uint32_t length = link_length(link, burst_wire_bytes(burst, from + found));

		if (!shaper_passes(&link->shaper, length))
			break;
		group->length[found] = length;
	}
	return found;
}

/* Notifies the watch and the management of packets that have left the link on arrival. */
static inline void left_at_once(const struct cloud *cloud, const struct aqm_group *group)
{
	struct aqm *aqm = cloud->link.queue.aqm;
	uint64_t bytes = 0;

	for (uint16_t i = 0; cloud->watch && i < group->n; i++)
		bytes += group->length[i];
	if (cloud->watch)
		cloud->watch->left_at_once(cloud->watch, group->now, group->n, bytes);
	if (aqm)
		aqm_idle(aqm, group->now);
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

/* Lets packets pass the idle link, beginning with `from`: those that conform at one instant, or one
 * that has left by the time the next one arrives. Returns their number. */
static uint16_t pass_together(struct cloud *cloud, struct burst *burst, uint16_t from,
                              struct passed *passed)
{
	struct link *link = &cloud->link;
	struct aqm *aqm = link->queue.aqm;
	struct aqm_verdict all_pass;
	struct aqm_group group;
	simtime leaves;

	if (!link->plain || link->classes || cloud->witness || !cloud_watch_runs(cloud->watch) ||
	    (aqm && (aqm_is_asked(aqm) || !aqm->takes_groups)))
		return 0;
	group.now = burst_t(burst, from);
	group.burst = burst;
	group.from = from;
	group.wait = false;
	shaper_idle_until(&link->shaper, group.now);
	group.n = take_tokens(cloud, burst, from, burst->n - from, &group);
	if (group.n == 0) {
		if (!passed->late || !leaves_before_next(cloud, burst, from, &leaves))
			return 0;
		passed_add_late(cloud, burst, passed, from, leaves);
		return 1;
	}
	if (aqm)
		aqm_arrive_group(cloud, &link->queue, &group, &all_pass);
	left_at_once(cloud, &group);
	passed_add(cloud, burst, passed, from, group.n);
	return group.n;
}

/* ---- the next packets wait ---- */

/* Returns how many packets find room in the queue, and in the chunk that its log writes. Stores
 * their lengths. */
static uint16_t find_room(const struct cloud *cloud, struct burst *burst, uint16_t from,
                          struct aqm_group *group)
{
	const struct link *link = &cloud->link;
	const struct queue *queue = &link->queue;
	size_t memory = (size_t)(queue->log.limit - queue->log.write);
	uint64_t bytes = queue_bytes(queue);
	uint16_t found = 0;

	for (; from + found < burst->n; found++) {
		const struct rte_mbuf *mbuf = burst->mbuf[from + found];
		uint32_t length = link_length(link, burst_wire_bytes(burst, from + found));
		size_t stored = held_bytes(mbuf->data_len);

		bytes += length;
		if (burst_t(burst, from + found) != group->now ||
		    unlikely(bytes > queue->limit.value) || stored > memory ||
		    unlikely(!hold_copies(cloud->holder, mbuf)))
			break;
		memory -= stored;
		group->length[found] = length;
	}
	return found;
}

/* Lets packets of one instant wait behind the head, beginning with `from`. Returns their number.
 * Sets `decided` if the packet behind them has got this verdict from the management. */
static uint16_t wait_together(struct cloud *cloud, struct burst *burst, uint16_t from,
                              struct aqm_verdict *verdict, bool *decided)
{
	struct queue *queue = &cloud->link.queue;
	struct holder *holder = cloud->holder;
	struct aqm *aqm = queue->aqm;
	struct aqm_group group;
	uint64_t bytes = 0;
	uint16_t n;

	if (cloud->link.classes || queue->limit.unit != LIMIT_BYTES ||
	    cloud_tells(cloud, FATE_QUEUED) || (aqm && !aqm->takes_groups))
		return 0;
	group.now = burst_t(burst, from);
	group.burst = burst;
	group.from = from;
	group.wait = true;
	n = group.n = find_room(cloud, burst, from, &group);
	if (aqm)
		n = aqm_arrive_group(cloud, queue, &group, verdict);
	*decided = n < group.n;
	for (uint16_t i = 0; i < n; i++) {
		struct held *held =
		        log_append(&queue->log, &holder->arena, burst->mbuf[from + i]->data_len);

		held->t_ns = group.now;
		hold_fill(holder, held, true, burst, from + i);
		bytes += group.length[i];
	}
	queue->held_packets += n;
	queue->held_bytes += bytes;
	return n;
}

/* ---- the next packet by itself ---- */

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

/* Lets a packet pass, to enter the line with others of its burst. Meanwhile it is counted as held,
 * so that a witness sees it in the queue. */
static void pass_alone(struct cloud *cloud, struct queue *queue, struct burst *burst, uint16_t i,
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

/* Returns the fate of a packet that is let into its queue, marked already if the management decided
 * so. */
static struct fate fate_queued(const struct aqm_arrival *arrival)
{
	return (struct fate){.kind = FATE_QUEUED,
	                     .reason = arrival->marked ? arrival->reason : REASON_COUNT,
	                     .flags = arrival->marked ? PACKET_MARKED : 0};
}

/* Puts a packet into this queue of the link, or lets it pass. Returns false if it was dropped.
 * `verdict`: what the management has decided already; or NULL. */
static bool enter_queue(struct cloud *cloud, struct queue *queue, struct burst *burst, uint16_t i,
                        const struct aqm_verdict *verdict, struct passed *passed)
{
	const uint32_t wire_bytes = burst_wire_bytes(burst, i);
	const simtime now = burst_t(burst, i);
	struct link *link = &cloud->link;
	struct aqm_arrival arrival = {
	        .now = now, .wire_bytes = wire_bytes, .verdict = verdict, .log = &queue->log};
	struct held *held = NULL;
	const struct rte_mbuf *mbuf;
	struct log *log;
	bool copied;

	if (unlikely(queue->aqm != NULL)) {
		if (!aqm_admit(cloud, queue, burst, i, &arrival))
			return false;
	} else if (unlikely(!link_has_room(link, queue, wire_bytes)) &&
	           !(queue->drop_head && aqm_push_out(cloud, queue, wire_bytes, now))) {
		cloud_drop(cloud, burst, i, REASON_QUEUE_FULL);
		return false;
	}
	if (conforms(cloud, queue, wire_bytes, now)) {
		if (cloud_tells(cloud, FATE_QUEUED))
			cloud_tell(cloud, burst, i, fate_queued(&arrival));
		pass_alone(cloud, queue, burst, i, arrival.marked, passed);
		return true;
	}
	log = arrival.log;
	mbuf = burst->mbuf[i];
	copied = hold_copies(cloud->holder, mbuf);
	if (likely(copied || hold_may_keep(cloud->holder, mbuf)))
		held = log_append(log, &cloud->holder->arena, hold_stored_bytes(mbuf, copied));
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
	queue->held_packets++;
	queue->held_bytes += link_length(link, wire_bytes);
	if (unlikely(!link->busy)) {
		link_idle_until(link, now);
		cloud_take_head(cloud, now);
	}
	return true;
}

static void meet_alone(struct cloud *cloud, struct burst *burst, uint16_t i,
                       const struct aqm_verdict *verdict, struct passed *passed)
{
	struct queue *queue = &cloud->link.queue;

	if (likely(!cloud->link.classes)) {
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
	struct aqm_verdict verdict;
	struct passed passed;

	passed.n = 0;
	passed.waited = false;
	passed.late = may_pass_late(cloud, burst);
	for (uint16_t i = 0; i < burst->n;) {
		bool decided = false;
		uint16_t n;

		if (unlikely(cloud_next(cloud) <= burst_t(burst, i))) {
			/* Those that have passed arrived before the events that are executed. */
			passed_enter_line(cloud, burst, &passed);
			cloud_advance_link(cloud, burst_t(burst, i));
		}
		if (cloud->link.busy)
			n = wait_together(cloud, burst, i, &verdict, &decided);
		else
			n = pass_together(cloud, burst, i, &passed);
		if (n == 0 || decided) {
			meet_alone(cloud, burst, i + n, decided ? &verdict : NULL, &passed);
			n++;
		}
		i += n;
	}
	if (passed.n > 0)
		passed_enter_line(cloud, burst, &passed);
}
