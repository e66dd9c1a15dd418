/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real losses of a flight (TAPE_UNSENT), of all workers.
 *
 * They are not in the rings (flight_ring.h). A ring begins with a snapshot of its worker's engine,
 * but the worker that sends a packet need not be the one whose engine the packet has left: in a
 * pipeline it has no engine. So these losses reach back to the earliest snapshot of any ring.
 *
 * Thread: as flight_ring.h.
 */
#ifndef WEIR_FLIGHT_LOSSES_H
#define WEIR_FLIGHT_LOSSES_H

#include <stdbool.h>

#include "record/tape_entry.h"

struct flight_loss {
	simtime due_ns;
	uint32_t bytes, digest; /* on the wire; digest_departure() */
	uint16_t port, worker;
};

struct flight_losses {
	struct flight_loss *list;
	uint64_t n, room, most; /* entries */
	simtime latest_ns;      /* the latest due time */
};

/* Sets up an empty list that takes at most `bytes_max`. */
void flight_losses_make(struct flight_losses *losses, uint64_t bytes_max);
void flight_losses_free(struct flight_losses *losses);
/* Adds a loss. If the list is full, it first removes packets that were due at `from_ns` or earlier,
 * but not those of the last second: the tape of the engine may be behind. Returns false if that
 * makes too little room: then the list is incomplete. */
bool flight_losses_put(struct flight_losses *losses, uint32_t worker,
                       const struct tape_entry *entry, simtime from_ns);
void flight_losses_clear(struct flight_losses *losses);
/* Copies the losses of packets that were due after `from_ns`. Returns 0 or -ENOMEM. Ownership:
 * flight_losses_free frees the copy. */
int flight_losses_copy(const struct flight_losses *losses, simtime from_ns,
                       struct flight_losses *copy);
/* Returns a loss as the entry that was put. Its `t_ns` is 0: the order of losses among other
 * entries has no meaning. */
struct tape_entry flight_loss_entry(const struct flight_loss *loss);

#endif
