/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud_aqm.h"

#include "engine/cloud_tell.h"
#include "holding/hold.h"
#include "link/classes.h"

static struct aqm_view view_of(const struct cloud *cloud, const struct queue *queue,
                               uint32_t wire_bytes)
{
	return (struct aqm_view){
	        .waiting_bytes = queue_bytes(queue),
	        .waiting_packets = queue_packets(queue),
	        .held_bytes = queue->held_bytes,
	        .held_packets = queue->held_packets,
	        .limit = queue->limit,
	        .rate_bps = cloud->link.shaper.rate_bps,
	        .wire_bytes = link_length(&cloud->link, wire_bytes),
	};
}

uint64_t aqm_link_waiting(const struct aqm *aqm, const struct aqm_view *view)
{
	struct classes *classes = aqm->cloud->link.classes;
	uint64_t bytes = 0;

	if (likely(!classes))
		return view->waiting_bytes;
	for (uint32_t i = 0; i < classes->n; i++)
		bytes += queue_bytes(&classes->class[i].queue);
	return bytes;
}

static enum marking look(const struct aqm *aqm, const struct packet_bytes *frame,
                         struct ce_place *place)
{
	if (!aqm->marker)
		return MARKING_NONE;
	return aqm->marker->look(frame, place);
}

enum marking aqm_look(const struct aqm *aqm, struct held *held)
{
	const struct packet_bytes frame = packet_bytes_of_held(held);
	struct ce_place place;

	return look(aqm, &frame, &place);
}

static __attribute__((noinline)) enum aqm_outcome outcome_of(const struct aqm *aqm,
                                                             struct aqm_verdict verdict,
                                                             bool has_room,
                                                             const struct burst *burst, uint16_t i)
{
	struct ce_place place;
	struct packet_bytes frame;
	enum marking marking = MARKING_DONE;

	if (verdict.action == AQM_DROP)
		return AQM_DROPPED;
	if (verdict.action == AQM_MARK) {
		frame = packet_bytes_of(burst, i);
		marking = look(aqm, &frame, &place);
		if (marking == MARKING_NONE)
			return AQM_UNMARKABLE;
	}
	if (!has_room)
		return AQM_OVERFLOWED;
	if (verdict.action == AQM_PASS)
		return AQM_QUEUED;
	return marking == MARKING_DONE ? AQM_MARKED_PAST : AQM_MARKED;
}

static void count_mark(struct cloud *cloud, const struct queue *queue)
{
	cloud->counters.ecn_marked++;
	if (queue->counters)
		queue->counters->ecn_marked++;
}

/* Marks a packet that look() found markable; copies it first if its bytes are shared. Returns false
 * if there was no memory, and the packet was dropped. */
static bool mark(struct cloud *cloud, const struct aqm *aqm, struct burst *burst, uint16_t i)
{
	struct ce_place place;
	struct packet_bytes frame;

	if (unlikely(!cloud_writable(cloud, burst, i)))
		return false;
	frame = packet_bytes_of(burst, i);
	if (aqm->marker->look(&frame, &place) == MARKING_POSSIBLE)
		aqm->marker->set(&place);
	return true;
}

/* An empty band gives its memory back, since there may be many. */
static void band_popped(struct log *band, struct arena *arena)
{
	if (band->records == 0)
		log_clear(band, arena);
}

/* Removes the record at the front of this log, whose packet has been dropped. */
static void front_gone(struct cloud *cloud, struct queue *queue, struct log *log)
{
	struct arena *arena = &cloud->holder->arena;

	if (queue->counters)
		queue->counters->dropped++;
	queue_pop(queue, log, arena, link_length(&cloud->link, log_front(log)->wire_bytes));
	if (unlikely(log != &queue->log))
		band_popped(log, arena);
}

/* Makes room in a queue whose management has bands, for a packet that found none. Returns false if
 * that is impossible. */
static bool relieve(struct cloud *cloud, struct queue *queue, uint32_t wire_bytes, simtime now)
{
	struct aqm *aqm = queue->aqm;
	const struct aqm_bands *bands = aqm->kind->bands;
	struct log *band;
	bool room = false;

	if (!bands->fullest)
		return false;
	while ((band = bands->fullest(aqm, room))) {
		struct held *held = log_front(band);
		const struct aqm_view view = view_of(cloud, queue, held->wire_bytes);

		if (aqm->kind->pushed_out)
			aqm->kind->pushed_out(aqm, &view, held, now);
		cloud_drop_held(cloud, held, bands->overflow, now);
		front_gone(cloud, queue, band);
		room = link_has_room(&cloud->link, queue, wire_bytes);
	}
	return room;
}

static __attribute__((noinline)) bool make_room(struct cloud *cloud, struct queue *queue,
                                                uint32_t wire_bytes, simtime now)
{
	if (queue->aqm->kind->bands)
		return relieve(cloud, queue, wire_bytes, now);
	return queue->drop_head && aqm_push_out(cloud, queue, wire_bytes, now);
}

