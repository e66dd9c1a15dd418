/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From control to a worker: messages, taken between two bursts, in order, and acknowledged.
 *
 * Ownership: a message, and what it carries, belongs to the sender; the worker only reads it, and
 * does not touch it after message_done().
 * Thread: post and wait: control. Take and done: the worker.
 */
#ifndef WEIR_MAILBOX_H
#define WEIR_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>

#include "machine/ring_look.h"
#include "simtime.h"

#define MAILBOX_ROOM 8 /* a power of two; holds one message less */

struct change;
struct insertion;
struct tap_set;

struct message {
	enum { MESSAGE_CHANGE, MESSAGE_CLEAR, MESSAGE_INSERTION, MESSAGE_TAPS } kind;
	struct change *change;             /* MESSAGE_CHANGE */
	uint64_t number;                   /* likewise: from 1, of this run */
	const struct insertion *insertion; /* MESSAGE_INSERTION */
	const struct tap_set *taps;        /* MESSAGE_TAPS */
	uint32_t done;
};

struct mailbox {
	struct rte_ring *ring;
};

/* `name` is unique in the process. 0 or -errno. */
int mailbox_make(struct mailbox *mailbox, const char *name);
void mailbox_free(struct mailbox *mailbox);

/* 0, or -ENOBUFS: MAILBOX_ROOM messages lie there, none of them taken. */
int mailbox_post(struct mailbox *mailbox, struct message *message);
/* True when the worker has done the message, false when `timeout_ns` have passed. */
bool message_wait(const struct message *message, uint64_t timeout_ns);

/* NULL: none. Costs a comparison. */
static inline struct message *mailbox_take(struct mailbox *mailbox)
{
	void *message;

	if (likely(ring_is_empty(mailbox->ring)))
		return NULL;
	return rte_ring_sc_dequeue(mailbox->ring, &message) == 0 ? message : NULL;
}

static inline void message_done(struct message *message)
{
	__atomic_store_n(&message->done, 1, __ATOMIC_RELEASE);
}

#endif
