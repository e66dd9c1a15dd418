/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link: the bottleneck of a cloud. A queue, or classes of which each has one (class.h), a
 * shaper that says when the head may leave (rate.h has the model), and perhaps slots in which it
 * does (slots.h). What leaves enters the line at that instant.
 *
 * The link has one packet in its hand at most: the *head*, which it takes when the one before has
 * left, or when it comes and there is none. What the leaky bucket is sending does not count as
 * waiting, as in a router whose transmit register has taken it; its record stays in the log. With a
 * token bucket, or slots, the head waits until it leaves. Events of the link happen before an
 * arrival at the same instant.
 *
 * In place of the rate there may be opportunities (opportunities.h): the head waits for the one
 * that takes its last byte, and then for its slot, if there are slots. A link may be stopped: then
 * the head's departure is unknown, and the bytes of it that were sent stay counted. A link that is
 * not stopped again, or whose opportunities have ended, keeps what it has.
 *
 * What conforms to a token bucket and finds a plain link idle leaves at the instant when it comes.
 * The cloud takes it straight on to the line: it is never in the queue, unless the link has classes
 * or a management that acts at the head or has bands.
 *
 * Lengths in bytes, of packets and of what waits, are those that count on the link (overhead.h).
 * For an opportunity a packet without overhead counts as mahimahi counts it, with overhead as that
 * says.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_LINK_H
#define WEIR_LINK_H

#include "link/opportunities.h"
#include "link/overhead.h"
#include "link/queue.h"
#include "link/shaper.h"
#include "link/slots.h"

struct link_conf {
	uint64_t rate_bps; /* 0: what is queued leaves at once, or with its slot */
	int64_t depth_work;
	struct limit limit;
	struct overhead overhead;
	bool drop_head;
	/* nothing leaves; rate_bps, which is not 0, is what the limit in time means */
	bool stopped;
	struct slots_rule slots;
	const struct opportunities
	        *opportunities; /* instead of the rate, which is their mean; or NULL */
	simtime opportunities_from;
};

struct classes;

struct link {
	/* what every packet touches, if there is a link or not, comes first, in one cache line */
	bool busy;               /* it has a head, and with it anything at all */
	bool slotted;            /* the head has got its slot */
	bool plain;              /* neither slots, nor opportunities, nor stopped */
	simtime departure;       /* of the head; SIMTIME_NEVER: none, or nobody knows yet */
	simtime ready;           /* when the shaper is through with the head */
	struct classes *classes; /* or NULL */
	struct shaper shaper;
	struct queue *from; /* whose head the link has taken last */
	struct queue queue; /* without classes */
	struct link_conf conf;
	struct log taken; /* the head, if its queue drops its head; else empty */
	struct slots slots;
	struct opportunity_cursor cursor;
};

void link_init(struct link *link);

static inline bool link_in_use(const struct link *link)
{
	return link->shaper.rate_bps != 0 || link->busy || !link->plain;
}

/* Of all its queues: what is held, and what waits. */
uint64_t link_held_packets(const struct link *link);
uint64_t link_queue_packets_of_all(const struct link *link);
uint64_t link_queue_bytes(const struct link *link);
static inline uint64_t link_queue_packets(const struct link *link)
{
	return __builtin_expect(!link->classes, 1) ? queue_packets(&link->queue)
	                                           : link_queue_packets_of_all(link);
}

/* The head; only if there is one. */
static inline struct held *link_head(const struct link *link)
{
	return log_front(__builtin_expect(link->taken.records != 0, 0) ? &link->taken
	                                                               : &link->from->log);
}

static inline uint32_t link_length(const struct link *link, uint32_t wire_bytes)
{
	return overhead_length(&link->conf.overhead, wire_bytes);
}

/* Whether others are likely to leave behind the head by `until`: the queue has some, and there is
 * as much time as the head took. A guess of which way is cheaper; both give the same. */
static inline bool link_may_run(const struct link *link, simtime until)
{
	return link->queue.log.records > 1 &&
	       until - link->departure >= link->departure - link->shaper.at;
}

/* Whether a packet of this length on the wire finds room now. What finds the link idle is sent, not
 * queued. */
static inline bool link_has_room(const struct link *link, const struct queue *queue,
                                 uint32_t wire_bytes)
{
	return !link->busy ||
	       queue_has_room(queue, link->shaper.rate_bps, link_length(link, wire_bytes));
}

/* Another configuration; what is queued, and the rest of what is being sent, goes on at the new
 * rate from `now` on; also from a rate to opportunities, and back. */
void link_configure(struct link *link, const struct link_conf *conf, simtime now);

/* The link had nothing to send until now. */
void link_idle_until(struct link *link, simtime now);

/* The packet that was appended to this queue's log has come. True: the link is free, and is to take
 * a head now. */
static inline bool link_arrived(struct link *link, struct queue *queue, const struct held *held,
                                simtime now)
{
	queue->held_packets++;
	queue->held_bytes += link_length(link, held->wire_bytes);
	if (link->busy)
		return false;
	link_idle_until(link, now);
	return true;
}

/* What was the head is in the link's hand no more. */
static inline void link_let_go(struct link *link, struct queue *queue)
{
	link->busy = false;
	link->slotted = false;
	link->departure = SIMTIME_NEVER;
	queue->sending = 0;
	queue->sending_bytes = 0;
}

/* The slow paths of link_take and link_depart. */
void link_take_slow(struct link *link, struct queue *queue, struct arena *arena);
void link_depart_slow(struct link *link, struct arena *arena);

/* The link is free, and takes the front of this queue; NULL: there is nothing. Here the common
 * case: a plain link, and the head stays in its queue. */
static inline void link_take(struct link *link, struct queue *queue, struct arena *arena)
{
	uint32_t length;

	if (!queue)
		return;
	if (__builtin_expect(!link->plain || queue->drop_head, 0)) {
		link_take_slow(link, queue, arena);
		return;
	}
	length = link_length(link, log_front(&queue->log)->wire_bytes);
	link->from = queue;
	link->busy = true;
	link->departure = shaper_departure(&link->shaper, length);
	link->ready = link->departure;
	queue->sending = link->shaper.depth_work == 0;
	queue->sending_bytes = queue->sending ? length : 0;
}

/* The head has left, at link->departure; the link is free. */
static inline void link_depart(struct link *link, struct arena *arena)
{
	struct queue *queue = link->from;
	uint32_t length;

	if (__builtin_expect(!link->plain || link->taken.records != 0, 0)) {
		link_depart_slow(link, arena);
		return;
	}
	length = link_length(link, log_front(&queue->log)->wire_bytes);
	shaper_depart(&link->shaper, link->ready, length);
	link_let_go(link, queue);
	queue_pop(queue, arena, length);
}

/* Whether it has no packet, and none that it sent has still to be paid for. */
bool link_at_rest(struct link *link, simtime now);

/* Its i-th queue: its own, or those of its classes. NULL: it has no more. */
struct queue *link_queue_at(const struct link *link, uint32_t i);

/* The oldest packet of the queue that waits and is not in the link's hand, or NULL. */
struct held *link_oldest(const struct link *link, const struct queue *queue);

struct holder;
struct snapshot;
/* What it and its queues remember and hold; `cloud`: its index (snapshot.h). */
void link_snapshot(struct link *link, struct holder *holder, uint32_t cloud,
                   struct snapshot *snapshot);

/* Drops everything, without telling; returns how many packets that were. */
uint64_t link_clear(struct link *link, struct holder *holder);

#endif