static __attribute__((noinline)) struct log *choose(struct aqm *aqm, const struct burst *burst,
                                                    uint16_t i)
{
	const struct packet_bytes frame = packet_bytes_of(burst, i);

	return aqm->kind->bands->choose(aqm, &frame);
}

/* Marks or drops a packet, according to the outcome. Returns false if it was dropped. */
static __attribute__((noinline)) bool carry_out(struct cloud *cloud, struct queue *queue,
                                                struct burst *burst, uint16_t i,
                                                enum aqm_outcome outcome, enum reason reason)
{
	switch (outcome) {
	case AQM_QUEUED:
	case AQM_MARKED_PAST:
		return true;
	case AQM_MARKED:
		if (!mark(cloud, queue->aqm, burst, i))
			return false;
		count_mark(cloud, queue);
		return true;
	case AQM_UNMARKABLE:
	case AQM_DROPPED:
		cloud_drop(cloud, burst, i, reason);
		return false;
	case AQM_OVERFLOWED:
		break;
	}
	cloud_drop(cloud, burst, i, REASON_QUEUE_FULL);
	return false;
}

/* Returns the verdict of the management on one packet. */
static inline struct aqm_verdict ask(struct aqm *aqm, const struct aqm_view *view,
                                     struct burst *burst, uint16_t i)
{
	struct aqm_verdict verdict = {.action = AQM_PASS};
	struct aqm_group alone;

	if (aqm->kind->arrive) {
		alone.now = burst_t(burst, i);
		alone.burst = burst;
		alone.from = i;
		alone.wait = false;
		alone.n = 1;
		alone.length[0] = view->wire_bytes;
		if (aqm->kind->arrive(aqm, view, &alone, &verdict) == 1)
			verdict.action = AQM_PASS;
	}
	aqm->drawn++;
	return verdict;
}

bool aqm_admit(struct cloud *cloud, struct queue *queue, struct burst *burst, uint16_t i,
               struct aqm_arrival *arrival)
{
	struct aqm *aqm = queue->aqm;
	const simtime now = arrival->now;
	const uint32_t wire_bytes = arrival->wire_bytes;
	const struct aqm_view view = view_of(cloud, queue, wire_bytes);
	enum aqm_outcome outcome = AQM_QUEUED;
	struct aqm_verdict verdict;
	bool room;

	if (unlikely(aqm->kind->bands != NULL))
		arrival->log = choose(aqm, burst, i);
	verdict =
	        unlikely(arrival->verdict != NULL) ? *arrival->verdict : ask(aqm, &view, burst, i);
	room = link_has_room(&cloud->link, queue, wire_bytes);
	if (unlikely(verdict.action != AQM_PASS || !room))
		outcome = outcome_of(aqm, verdict, room, burst, i);
	if (unlikely(outcome == AQM_OVERFLOWED) && make_room(cloud, queue, wire_bytes, now))
		outcome = outcome_of(aqm, verdict, true, burst, i);
	if (aqm->kind->settled)
		aqm->kind->settled(aqm, &view, burst, i, outcome);
	arrival->marked = outcome == AQM_MARKED;
	arrival->reason = verdict.reason;
	return likely(outcome == AQM_QUEUED) ||
	       carry_out(cloud, queue, burst, i, outcome, verdict.reason);
}

uint16_t aqm_arrive_group(struct cloud *cloud, struct queue *queue, const struct aqm_group *group,
                          struct aqm_verdict *verdict)
{
	struct aqm *aqm = queue->aqm;
	uint16_t n = group->n;

	if (n == 0)
		return 0;
	if (aqm->kind->arrive) {
		const struct aqm_view view = view_of(cloud, queue, 0);

		n = aqm->kind->arrive(aqm, &view, group, verdict);
	}
	/* The packet behind them has arrived, too. */
	aqm->drawn += n + (n < group->n);
	return n;
}

/* Copies the record's packet if its bytes are shared. Returns false if there was no memory, and the
 * packet was dropped. */
static bool own_bytes(struct cloud *cloud, struct held *held, simtime now)
{
	struct rte_mbuf *mbuf;
	uint16_t segments;

	if (!(held->flags & HELD_MBUF))
		return true;
	mbuf = held_mbuf(held);
	segments = mbuf->nb_segs;
	mbuf = copy_unshare(cloud->holder->pool, mbuf);
	if (unlikely(!mbuf)) {
		cloud_drop_held(cloud, held, REASON_NO_BUFFER, now);
		return false;
	}
	cloud->holder->kept += mbuf->nb_segs - segments;
	memcpy(held->data, &mbuf, sizeof(mbuf));
	return true;
}

