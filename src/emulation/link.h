/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link: the bottleneck of a cloud. A queue, and a shaper that says when its head may leave
 * (rate.h has the model). What leaves enters the line at that instant.
 *
 * The queue is FIFO, drop tail, limited in bytes, packets, or time. What the leaky bucket is
 * sending is not in the queue any more, as in a router whose transmit register has taken it; it is
 * held nevertheless. In place of a rate there may be opportunities (opportunities.h): what waits for
 * one is in the queue. Events of the link happen before an arrival at the same instant.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_LINK_H
#define WEIR_LINK_H

#include "field.h"
#include "log.h"
#include "opportunities.h"
#include "shaper.h"

struct link_conf {
	uint64_t rate_bps; /* 0: no link: what is queued leaves at once */
	int64_t depth_work;
	struct limit limit;
	bool stopped; /* nothing leaves; rate_bps, which is not 0, is what the limit in time means */
	const struct opportunities
	        *opportunities; /* instead of the rate, which is their mean; or NULL */
	simtime opportunities_from;
};

struct link {
	struct log queue;
	struct shaper shaper;
	struct link_conf conf;
	uint64_t held_bytes;    /* of all in `queue`, as on the wire */
	uint32_t sending_bytes; /* the head's, when it is being sent and not queued */
	bool sending;
	simtime departure; /* of the head; SIMTIME_NEVER: empty, or nobody knows yet */
	struct opportunity_cursor cursor;
};

static inline bool link_in_use(const struct link *link)
{
	return link->shaper.rate_bps != 0 || link->queue.records != 0;
}

/* What waits, without what is being sent. */
static inline uint64_t link_queue_packets(const struct link *link)
{
	return link->queue.records - link->sending;
}

static inline uint64_t link_queue_bytes(const struct link *link)
{
	return link->held_bytes - link->sending_bytes;
}

/* Whether a packet of this length finds room now. */
bool link_has_room(const struct link *link, uint32_t wire_bytes);

/* The new rate, depth and limit; what is queued, and the rest of what is being sent, goes on at the
 * new rate from `now` on; also from a rate to opportunities, and back. */
void link_configure(struct link *link, const struct link_conf *conf, simtime now);

/* Room for a packet that comes at `now`; the caller fills it in, then calls link_arrived.
 * NULL: no memory. */
struct held *link_append(struct link *link, struct arena *arena, uint32_t stored_bytes);
void link_arrived(struct link *link, const struct held *held, simtime now);

/* The head leaves, at link->departure. */
void link_depart(struct link *link, struct arena *arena);

#endif
