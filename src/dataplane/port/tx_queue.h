/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A way out of a worker, for one port: from an outlet to a transmit queue of the port, or over a
 * ring to the worker that owns such a queue.
 *
 * Packets that the device does not take stay in the outlet, in order, and are tried again at the
 * next poll. A packet that is not taken until TX_QUEUE_PATIENCE_NS after it was due, or after the
 * device began to refuse packets if that was later, is dropped and counted.
 *
 * Ownership: packets in the outlet belong to the worker until they are taken.
 *
 * Thread: the worker's. Counters: others may read them, a moment old.
 */
#ifndef WEIR_TX_QUEUE_H
#define WEIR_TX_QUEUE_H

#include <stdint.h>

#include <rte_ring.h>

#include "account/witness.h"
#include "engine/engine.h"
#include "account/histogram.h"
#include "machine/bell.h"
#include "machine/clock.h"
#include "port/port.h"
#include "port/port_time.h"
#include "port/wire.h"

#define TX_QUEUE_PATIENCE_NS (100 * SIMTIME_MS)
#define TX_QUEUE_RING        1024

struct tape;

struct tx_queue {
	struct outlet *outlet;
	struct port *port;     /* NULL: over `ring` */
	struct rte_ring *ring; /* to another worker */
	struct bell *bell;     /* of that worker; NULL: it polls */
	uint32_t index;        /* of the port in the scenario */
	uint16_t queue;
	/* gets what is dropped here as a loss of the port, and FATE_SENT if it asks for it; or
	 * NULL */
	struct witness *witness;
	struct tape *tape; /* the same for a recording; or NULL */
	struct wire
	        *wire; /* the port's, for all transmit queues of this worker; NULL: nothing waits */
	uint64_t tx_packets, tx_bytes; /* taken by the device */
	uint64_t tx_full;              /* dropped: not taken in time */
	simtime refused_ns;            /* since when some packets are refused; 0: none is */
	struct histogram lateness_ns;  /* from the due time to the hand-over */
	struct port_time *launch;      /* the port's, if its device takes a time to send; or NULL */
	simtime launch_ns;             /* from the due time to the time to send */
	uint64_t launch_missed;        /* handed over after the time to send */
	bool told; /* write the due time into t_ns of struct packet: for callbacks of the device */
};

/* Hands over what lies in the outlet; `now` is the instant of the poll. With a clock, nothing is
 * handed over before the clock reads `now`, and lateness is measured to that reading, or to a later
 * one if the port takes few frames at a time (port_sends_one); without, to `now`. Returns how many
 * packets left the outlet. */
uint32_t tx_queue_send(struct tx_queue *tx_queue, const struct clock *clock, simtime now);
/* Fills the transmit queue's outlet, as far as there is room, from a ring that another worker's
 * transmit queue fills. Returns how many packets came. */
uint32_t tx_queue_collect(struct tx_queue *tx_queue, struct rte_ring *from);
void tx_queue_clear(struct tx_queue *tx_queue);

static inline uint32_t tx_queue_flush(struct tx_queue *tx_queue, const struct clock *clock,
                                      simtime now)
{
	return tx_queue->outlet->n == 0 ? 0 : tx_queue_send(tx_queue, clock, now);
}

#endif