/* Applies the verdict to the head. Returns false if the head was dropped, and has to be popped. */
static bool head_may_go(struct cloud *cloud, const struct queue *queue, struct held *held,
                        struct aqm_verdict verdict, simtime now)
{
	const struct aqm *aqm = queue->aqm;
	struct ce_place place;
	struct packet_bytes frame = packet_bytes_of_held(held);
	enum marking marking = MARKING_DONE;

	if (verdict.action == AQM_PASS)
		return true;
	if (verdict.action == AQM_MARK)
		marking = look(aqm, &frame, &place);
	if (verdict.action == AQM_DROP || marking == MARKING_NONE) {
		cloud_drop_held(cloud, held, verdict.reason, now);
		return false;
	}
	if (marking == MARKING_DONE)
		return true;
	if (unlikely(!own_bytes(cloud, held, now)))
		return false;
	frame = packet_bytes_of_held(held);
	aqm->marker->look(&frame, &place);
	aqm->marker->set(&place);
	held->flags |= PACKET_MARKED;
	count_mark(cloud, queue);
	if (cloud_tells(cloud, FATE_MARKED))
		cloud_tell_held(cloud, held, now,
		                (struct fate){.kind = FATE_MARKED, .reason = verdict.reason});
	return true;
}

/* Moves the front of a band to the queue's own log. Returns false if there was no memory, and the
 * packet was dropped. */
static bool front_lift(struct cloud *cloud, struct queue *queue, struct log *band, simtime now)
{
	const struct held *from = log_front(band);
	struct arena *arena = &cloud->holder->arena;
	struct held *to = log_append(&queue->log, arena, from->stored_bytes);

	if (unlikely(!to)) {
		cloud_drop_held(cloud, from, REASON_NO_BUFFER, now);
		return false;
	}
	to->t_ns = from->t_ns;
	hold_record(to, from);
	log_pop(band, arena);
	band_popped(band, arena);
	return true;
}

/* Returns the log whose front the link takes next, or NULL if there is no packet to be decided
 * on. */
static struct log *next_log(struct queue *queue, simtime now)
{
	const struct aqm_bands *bands = queue->aqm->kind->bands;

	if (likely(!bands))
		return queue->log.records ? &queue->log : NULL;
	return queue->log.records ? NULL : bands->next(queue->aqm, now);
}

void aqm_take(struct cloud *cloud, struct queue *queue, simtime now)
{
	struct aqm *aqm = queue->aqm;
	struct log *log;

	while ((log = next_log(queue, now))) {
		struct held *held = log_front(log);
		const struct aqm_view view = view_of(cloud, queue, held->wire_bytes);

		if (head_may_go(cloud, queue, held, aqm->kind->depart(aqm, &view, held, now),
		                now) &&
		    (log == &queue->log || front_lift(cloud, queue, log, now)))
			return;
		front_gone(cloud, queue, log);
		if (queue->held_packets == 0)
			aqm_idle(aqm, now);
	}
}

bool aqm_push_out(struct cloud *cloud, struct queue *queue, uint32_t wire_bytes, simtime now)
{
	struct link *link = &cloud->link;
	const struct aqm *aqm = queue->aqm;
	struct held *held;

	/* Not even if nothing waited. */
	if (queue_compare(&queue->limit, link->shaper.rate_bps, 1, link_length(link, wire_bytes)) >
	    0)
		return false;
	while (!link_has_room(link, queue, wire_bytes)) {
		if (!link_oldest(link, queue, &cloud->holder->arena, &held))
			hold_lacked(cloud->holder, now);
		if (!held)
			return false;
		if (aqm && aqm->kind->pushed_out) {
			const struct aqm_view view = view_of(cloud, queue, held->wire_bytes);

			aqm->kind->pushed_out(queue->aqm, &view, held, now);
		}
		cloud_drop_held(cloud, held, REASON_QUEUE_FULL, now);
		front_gone(cloud, queue, &queue->log);
	}
	return true;
}

struct aqm *aqm_exchange(struct queue *queue, struct aqm *aqm, simtime now)
{
	struct aqm *old = queue->aqm;

	if (old)
		old->cloud->drawn_most = RTE_MAX(old->cloud->drawn_most, old->drawn);
	if (aqm)
		aqm_take_over(aqm, old, queue, aqm->cloud->drawn_most, now);
	if (unlikely(old && old->kind->bands) &&
	    !(aqm && aqm->statement == old->statement && old->kind->bands->inherit(aqm, old)))
		queue_gather(queue, &old->cloud->holder->arena);
	__atomic_store_n(&queue->aqm, aqm,
	                 __ATOMIC_RELEASE); /* control reads it (engine_report.c) */
	return old;
}

void aqm_idle_all(struct cloud *cloud, simtime now)
{
	struct queue *queue;

	for (uint32_t i = 0; (queue = link_queue_at(&cloud->link, i)); i++) {
		if (queue->aqm)
			aqm_idle(queue->aqm, now);
	}
}
