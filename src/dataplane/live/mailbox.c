/* SPDX-License-Identifier: BSD-3-Clause */
#include "live/mailbox.h"

#include <errno.h>
#include <time.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "machine/clock.h"

#define LOOK_NS (20 * SIMTIME_US)

int mailbox_make(struct mailbox *mailbox, const char *name)
{
	mailbox->bell = NULL;
	mailbox->ring = rte_ring_create(name, MAILBOX_ROOM, (int)rte_socket_id(),
	                                RING_F_SP_ENQ | RING_F_SC_DEQ);
	return mailbox->ring ? 0 : -rte_errno;
}

void mailbox_free(struct mailbox *mailbox)
{
	rte_ring_free(mailbox->ring);
	mailbox->ring = NULL;
}

int mailbox_post(struct mailbox *mailbox, struct message *message)
{
	int rc;

	message->done = 0;
	rc = rte_ring_sp_enqueue(mailbox->ring, message);
	if (mailbox->bell)
		bell_ring(mailbox->bell);
	return rc;
}

bool message_wait(const struct message *message, uint64_t timeout_ns)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	uint64_t end_ns = timeout_ns > 0 ? clock_machine_ns() + timeout_ns : 0;

	while (!__atomic_load_n(&message->done, __ATOMIC_ACQUIRE)) {
		if (timeout_ns == 0 || clock_machine_ns() >= end_ns)
			return __atomic_load_n(&message->done, __ATOMIC_ACQUIRE);
		nanosleep(&pause, NULL);
	}
	return true;
}
