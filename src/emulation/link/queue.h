/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of a link: packets in the order in which they came, a limit, and perhaps an active queue
 * management (aqm.h).
 *
 * The head that the link has taken is still held by its queue until it has left, but may no
 * longer count as *waiting* (with a leaky bucket). It is in the log, at its front; of a queue that
 * drops its head it is in the link's hand instead (link.h), so that the oldest that waits is always
 * at the front. A management with bands has what waits in logs of its own (aqm.h). Lengths are
 * those that count on the link (overhead.h).
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_QUEUE_H
#define WEIR_QUEUE_H

#include "account/counters.h"
#include "holding/log.h"
#include "scenario/field.h"

struct aqm;

struct queue {
	struct log log;
	uint64_t held_packets, held_bytes; /* with the one that the link has taken */
	struct limit limit;
	struct aqm *aqm; /* NULL: nothing but the limit */
	bool drop_head;  /* when it is full the oldest goes, and not the one that comes */
	/* Of the head that the link has taken: what counts as being sent, and not as waiting. */
	uint32_t sending, sending_bytes;
	struct queue_counters *counters; /* of its class; NULL: the link has none */
};

/* What waits, without what is being sent. */
static inline uint64_t queue_packets(const struct queue *queue)
{
	return queue->held_packets - queue->sending;
}

static inline uint64_t queue_bytes(const struct queue *queue)
{
	return queue->held_bytes - queue->sending_bytes;
}

/* Compares packets and bytes with a limit: negative below it, 0 at it, positive above. A limit in
 * time is compared with what the rate takes for the bytes. Without a limit they are below. */
int queue_compare(const struct limit *limit, uint64_t rate_bps, uint64_t packets, uint64_t bytes);
/* Whether a packet of this length finds room now, at this rate. */
bool queue_has_room_slow(const struct queue *queue, uint64_t rate_bps, uint32_t length);
static inline bool queue_has_room(const struct queue *queue, uint64_t rate_bps, uint32_t length)
{
	if (__builtin_expect(queue->limit.unit == LIMIT_BYTES, 1))
		return queue_bytes(queue) + length <= queue->limit.value;
	return queue_has_room_slow(queue, rate_bps, length);
}
/* Whether it would, if nothing waited. */
bool queue_may_have_room(const struct queue *queue, uint64_t rate_bps, uint32_t length);

/* Its logs, one behind the other: its own, and those of its management's bands (aqm.h). NULL: there
 * are no more. */
struct log *queue_log(const struct queue *queue, uint32_t i);
/* What its management's bands have goes into its own log, behind what is there. */
void queue_gather(struct queue *queue, struct arena *arena);

/* The packet at the front of the log is gone. */
static inline void queue_pop(struct queue *queue, struct arena *arena, uint32_t length)
{
	queue->held_packets--;
	queue->held_bytes -= length;
	log_pop(&queue->log, arena);
}

#endif
