/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link: the bottleneck of a cloud. A queue, and a shaper that says when its head may leave
 * (rate.h has the model). What leaves enters the line at that instant.
 *
 * The queue is FIFO, drop tail, limited in bytes, packets, or time. What the leaky bucket is
 * sending is not in the queue any more, as in a router whose transmit register has taken it; it is
 * held nevertheless. Events of the link happen before an arrival at the same instant.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_LINK_H
#define WEIR_LINK_H

#include "queue.h"
#include "shaper.h"

struct link_conf {
	uint64_t rate_bps; /* 0: no link: what is queued leaves at once */
	int64_t depth_work;
	struct limit limit;
};

struct link {
	struct queue queue;
	struct shaper shaper;
	struct link_conf conf;
	simtime departure; /* of the head; SIMTIME_NEVER: empty */
};

static inline bool link_in_use(const struct link *link)
{
	return link->shaper.rate_bps != 0 || link->queue.log.records != 0;
}

/* What waits, without what is being sent. */
static inline uint64_t link_queue_packets(const struct link *link)
{
	return queue_packets(&link->queue);
}

static inline uint64_t link_queue_bytes(const struct link *link)
{
	return queue_bytes(&link->queue);
}

/* Whether a packet of this length finds room now. */
bool link_has_room(const struct link *link, uint32_t wire_bytes);

/* The new rate, depth and limit; what is queued, and the rest of what is being sent, goes on at the
 * new rate from `now` on. */
void link_configure(struct link *link, const struct link_conf *conf, simtime now);

/* Room for a packet that comes; the caller fills it in, then calls link_arrived. NULL: no memory. */
struct held *link_append(struct link *link, struct arena *arena, uint32_t stored_bytes);
/* It is in the queue. True: the link was free, and is to take the head now (link_take). */
bool link_arrived(struct link *link, const struct held *held, simtime now);

/* The head has left, at link->departure; the link is free, and is to take the next (link_take). */
void link_depart(struct link *link, struct arena *arena);

/* The link is free, and takes the head, if there is one. */
void link_take(struct link *link);

#endif
