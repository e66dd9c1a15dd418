/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From control to a worker: letters, taken between two bursts, in order, and acknowledged.
 *
 * Ownership: a letter, and what it carries, belongs to the sender; the worker only reads it, and
 * does not touch it after letter_done().
 * Thread: post and wait: control. Take and done: the worker.
 */
#ifndef WEIR_MAILBOX_H
#define WEIR_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>

#include "machine/ring_look.h"
#include "simtime.h"

#define MAILBOX_ROOM 8 /* a power of two; holds one letter less */

struct change;
struct insertion;

struct letter {
	enum { LETTER_CHANGE, LETTER_CLEAR, LETTER_INSERTION } kind;
	struct change *change;             /* LETTER_CHANGE */
	const struct insertion *insertion; /* LETTER_INSERTION */
	uint32_t done;
};

struct mailbox {
	struct rte_ring *ring;
};

/* `name` is unique in the process. 0 or -errno. */
int mailbox_make(struct mailbox *mailbox, const char *name);
void mailbox_free(struct mailbox *mailbox);

/* 0, or -ENOBUFS: MAILBOX_ROOM letters lie there, none of them taken. */
int mailbox_post(struct mailbox *mailbox, struct letter *letter);
/* True when the worker has done what the letter says, false when `timeout_ns` have passed. */
bool letter_wait(const struct letter *letter, uint64_t timeout_ns);

/* NULL: none. Costs a comparison. */
static inline struct letter *mailbox_take(struct mailbox *mailbox)
{
	void *letter;

	if (likely(ring_is_empty(mailbox->ring)))
		return NULL;
	return rte_ring_sc_dequeue(mailbox->ring, &letter) == 0 ? letter : NULL;
}

static inline void letter_done(struct letter *letter)
{
	__atomic_store_n(&letter->done, 1, __ATOMIC_RELEASE);
}

#endif
