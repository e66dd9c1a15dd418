/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link: the bottleneck of a cloud. It has one queue, or several classes with a queue each
 * (class.h); a shaper that computes when the head may leave (rate.h has the model); and optionally
 * slots in which the head leaves (slots.h). A packet that leaves the link enters the line at that
 * instant.
 *
 * The link takes one packet at a time, the *head*: when the packet before it has left or, if there
 * is none, on arrival. A packet that the leaky bucket is sending does not count as waiting, as in a
 * router whose transmit register has taken it; its record stays in the log. With a token bucket,
 * slots or opportunities, the head counts as waiting until it leaves. Events of the link are
 * executed before an arrival at the same instant.
 *
 * In place of the rate there may be opportunities (opportunities.h): the head waits for the
 * opportunity that takes its last byte and then, if there are slots, for its slot. A link may be
 * stopped: then the departure of the head is unknown, and the bytes of it that were sent remain
 * counted. A link that is never resumed, or whose opportunities have ended, keeps its packets.
 *
 * A packet that conforms to a token bucket and finds a plain link idle leaves at the instant of its
 * arrival. The cloud puts it directly on the line. It never enters the queue, unless the link has
 * classes, or a management that acts at the head or has bands.
 *
 * The lengths of packets and queues, in bytes, are those that count on the link (overhead.h). If
 * no overhead is given, a packet takes as much of an opportunity as in mahimahi, else its length
 * with overhead.
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
	uint64_t rate_bps; /* 0: none; a queued packet leaves at once, or with its slot */
	int64_t depth_work;
	struct limit limit;
	struct overhead overhead;
	bool drop_head;
	/* nothing leaves; rate_bps is not 0 then, and converts a limit in time */
	bool stopped;
	struct slots_rule slots;
	const struct opportunities
	        *opportunities; /* in place of the rate, which is their mean; or NULL */
	simtime opportunities_from;
};

struct classes;

struct link {
	/* The fields that every packet reads, even if there is no link, come first, in one cache
	 * line. */
	bool busy;               /* it has a head; if not, it holds no packet */
	bool slotted;            /* the head has been given its slot */
	bool plain;              /* no slots, no opportunities, not stopped */
	simtime departure;       /* of the head; SIMTIME_NEVER: no head, or not known yet */
	simtime ready;           /* when the shaper is done with the head */
	struct classes *classes; /* or NULL */
	struct shaper shaper;
	struct queue *from; /* the queue from which the link took its latest head */
	struct queue queue; /* used if there are no classes */
	struct link_conf conf;
	struct log taken; /* the head, if packets behind it were pushed out; else empty */
	struct slots slots;
	struct opportunity_cursor cursor;
};

void link_init(struct link *link);

static inline bool link_in_use(const struct link *link)
{
	return link->shaper.rate_bps != 0 || link->busy || !link->plain;
}

/* Sums over all queues of the link: packets held; packets and bytes that wait. */
uint64_t link_held_packets(const struct link *link);
uint64_t link_queue_packets_of_all(const struct link *link);
uint64_t link_queue_bytes(const struct link *link);
static inline uint64_t link_queue_packets(const struct link *link)
{
	return __builtin_expect(!link->classes, 1) ? queue_packets(&link->queue)
	                                           : link_queue_packets_of_all(link);
}

/* Returns the head. The link must have one. */
static inline struct held *link_head(const struct link *link)
{
	return log_front(__builtin_expect(link->taken.records != 0, 0) ? &link->taken
	                                                               : &link->from->log);
}

static inline uint32_t link_length(const struct link *link, uint32_t wire_bytes)
{
	return overhead_length(&link->conf.overhead, wire_bytes);
}

/* Returns true if more packets are likely to leave right behind the head by `until`: the queue has
 * some, and the time left is at least what the head takes. The result only chooses the cheaper of
 * two ways with the same outcome. */
static inline bool link_run_pays(const struct link *link, simtime until)
{
	return link->queue.log.records > 1 &&
	       until - link->departure >= link->departure - link->shaper.at;
}

/* Returns true if a packet of this length on the wire has room now. A packet that finds the link
 * idle is sent, not queued. */
static inline bool link_has_room(const struct link *link, const struct queue *queue,
                                 uint32_t wire_bytes)
{
	return !link->busy ||
	       queue_has_room(queue, link->shaper.rate_bps, link_length(link, wire_bytes));
}

/* Applies another configuration, also from a rate to opportunities and back. Queued packets, and
 * the rest of the packet that is being sent, continue at the new rate from `now` on. */
void link_configure(struct link *link, const struct link_conf *conf, simtime now);

/* Advances the shaper of a link that had nothing to send until `now`. */
void link_idle_until(struct link *link, simtime now);

/* Counts a packet that has arrived and was appended to the log of this queue. Returns true if the
 * link was idle: the caller must then let it take a head. */
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

/* Resets the state of the head: the link has none any more. */
static inline void link_let_go(struct link *link, struct queue *queue)
{
	link->busy = false;
	link->slotted = false;
	link->departure = SIMTIME_NEVER;
	queue->sending = 0;
	queue->sending_bytes = 0;
}

/* Slow paths of link_take and link_depart. */
void link_take_slow(struct link *link, struct queue *queue);
void link_depart_slow(struct link *link, struct arena *arena);

/* Takes the front of this queue as the head of an idle link; NULL: there is no packet. The common
 * case, a plain link, is inline. */
static inline void link_take(struct link *link, struct queue *queue)
{
	uint32_t length;

	if (!queue)
		return;
	if (__builtin_expect(!link->plain, 0)) {
		link_take_slow(link, queue);
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

/* Removes the head, which has left at link->departure. The link is idle then. */
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

/* Returns true if the link has no packet, and no debt for packets that it has sent. */
bool link_at_rest(struct link *link, simtime now);

/* Returns queue i of the link: its own queue, or that of class i. Returns NULL if there are no
 * more. */
struct queue *link_queue_at(const struct link *link, uint32_t i);

/* Finds the oldest packet of the queue that waits behind the head, and moves it to the front of the
 * log: a head that lies there moves to `taken`. *oldest is NULL if none waits. Returns false if
 * there is no memory for the head. */
bool link_oldest(struct link *link, const struct queue *queue, struct arena *arena,
                 struct held **oldest);

struct holder;
struct snapshot;
/* Writes or reads the state of the link and its queues, with their packets (snapshot.h). */
void link_snapshot(struct link *link, struct holder *holder, struct snapshot *snapshot);

/* Drops all packets without reporting their fates; returns their number. */
uint64_t link_clear(struct link *link, struct holder *holder);

#endif
