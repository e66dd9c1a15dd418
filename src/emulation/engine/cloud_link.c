/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud_link.h"

#include "engine/cloud_aqm.h"
#include "engine/cloud_group.h"
#include "engine/cloud_reorder.h"
#include "engine/cloud_run.h"
#include "engine/engine.h"
#include "engine/timeline.h"
#include "link/classes.h"

/* What leaves the line at the instant when it enters it, and next of all, is not on the wheel for
 * it. False: it has to go there. */
static __rte_always_inline bool leaves_at_once(struct cloud *cloud, const struct held *held,
                                               simtime now, simtime leaves, struct outlet *outlet)
{
	struct rte_mbuf *mbuf;

	if (leaves > now || !wheel_is_quiet(cloud->line.shared, now) || cloud->line.limited ||
	    unlikely(outlet->n == OUTLET_ROOM))
		return false;
	mbuf = hold_mbuf(cloud->holder, held);
	if (unlikely(!mbuf))
		return false;
	packet_of(mbuf)->t_ns = now;
	outlet->due_ns[outlet->n] = now;
	outlet->mbufs[outlet->n++] = mbuf;
	cloud->counters.tx_packets++;
	cloud->counters.tx_bytes += held->wire_bytes;
	return true;
}

/* Into the line, at the instant when it leaves the link, and perhaps out of it into the outlet, if
 * there is one. False: there was no memory, it is dropped. */
static __rte_always_inline bool head_enters_line(struct cloud *cloud, const struct held *held,
                                                 simtime now, struct outlet *outlet)
{
	simtime t_in = held->t_ns;
	simtime due, leaves;

	if (unlikely(cloud->line.reorders)) {
		reorder_enter_held(cloud, held, now);
		return true;
	}
	cloud->counters.reordered += line_due_one(&cloud->line, now, &due);
	leaves = cloud_leaves_at(cloud, now, due, 0);
	if (!(outlet && leaves_at_once(cloud, held, now, leaves, outlet)) &&
	    unlikely(!line_push_held(&cloud->line, cloud->holder, held, leaves))) {
		cloud_drop_held(cloud, held, REASON_NO_BUFFER, now);
		return false;
	}
	histogram_add(cloud->delay_ns, due - t_in, 1);
	if (unlikely(cloud->witness != NULL))
		cloud_tell_delivery(cloud, cloud_number(cloud, held->flags, held->number),
		                    cloud->from_port, (uint8_t)held->flags, t_in, due);
	return true;
}

/* Whose front the link is to take, as the scheduler and the managements say; NULL: there is
 * none. */
static inline struct queue *next_queue(struct cloud *cloud, simtime now)
{
	struct link *link = &cloud->link;
	struct queue *queue;

	if (likely(!link->classes)) {
		if (unlikely(aqm_is_asked(link->queue.aqm)))
			aqm_take(cloud, &link->queue, now);
		return link->queue.log.records ? &link->queue : NULL;
	}
	while ((queue = classes_pick(link))) {
		if (aqm_is_asked(queue->aqm))
			aqm_take(cloud, queue, now);
		if (queue->log.records)
			break;
	}
	if (queue)
		classes_take(link, queue);
	return queue;
}

/* The watch learns of a packet that leaves the link. */
static inline void watch_departure(const struct cloud *cloud, const struct held *held)
{
	struct cloud_watch *watch = cloud->watch;

	if (likely(!watch))
		return;
	cloud_watch_before(watch, cloud->link.departure);
	cloud_watch_left(watch, held->t_ns, cloud->link.departure,
	                 link_length(&cloud->link, held->wire_bytes));
}

static __rte_always_inline void head_departs(struct cloud *cloud, struct outlet *outlet)
{
	struct link *link = &cloud->link;
	struct queue *queue = link->from;
	simtime now = link->departure;
	const struct held *head = link_head(link);
	uint32_t wire_bytes = head->wire_bytes;
	bool entered;

	watch_departure(cloud, head);
	entered = head_enters_line(cloud, head, now, outlet);
	link_depart(link, &cloud->holder->arena);
	if (unlikely(queue->counters != NULL)) {
		queue->counters->tx_packets += entered;
		queue->counters->tx_bytes += entered ? wire_bytes : 0;
		queue->counters->dropped += !entered;
	}
	if (unlikely(queue->aqm && queue->held_packets == 0))
		aqm_idle(queue->aqm, now);
	link_take(link, next_queue(cloud, now), &cloud->holder->arena);
}

static __rte_always_inline void advance(struct cloud *cloud, simtime now, struct outlet *outlet)
{
	while (unlikely(cloud_next(cloud) <= now)) {
		if (cloud->change < simtime_min(cloud->line.back_deadline, cloud->link.departure))
			timeline_run(cloud, cloud->change);
		else if (cloud->line.back_deadline <= cloud->link.departure)
			reorder_expire(cloud);
		else
			head_departs(cloud, outlet);
	}
}

