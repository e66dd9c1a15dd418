/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of a link: packets in order of arrival, a limit, and optionally an active queue
 * management (aqm.h).
 *
 * The head that the link has taken is held by its queue until it has left, but with a leaky bucket
 * it no longer counts as *waiting*. It is at the front of the log. If the queue drops its head, the
 * link holds the head apart (link.h), so that the oldest waiting packet is always at the front of
 * the log. A management with bands keeps the waiting packets in logs of its own (aqm.h). Lengths
 * are those that count on the link (overhead.h).
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
bool queue_has_room_slow(const struct queue *queue, uint64_t rate_bps, uint32_t length);
static inline bool queue_has_room(const struct queue *queue, uint64_t rate_bps, uint32_t length)
{
	if (__builtin_expect(queue->limit.unit == LIMIT_BYTES, 1))
		return queue_bytes(queue) + length <= queue->limit.value;
	return queue_has_room_slow(queue, rate_bps, length);
}
/* Returns true if it would have room if nothing waited. */
bool queue_may_have_room(const struct queue *queue, uint64_t rate_bps, uint32_t length);

/* Returns log i of the queue: 0 is its own, the others are the bands of its management (aqm.h).
 * Returns NULL if there are no more. */
struct log *queue_log(const struct queue *queue, uint32_t i);
/* Moves all packets from the bands of the management to the end of the queue's own log. */
void queue_gather(struct queue *queue, struct arena *arena);

/* Removes the packet at the front of the log. */
static inline void queue_pop(struct queue *queue, struct arena *arena, uint32_t length)
{
	queue->held_packets--;
	queue->held_bytes -= length;
	log_pop(&queue->log, arena);
}

#endif
