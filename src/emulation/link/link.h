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
 * A queue has its packets in a log, in order of arrival, a limit, and optionally an active queue
 * management (aqm.h). One that drops its head needs the oldest waiting packet at the front of the
 * log: then the link holds the head apart. A management with bands keeps the waiting packets in
 * logs of its own.
 *
 * The lengths of packets and queues, in bytes, are those that count on the link (overhead.h). If
 * no overhead is given, a packet takes as much of an opportunity as in mahimahi, else its length
 * with overhead.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_LINK_H
#define WEIR_LINK_H

#include "account/counters.h"
#include "holding/log.h"
#include "link/opportunities.h"
#include "link/overhead.h"
#include "link/shaper.h"
#include "link/slots.h"
#include "scenario/field.h"

/* ---- a queue ---- */

struct aqm;

struct queue {
	struct log log;
	uint64_t held_packets, held_bytes; /* including the head that the link has taken */
	struct limit limit;
	struct aqm *aqm; /* NULL: only the limit applies */
	bool drop_head;  /* a full queue drops its oldest packet, not the arriving one */
	/* The part of the head that counts as being sent, not as waiting. */
	uint32_t sending, sending_bytes;
	struct queue_counters *counters; /* of its class; NULL: the link has no classes */
};

/* Packets and bytes that wait, without those that are being sent. */
static inline uint64_t queue_packets(const struct queue *queue)
{
	return queue->held_packets - queue->sending;
}

static inline uint64_t queue_bytes(const struct queue *queue)
{
	return queue->held_bytes - queue->sending_bytes;
}

/* Compares packets and bytes with a limit: negative below it, 0 at it, positive above. A limit in
 * time is compared with the time that the rate takes for the bytes. LIMIT_NONE: always below. */
int queue_compare(const struct limit *limit, uint64_t rate_bps, uint64_t packets, uint64_t bytes);

/* Returns true if a packet of this length has room now, at this rate. */
static inline bool queue_has_room(const struct queue *queue, uint64_t rate_bps, uint32_t length)
{
	return __builtin_expect(queue->limit.unit == LIMIT_BYTES, 1)
	               ? queue_bytes(queue) + length <= queue->limit.value
	               : queue_compare(&queue->limit, rate_bps, queue_packets(queue) + 1,
	                               queue_bytes(queue) + length) <= 0;
}

/* Returns log i of the queue: 0 is its own, the others are the bands of its management (aqm.h).
 * Returns NULL if there are no more. */
struct log *queue_log(const struct queue *queue, uint32_t i);
/* Moves all packets from the bands of the management to the end of the queue's own log. */
void queue_gather(struct queue *queue, struct arena *arena);

/* Removes the front of this log, whose packet was one of the queue. */
static inline void queue_pop(struct queue *queue, struct log *log, struct arena *arena,
                             uint32_t length)
{
	queue->held_packets--;
	queue->held_bytes -= length;
	log_pop(log, arena);
}

/* ---- the link ---- */

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
void link_idle_slow(struct link *link, simtime now);
static inline void link_idle_until(struct link *link, simtime now)
{
	if (__builtin_expect(link->plain, 1))
		shaper_idle_until(&link->shaper, now);
	else
		link_idle_slow(link, now);
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
	queue_pop(queue, &queue->log, arena, length);
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
