/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link: the bottleneck of a cloud. A queue, or classes of which each has one (class.h), a shaper
 * that says when the head may leave (rate.h has the model), and perhaps slots in which it does
 * (slots.h). What leaves enters the line at that instant.
 *
 * The link has one packet in its hand at most: the *head*, which it takes when the one before has
 * left, or when it comes and there is none. What the leaky bucket is sending is not in the queue any
 * more, as in a router whose transmit register has taken it; it is held nevertheless. With a token
 * bucket, or slots, the head waits until it leaves. Events of the link happen before an arrival at
 * the same instant.
 *
 * Lengths in bytes, of packets and of what waits, are those that count on the link (overhead.h).
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_LINK_H
#define WEIR_LINK_H

#include "overhead.h"
#include "queue.h"
#include "shaper.h"
#include "slots.h"

struct link_conf {
	uint64_t rate_bps; /* 0: what is queued leaves at once, or with its slot */
	int64_t depth_work;
	struct limit limit;
	struct overhead overhead;
	bool drop_head;
	struct slots_rule slots;
};

struct classes;

struct link {
	struct queue queue; /* without classes */
	struct queue *from; /* whose head the link has taken last */
	struct shaper shaper;
	struct link_conf conf;
	simtime ready;           /* when the shaper is through with the head */
	simtime departure;       /* of the head; SIMTIME_NEVER: there is none */
	struct classes *classes; /* or NULL */
	struct log taken;        /* the head, if its queue drops its head; else empty */
	struct slots slots;
};

void link_init(struct link *link);

/* Whether it has a head, and with it anything at all. */
static inline bool link_busy(const struct link *link)
{
	return link->departure != SIMTIME_NEVER;
}

static inline bool link_in_use(const struct link *link)
{
	return link->shaper.rate_bps != 0 || link_busy(link) || link->conf.slots.on;
}

/* Of all its queues: what is held, and what waits. */
uint64_t link_held_packets(const struct link *link);
uint64_t link_queue_packets(const struct link *link);
uint64_t link_queue_bytes(const struct link *link);

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

/* Whether a packet of this length on the wire finds room now. What finds the link idle is sent, not
 * queued. */
static inline bool link_has_room(const struct link *link, const struct queue *queue,
                                 uint32_t wire_bytes)
{
	return !link_busy(link) ||
	       queue_has_room(queue, link->shaper.rate_bps, link_length(link, wire_bytes));
}

/* Another configuration; what is queued, and the rest of what is being sent, goes on at the new rate
 * from `now` on. */
void link_configure(struct link *link, const struct link_conf *conf, simtime now);

/* The packet that was appended to this queue's log has come. True: the link is free, and is to take
 * a head now. */
bool link_arrived(struct link *link, struct queue *queue, const struct held *held, simtime now);

/* The link is free, and takes the front of this queue; NULL: there is nothing. */
void link_take(struct link *link, struct queue *queue, struct arena *arena);

/* The head has left, at link->departure; the link is free. */
void link_depart(struct link *link, struct arena *arena);

/* The oldest packet of the queue that waits and is not in the link's hand, or NULL. */
struct held *link_oldest(const struct link *link, const struct queue *queue);

/* Drops everything, without telling; returns how many packets that were. */
struct holder;
uint64_t link_clear(struct link *link, struct holder *holder);

#endif
