/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A way out of a worker, for one port: from an outlet to a transmit queue of the port, or over a
 * ring to the worker that owns such a queue.
 *
 * What the device does not take stays in the outlet, in order, and is tried again at the next poll.
 * A packet that was not taken TX_QUEUE_PATIENCE_NS after it was due is dropped and counted.
 *
 * Ownership: packets in the outlet belong to the worker until they are taken.
 * Thread: the worker's. Counters: others may read them, a moment old.
 */
#ifndef WEIR_TX_QUEUE_H
#define WEIR_TX_QUEUE_H

#include <stdint.h>

#include <rte_ring.h>

#include "account/witness.h"
#include "engine/engine.h"
#include "account/histogram.h"
#include "machine/clock.h"
#include "port/port.h"
#include "port/port_time.h"
#include "port/wire.h"

#define TX_QUEUE_PATIENCE_NS (100 * SIMTIME_MS)
#define TX_QUEUE_RING        1024

struct tape;

struct tx_queue {
	struct outlet *outlet;
	struct port *port;     /* or NULL: */
	struct rte_ring *ring; /* to another worker */
	uint32_t index;        /* of the port in the scenario */
	uint16_t queue;
	struct witness
	        *witness;  /* told of what is dropped here, as of a loss of the port; or NULL */
	struct tape *tape; /* likewise, for a recording; or NULL */
	struct wire
	        *wire; /* the port's, of all transmit queues of this worker; NULL: it never waits */
	uint64_t tx_packets, tx_bytes; /* taken by the device */
	uint64_t tx_full;              /* dropped: not taken in time */
	struct histogram lateness_ns;  /* handed to the device, after the due time */
	struct port_time *launch;      /* the port's: its device takes the time to send; or NULL */
	simtime launch_ns;             /* so long after the due time */
	uint64_t launch_missed;        /* handed over when that had passed */
	bool told; /* t_ns of its struct packet says when it is due: for taps of the device */
};

/* Hands over what lies in the outlet; `now` is the instant of the poll. With a clock, nothing is
 * handed over before it reads `now`, and lateness is measured to that reading, else to `now`.
 * Returns how many packets left the outlet. */
uint32_t tx_queue_send(struct tx_queue *tx_queue, const struct clock *clock, simtime now);
/* Fills the transmit queue's outlet, as far as there is room, from a ring that another worker's
 * transmit queue fills. */
uint32_t tx_queue_collect(struct tx_queue *tx_queue, struct rte_ring *from);
void tx_queue_clear(struct tx_queue *tx_queue);

static inline uint32_t tx_queue_flush(struct tx_queue *tx_queue, const struct clock *clock,
                                      simtime now)
{
	return tx_queue->outlet->n == 0 ? 0 : tx_queue_send(tx_queue, clock, now);
}

#endif
