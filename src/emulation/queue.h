/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of a link: packets in the order in which they came, a limit, and perhaps an active queue
 * management (aqm.h).
 *
 * What is being sent is still in the log, at its head, until it has left; it *waits* no more.
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_QUEUE_H
#define WEIR_QUEUE_H

#include "field.h"
#include "log.h"

struct aqm;

struct queue {
	struct log log;
	uint64_t held_bytes; /* of all in `log`, as on the wire */
	struct limit limit;
	struct aqm *aqm; /* NULL: nothing but the limit */
	/* The packet that the link has taken is the head of the log; of these two, what counts as
	 * being sent, and not as waiting. */
	uint32_t sending, sending_bytes;
};

/* What waits, without what is being sent. */
static inline uint64_t queue_packets(const struct queue *queue)
{
	return queue->log.records - queue->sending;
}

static inline uint64_t queue_bytes(const struct queue *queue)
{
	return queue->held_bytes - queue->sending_bytes;
}

/* Whether a packet of this length finds room now, at this rate. */
bool queue_has_room(const struct queue *queue, uint64_t rate_bps, uint32_t wire_bytes);

/* The head is gone. */
static inline void queue_pop(struct queue *queue, struct arena *arena)
{
	queue->held_bytes -= log_front(&queue->log)->wire_bytes;
	log_pop(&queue->log, arena);
}

#endif
