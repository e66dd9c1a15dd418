/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages from control to a worker, which takes them between two bursts, in order, and
 * acknowledges each.
 *
 * Ownership: a message, and what it carries, belongs to the sender. The worker only reads it, and
 * does not touch it after message_done().
 * Thread: post and wait: control. Take and done: the worker.
 */
#ifndef WEIR_MAILBOX_H
#define WEIR_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>

#include "machine/bell.h"
#include "simtime.h"

#define MAILBOX_ROOM 8 /* a power of two; holds one message less */

struct change;
struct insertion;
struct tap_set;

struct message {
	enum { MESSAGE_CHANGE, MESSAGE_CLEAR, MESSAGE_INSERTION, MESSAGE_TAPS } kind;
	struct change *change;             /* MESSAGE_CHANGE */
	uint64_t number;                   /* MESSAGE_CHANGE: its ordinal in this run, from 1 */
	const struct insertion *insertion; /* MESSAGE_INSERTION */
	const struct tap_set *taps;        /* MESSAGE_TAPS */
	uint32_t done;
};

struct mailbox {
	struct rte_ring *ring;
	struct bell *bell; /* rung by a post; or NULL */
};

/* Returns 0 or -errno. `name` is unique in the process. */
int mailbox_make(struct mailbox *mailbox, const char *name);
void mailbox_free(struct mailbox *mailbox);

/* Returns 0, or -ENOBUFS if MAILBOX_ROOM - 1 messages wait in the mailbox. */
int mailbox_post(struct mailbox *mailbox, struct message *message);
/* Returns true when the worker has done the message, false if `timeout_ns` have passed before
 * that. */
bool message_wait(const struct message *message, uint64_t timeout_ns);

/* Returns NULL if there is no message, which costs one comparison. */
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