void cloud_advance_link(struct cloud *cloud, simtime now)
{
	advance(cloud, now, NULL);
}

void cloud_run_link(struct cloud *cloud, simtime now, simtime limit, struct outlet *outlet)
{
	do {
		/* Asked each time: what advances may be the timeline. */
		if (outlet && cloud_run_may(cloud))
			cloud_run_depart(cloud, limit, outlet);
		advance(cloud, now, outlet);
		now = cloud_next(cloud);
	} while (now <= limit && wheel_is_quiet(cloud->line.shared, now));
}

/* Whether the packet, which the queue would take, leaves the link at the instant when it comes. */
static inline bool passes(struct cloud *cloud, const struct queue *queue,
                          const struct packet *packet)
{
	struct link *link = &cloud->link;

	if (!link->plain || link->classes ||
	    (queue->aqm && (queue->aqm->kind->depart || queue->aqm->kind->bands)))
		return false;
	return link_passes(link, packet->wire_bytes, packet->t_ns);
}

/* Packets of a burst that have left the link, and are about to enter the line. */
struct passed {
	uint16_t n;
	struct rte_mbuf *mbufs[BURST_ROOM];
};

static __attribute__((noinline)) void passed_enter_line(struct cloud *cloud, struct passed *passed)
{
	if (passed->n > 0)
		cloud_enter_line(cloud, passed->mbufs, passed->n, NULL);
	passed->n = 0;
}

/* What passes enters the line, with others of its burst. Who looks sees it in the queue, at the one
 * instant when it is there. */
static inline void pass(struct cloud *cloud, struct queue *queue, struct rte_mbuf *mbuf,
                        bool marked, struct passed *passed)
{
	uint32_t length = link_length(&cloud->link, packet_of(mbuf)->wire_bytes);
	simtime now = packet_of(mbuf)->t_ns;

	if (unlikely(marked))
		packet_of(mbuf)->flags |= PACKET_MARKED;
	queue->held_packets++;
	queue->held_bytes += length;
	if (unlikely(cloud->watch != NULL))
		cloud_watch_left(cloud->watch, now, now, length);
	passed->mbufs[passed->n++] = mbuf;
	if (unlikely(cloud->witness != NULL))
		passed_enter_line(cloud, passed);
	queue->held_packets--;
	queue->held_bytes -= length;
	if (unlikely(queue->aqm && queue->held_packets == 0))
		aqm_idle(queue->aqm, now);
}

/* Into this queue of the link, which has executed what happens before. False: dropped. */
static __rte_always_inline bool enter_queue(struct cloud *cloud, struct queue *queue,
                                            struct rte_mbuf *mbuf, struct passed *passed)
{
	const struct packet packet = *packet_of(mbuf); /* the mbuf may be given away below */
	struct link *link = &cloud->link;
	struct log *log = &queue->log;
	bool copied, marked = false;
	struct held *held;

	if (unlikely(queue->aqm != NULL)) {
		if (!aqm_admit(cloud, queue, &mbuf, &marked, &log))
			return false;
	} else if (unlikely(!link_has_room(link, queue, packet.wire_bytes)) &&
	           !(queue->drop_head &&
	             aqm_push_out(cloud, queue, packet.wire_bytes, packet.t_ns))) {
		cloud_drop(cloud, mbuf, REASON_QUEUE_FULL);
		return false;
	}
	if (passes(cloud, queue, &packet)) {
		pass(cloud, queue, mbuf, marked, passed);
		return true;
	}
	copied = hold_copies(cloud->holder, mbuf);
	held = NULL;
	if (likely(hold_has_room(cloud->holder, copied, mbuf)))
		held = log_append(log, &cloud->holder->arena, hold_stored_bytes(copied, mbuf));
	if (unlikely(!held)) {
		cloud_drop(cloud, mbuf, REASON_NO_BUFFER);
		return false;
	}
	held->t_ns = packet.t_ns;
	held->cloud = cloud->index;
	held->number = (uint32_t)packet.number;
	hold_fill(cloud->holder, held, copied, mbuf, packet.wire_bytes);
	held->flags |= packet.flags;
	if (unlikely(marked))
		held->flags |= PACKET_MARKED;
	if (unlikely(log != &queue->log))
		aqm_entered(queue->aqm, log, packet.wire_bytes);
	if (unlikely(link->classes != NULL))
		classes_arrived(link, queue);
	if (link_arrived(link, queue, held, packet.t_ns))
		link_take(link, next_queue(cloud, packet.t_ns), &cloud->holder->arena);
	return true;
}

static __attribute__((noinline)) void enter_class(struct cloud *cloud, struct rte_mbuf *mbuf,
                                                  struct passed *passed)
{
	struct queue *queue = classes_choose(cloud->link.classes, mbuf);

	queue->counters->rx_packets++;
	queue->counters->rx_bytes += packet_of(mbuf)->wire_bytes;
	if (!enter_queue(cloud, queue, mbuf, passed))
		queue->counters->dropped++;
}

static void enter_link(struct cloud *cloud, struct rte_mbuf *mbuf, struct passed *passed)
{
	simtime now = packet_of(mbuf)->t_ns;

	if (unlikely(cloud_next(cloud) <= now)) {
		/* They were there before what happens now. */
		passed_enter_line(cloud, passed);
		cloud_advance_link(cloud, now);
	}
	if (likely(!cloud->link.classes))
		enter_queue(cloud, &cloud->link.queue, mbuf, passed);
	else
		enter_class(cloud, mbuf, passed);
}

/* Whether nobody but the shaper has to know of a packet that need not wait: then those of a burst
 * that need not go on together. */
static bool link_is_open(const struct cloud *cloud)
{
	const struct link *link = &cloud->link;

	return link->plain && !link->classes && !link->queue.aqm && !cloud->watch &&
	       !cloud->witness && !cloud->line.reorders && cloud->line.back.packets.records == 0;
}

/* Whether packets of so many bytes, that come now, leave the link now: the bucket has the tokens
 * for them together. They have gone through then. */
static bool bytes_pass(struct link *link, uint64_t bytes, simtime now)
{
	if (link->busy || !link->conf.overhead.none || link->shaper.rate_bps == 0)
		return false;
	/* Each by itself is not longer than what has its whole length in work. */
	return bytes <= SHAPER_BYTES_MAX && link_passes(link, (uint32_t)bytes, now);
}

bool cloud_link_may_pass(const struct cloud *cloud)
{
	return !link_in_use(&cloud->link) ||
	       (link_is_open(cloud) && cloud->link.shaper.depth_work != 0);
}

bool cloud_passes_link(struct cloud *cloud, uint64_t bytes, simtime now)
{
	if (unlikely(!link_is_open(cloud)))
		return false;
	cloud_advance_link(cloud, now);
	return bytes_pass(&cloud->link, bytes, now);
}

/* The same of a burst, if it comes at one instant. */
static bool passes_together(struct link *link, struct rte_mbuf *const *mbufs, uint16_t n)
{
	simtime now = packet_of(mbufs[0])->t_ns;
	uint64_t bytes = 0;

	/* They come in order. */
	if (link->busy || packet_of(mbufs[n - 1])->t_ns != now)
		return false;
	for (uint16_t i = 0; i < n; i++)
		bytes += packet_of(mbufs[i])->wire_bytes;
	return bytes_pass(link, bytes, now);
}

/* The first packets, as far as they need not wait, or have left when the next one comes, enter the
 * line, behind those that have passed. Returns how many. */
static uint16_t pass_link(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n,
                          struct passed *before)
{
	simtime leaves[BURST_ROOM];
	bool waited = false;
	uint16_t passed = 0;

	cloud_advance_link(cloud, packet_of(mbufs[0])->t_ns);
	if (likely(passes_together(&cloud->link, mbufs, n)))
		passed = n;
	while (passed < n) {
		const struct packet *packet = packet_of(mbufs[passed]);
		simtime now = packet->t_ns;

		leaves[passed] = now;
		if (!link_passes(&cloud->link, packet->wire_bytes, now)) {
			simtime next = passed + 1 < n ? packet_of(mbufs[passed + 1])->t_ns : now;

			if (next == now || unlikely(cloud->compensates_latency) ||
			    !link_serves(&cloud->link, packet->wire_bytes, next, &leaves[passed]))
				break;
			waited = true;
		}
		passed++;
	}
	if (passed > 0) {
		passed_enter_line(cloud, before);
		cloud_enter_line(cloud, mbufs, passed, waited ? leaves : NULL);
	}
	return passed;
}

/* The first packets, as far as they go the same way. Returns how many. */
static uint16_t group_link(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n,
                           struct passed *passed, bool *refused)
{
	uint16_t grouped;

	if (link_busy(&cloud->link))
		return cloud_group_waits(cloud, mbufs, n, refused);
	grouped = cloud_group_passes(cloud, mbufs, n, refused);
	memcpy(&passed->mbufs[passed->n], mbufs, grouped * sizeof(*mbufs));
	passed->n = (uint16_t)(passed->n + grouped);
	return grouped;
}

void cloud_meet_link(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n)
{
	bool open = link_is_open(cloud), refused = false;
	struct passed passed;

	passed.n = 0;
	for (uint16_t i = 0; i < n; i++) {
		if (likely(open))
			i += pass_link(cloud, &mbufs[i], n - i, &passed);
		if (n - i > 1 && !refused)
			i += group_link(cloud, &mbufs[i], n - i, &passed, &refused);
		if (i < n)
			enter_link(cloud, mbufs[i], &passed);
	}
	passed_enter_line(cloud, &passed);
}
